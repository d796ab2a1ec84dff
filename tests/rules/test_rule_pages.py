"""A page a rule, and each page is a test: its first example breaks the rule, its second keeps it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from materiac.resources import folder
from materiac.rules import RULES
from materiac.rules.rule import Rule

_BLOCK = re.compile(r"^```(\w+)(?: encoding=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"^```json file=(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Page:
    """The blocks of a page: a text that breaks the rule, the report on it, a text that keeps it.

    `files` are texts that lie beside these, by their names.
    """

    path: Path
    breaks: bytes
    report: str
    keeps: bytes
    files: dict[str, str]


def read(rule: Rule) -> Page:
    path = folder("rules") / f"{rule.name}.md"
    text = path.read_text(encoding="utf-8")
    blocks = _BLOCK.findall(text)
    assert [block[0] for block in blocks] == ["json", "text", "json"], (
        "a page has these blocks, in this order"
    )
    breaks, report, keeps = blocks
    return Page(
        path, breaks[2].encode(breaks[1] or "utf-8"), report[2], keeps[2].encode(), dict(_FILE.findall(text))
    )


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_page_shows_what_check_says(
    rule: Rule,
    checked: Callable[[bytes], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    bless: bool,
) -> None:
    page = read(rule)
    monkeypatch.chdir(tmp_path)
    Path("loadout.json").write_bytes(page.breaks)
    for name, text in page.files.items():
        Path(name).write_text(text, encoding="utf-8")
    report = checked(page.breaks)
    if bless:
        text = page.path.read_text(encoding="utf-8")
        page.path.write_text(
            text.replace(f"```text\n{page.report}```", f"```text\n{report}```"), encoding="utf-8"
        )
    else:
        assert report == page.report
    assert f"{rule.severity.word}[{rule.name}]: " in report
    assert checked(page.keeps) == ""


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_page_begins_with_name_severity_and_summary(rule: Rule) -> None:
    lines = read(rule).path.read_text(encoding="utf-8").splitlines()
    assert lines[:3] == [f"# {rule.name}", "", f"*{rule.severity.word}*: {rule.summary}"]


def test_every_page_is_of_a_rule() -> None:
    assert {path.stem for path in folder("rules").iterdir()} == {rule.name for rule in RULES}
