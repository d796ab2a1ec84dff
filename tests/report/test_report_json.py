from __future__ import annotations

import json

from materiac.diagnostic import Finding, Located, Place, Severity
from materiac.report.as_json import render
from materiac.source import Source, Span

SOURCE = Source("é.json", '{\r\n "日本\U0001f469": "x"\r\n}')


def test_report() -> None:
    finding = Finding("some-rule", Severity.WARNING, "a 'é'\n", Span(9, 12), help="h")
    found = Located(finding, Place(SOURCE, Span(11, 14)), ((Place(SOURCE, Span(0, 17)), "in here"),))
    assert json.loads(render([found])) == {
        "version": 1,
        "findings": [
            {
                "rule": "some-rule",
                "severity": "warning",
                "message": "a 'é'\n",
                "file": "é.json",
                "line": 2,
                "column": 9,
                "endLine": 2,
                "endColumn": 12,
                "related": [
                    {
                        "file": "é.json",
                        "line": 1,
                        "column": 1,
                        "endLine": 3,
                        "endColumn": 2,
                        "message": "in here",
                    }
                ],
                "help": "h",
            }
        ],
        "summary": {"errors": 0, "warnings": 1, "infos": 0, "suppressed": 0},
    }


def test_empty_report() -> None:
    assert json.loads(render([])) == {
        "version": 1,
        "findings": [],
        "summary": {"errors": 0, "warnings": 0, "infos": 0, "suppressed": 0},
    }


def test_finding_without_a_place() -> None:
    [shown] = json.loads(render([Located(Finding("r", Severity.ERROR, "m", ()), None)]))["findings"]
    assert shown == {
        "rule": "r",
        "severity": "error",
        "message": "m",
        "file": None,
        "line": None,
        "column": None,
        "endLine": None,
        "endColumn": None,
        "related": [],
        "help": None,
    }


def test_summary_counts_each_severity() -> None:
    severities = [Severity.ERROR, Severity.INFO, Severity.ERROR, Severity.WARNING]
    report = json.loads(render([Located(Finding("r", severity, "m", ()), None) for severity in severities]))
    assert report["summary"] == {"errors": 2, "warnings": 1, "infos": 1, "suppressed": 0}


def test_output_is_ascii_without_half_characters() -> None:
    source = Source("caf\udce9.json", "{}")
    found = Located(Finding("r", Severity.ERROR, "\ud800 é", Span(0, 2)), Place(source, Span(0, 2)))
    text = render([found])
    assert text.isascii()
    assert text.endswith("}\n")
    [shown] = json.loads(text)["findings"]
    assert (shown["file"], shown["message"]) == ("caf?.json", "? é")
