from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from samples import AGENT, FEATURES, Json, loadout, socket, working

from materiac.diagnostic import Located, Severity
from materiac.pipeline import Compiled, Text, check, compile_loadout


def text(data: Any, name: str = "top.json", *, shipped: bool = False) -> Text:
    raw = data if isinstance(data, bytes) else json.dumps(data, ensure_ascii=False).encode()
    return Text(name, raw, shipped)


def rules(findings: tuple[Located, ...]) -> list[str]:
    return [part.finding.rule for part in findings]


def shown(findings: tuple[Located, ...]) -> list[str]:
    """Rule and place of each finding."""
    return [f"{part.finding.rule} {_where(part)}" for part in findings]


def _where(part: Located) -> str:
    if part.place is None:
        return "nowhere"
    source, span = part.place.source, part.place.span
    return f"{source.name} {source.text[span.start : span.end]}"


def errors(compiled: Compiled) -> list[str]:
    return [part.finding.rule for part in compiled.findings if part.finding.severity is Severity.ERROR]


@pytest.mark.parametrize("name", FEATURES)
def test_sound_files_have_no_errors(name: str) -> None:
    findings = check([text(FEATURES[name])])
    assert [p.finding.message for p in findings if p.finding.severity is Severity.ERROR] == []


BROKEN = loadout({"a": socket(edges=[{"to": "nowhere"}])})


def test_what_is_wrong_in_lower_files_is_not_reported() -> None:
    lower = {"loadouts": {"Below": BROKEN["loadouts"]["L"]}, "materia": {"Bad": {"prompt": ""}}, "x": 1}
    top = loadout({"b": socket()})
    assert check([text(lower, "lower.json"), text(top)]) == ()
    assert check([text(b"{", "lower.json"), text(top)]) == ()
    assert check([text(b"\xff", "lower.json"), text(top)]) == ()
    assert check([text([], "lower.json"), text(top)]) == ()


def test_the_materia_of_lower_files_can_be_used() -> None:
    lower = {"materia": {"Agent": AGENT}}
    top = {"loadouts": {"L": loadout({"a": socket()})["loadouts"]["L"]}}
    assert check([text(lower, "lower.json"), text(top)]) == ()
    assert rules(check([text(top)])) == ["unknown-materia"]
    assert compile_loadout([text(lower, "lower.json"), text(top)]).image is not None


def test_all_loadouts_of_the_file_are_looked_at_or_the_one_asked_for() -> None:
    two = {**BROKEN, "loadouts": {"L": BROKEN["loadouts"]["L"], "M": FEATURES["hello"]["loadouts"]["L"]}}
    assert rules(check([text(two)])) == ["unknown-target"]
    assert rules(check([text(two)], "L")) == ["unknown-target"]
    assert check([text(two)], "M") == ()


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param({"sockets": {"a": socket(edges=[{"to": "nowhere"}])}}, id="name"),
        pytest.param({"sockets": {"a": {"materia": "Agent", "edges": 5}}}, id="shape"),
        pytest.param({"sockets": {"a": {"materia": "Agent", "prompt": "p"}}}, id="early form"),
        pytest.param({"sockets": {"a": {"role": "who"}}}, id="unknown role"),
        pytest.param({"sockets": {"a": {"materia": "Bad"}}}, id="materia"),
        pytest.param({"sockets": {}}, id="empty"),
        pytest.param(7, id="no object"),
    ],
)
def test_only_the_loadout_that_runs_has_to_be_sound(fault: Any) -> None:
    good = loadout({"a": socket()}, materia={"Bad": {"prompt": 5}})
    both = {**good, "loadouts": {"good": good["loadouts"]["L"], "bad": fault}}
    done = compile_loadout([text(both)], "good")
    assert (errors(done), done.image is not None) == ([], True)
    assert errors(compile_loadout([text(both)], "bad")) != []
    assert compile_loadout([text(both)], "bad").image is None


def test_a_fault_of_the_frame_is_everybodys() -> None:
    done = compile_loadout([text({**FEATURES["hello"], "budget": {"maxTokens": 0}})])
    assert (errors(done), done.image) == (["invalid-limit"], None)


def test_a_lower_file_that_cannot_be_read_is_an_error_of_a_run() -> None:
    for raw, rule in ((b"{", "syntax"), (b"\xff", "encoding"), (b"[]", "invalid-value")):
        done = compile_loadout([text(raw, "lower.json"), text(FEATURES["hello"])])
        assert (shown(done.findings)[0].split()[:2], done.image) == ([rule, "lower.json"], None)


def test_warnings_stand_beside_an_image() -> None:
    config = copy.deepcopy(FEATURES["hello"])
    del config["loadouts"]["L"]["entry"]
    done = compile_loadout([text(config)])
    assert (rules(done.findings), done.image is not None) == (["missing-entry"], True)


@pytest.mark.parametrize(
    ("raw", "rule", "where"),
    [
        (b"[1]", "invalid-value", "[1]"),
        (b"null", "invalid-value", "null"),
        (b' "x" ', "invalid-value", '"x"'),
        (b"", "syntax", ""),
        (b'{"a"', "syntax", ""),
        (b'{"loadouts": 5}', "invalid-value", "5"),
        (b'{"bugdet": {}}', "unknown-key", '"bugdet"'),
        (b'{"a": 1, "a": 2}', "duplicate-key", '"a"'),
        (b'\xef\xbb\xbf{"bugdet": {}}', "unknown-key", '"bugdet"'),
    ],
)
def test_every_finding_has_a_place(raw: bytes, rule: str, where: str) -> None:
    findings = check([text(raw)])
    assert f"{rule} top.json {where}" in shown(findings)


def test_a_choice_that_nobody_has_has_no_place() -> None:
    assert shown(check([text(FEATURES["hello"])], "Nobody")) == ["unknown-loadout nowhere"]
    done = compile_loadout([text(FEATURES["hello"])], "Nobody")
    assert (shown(done.findings), done.image) == (["unknown-loadout nowhere"], None)


def test_a_choice_of_the_file_has_a_place() -> None:
    config = {**FEATURES["hello"], "activeLoadout": "Nobody"}
    assert shown(check([text(config)])) == ['unknown-loadout top.json "Nobody"']
    assert shown(compile_loadout([text(config)]).findings) == ['unknown-loadout top.json "Nobody"']
    assert compile_loadout([text(config)], "L").image is not None


def test_an_id_names_a_loadout_too() -> None:
    config = copy.deepcopy(FEATURES["hello"])
    config["loadouts"]["L"]["id"] = "an-id"
    done = compile_loadout([text(config)], "an-id")
    assert done.image is not None
    assert done.image.program.name == "L"


def test_what_ships_chooses_nothing() -> None:
    shipped = [text({**FEATURES["hello"], "activeLoadout": "L"}, "shipped.json", shipped=True)]
    mine = {"loadouts": {"Mine": working()["loadouts"]["L"]}, "materia": working()["materia"]}
    done = compile_loadout([*shipped, text(mine)])
    assert done.image is not None
    assert done.image.program.name == "Mine"
    assert compile_loadout([*shipped, text(mine)], "L").image is not None


def test_the_merged_data_comes_along() -> None:
    lower = {"budget": {"maxTokens": 9, "maxCostUsd": 1}}
    done = compile_loadout(
        [text(lower, "lower.json"), text({**FEATURES["hello"], "budget": {"maxTokens": 5}})]
    )
    assert done.resolved["budget"] == {"maxTokens": 5, "maxCostUsd": 1}
    assert done.image is not None
    assert (done.image.program.budget.max_tokens, done.image.program.budget.max_cost_usd) == (5, 1.0)


def _deep(levels: int) -> Json:
    value: Json = {}
    for _ in range(levels):
        value = {"a": value}
    return value


def test_params_as_deep_as_a_file_may_be() -> None:
    config = loadout({"a": {"materia": "U"}}, materia={"U": {"utility": "echo", "params": _deep(250)}})
    done = compile_loadout([text(config)])
    assert done.image is not None
    assert len(done.image.program.digest()) == 64


def test_the_same_findings_whatever_the_order_of_keys() -> None:
    sockets = {f"s{i}": socket(edges=[{"to": f"gone{i}"}, {"to": "s0"}]) for i in range(6)}
    one, other = loadout(sockets), loadout(dict(reversed(sockets.items())))
    other["loadouts"]["L"]["entry"] = "s0"
    assert sorted(p.finding.message for p in check([text(one)])) == sorted(
        p.finding.message for p in check([text(other)])
    )
