"""The problem matcher sees in what `check` prints just what the report for programs has."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from materiac.cli import main
from materiac.resources import folder

ROOT: Final = Path(__file__).resolve().parents[2]
MATCHERS: Final = json.loads((ROOT / ".github/materiac-matcher.json").read_bytes())["problemMatcher"]
FIELDS: Final = ("file", "line", "column", "severity", "code", "message")
_LABEL: Final = re.compile(r"(?:^|: )(?:error|warning|info)\[", re.MULTILINE)
_TEXTS: Final = re.compile(r"^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)

FILE: Final = "./a b/c:1:2: x.materia"
FAULTY: Final = """\
loadout Faulty {
  entry a
  a: Worker -> biuld
  build: Worker
}
loadout Vague { a: Worker }
loadout Shed {
  entry plan
  plan: Planner -> make
  make: Worker -> check
  check: Worker json
    advance workItemIndex over state.workItems when satisfied
    not_satisfied -> make
    satisfied     -> make
  tell: Worker
  loop work (make, check) over plan { exit check -> tell }
}
materia Worker { prompt "Work: {{request}}" }
materia Planner generator { prompt "Plan: {{request}}" }
"""


def matched(line: str) -> list[dict[str, Any]]:
    """What the runner of GitHub makes of a line of output: an issue a matcher that knows it."""
    return [issue for matcher in MATCHERS for issue in issues(matcher, line)]


def issues(matcher: dict[str, Any], line: str) -> Iterator[dict[str, Any]]:
    [pattern] = matcher["pattern"]
    match = re.search(pattern["regexp"], line, re.ASCII)
    if match is not None:
        issue = {field: match[pattern[field]] for field in FIELDS if field in pattern}
        yield {"severity": matcher.get("severity"), **issue}


def issue_of(finding: dict[str, Any]) -> dict[str, Any]:
    numbers = {name: finding[name] and str(finding[name]) for name in ("line", "column")}
    severity = "notice" if finding["severity"] == "info" else finding["severity"]
    own = {"severity": severity, "code": finding["rule"], "message": finding["message"]}
    return {"file": finding["file"], **numbers, **own}


@pytest.mark.parametrize(
    ("options", "severities"),
    [
        pytest.param([FILE], {"error", "warning", "notice"}, id="places"),
        pytest.param([FILE, "--loadout", "Fualty"], {"error"}, id="no place"),
    ],
)
def test_the_matcher_sees_every_finding(
    options: list[str],
    severities: set[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    file = Path(FILE)
    file.parent.mkdir()
    file.write_text(FAULTY, encoding="utf-8")
    assert main(["check", *options]) == 1
    lines = capsys.readouterr().out.splitlines()
    main(["check", *options, "--format", "json"])
    findings = json.loads(capsys.readouterr().out)["findings"]
    seen = [issue for line in lines for issue in matched(line)]
    assert seen == [issue_of(finding) for finding in findings]
    assert {issue["severity"] for issue in seen} == severities


@pytest.mark.parametrize("page", sorted(folder("rules").iterdir()), ids=lambda page: page.stem)
def test_a_line_of_a_report_is_one_issue_or_none(page: Path) -> None:
    for report in _TEXTS.findall(page.read_text(encoding="utf-8")):
        seen = [matched(line) for line in report.splitlines()]
        assert sum(map(len, seen)) == len(_LABEL.findall(report)) > 0
        assert max(map(len, seen)) == 1


@pytest.mark.parametrize(
    "line",
    [
        "error[E0308]: mismatched types",
        "a.json:1:2: note: this edge before it is always taken",
        "    6 |     error[dead-edge]: x",
        "1 error, 2 warnings",
        "materiac: cannot read 'a.json': No such file or directory",
    ],
)
def test_other_lines_are_left_alone(line: str) -> None:
    assert matched(line) == []


def test_the_owners_differ() -> None:
    assert len({matcher["owner"] for matcher in MATCHERS}) == len(MATCHERS)
