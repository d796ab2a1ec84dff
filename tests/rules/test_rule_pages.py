"""A page a rule, and each page is a test: in either language one example breaks the rule, one keeps it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from materiac import formatting, languages
from materiac.resources import folder
from materiac.rules import RULES
from materiac.rules.rule import Rule
from materiac.source import Language

NAMES = ("loadout.json", "loadout.materia")

_PART = re.compile(r"^(##[^\n]*)$|^```(\w+)(?: (file|encoding)=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_REPORT = re.compile(r"^```text\n.*?^```$", re.MULTILINE | re.DOTALL)
_SAID = re.compile(r"^\S+:\d+:\d+: (.*)$", re.MULTILINE)

_LAYOUT = (
    *("## Breaks it", "### loadout.json", "json", "text", "### loadout.materia", "materia", "text"),
    *("## Keeps it", "### loadout.json", "json", "### loadout.materia", "materia"),
)


@dataclass(frozen=True)
class Example:
    """A text that breaks the rule, the report on it, a text that keeps it."""

    breaks: bytes
    report: str
    keeps: bytes


@dataclass(frozen=True)
class Page:
    """The examples of a page by their names; `files` are texts that lie beside these."""

    path: Path
    examples: dict[str, Example]
    files: dict[str, str]


def read(rule: Rule) -> Page:
    path = folder("rules") / f"{rule.name}.md"
    parts = list(_PART.finditer(path.read_text(encoding="utf-8")))
    own = [part for part in parts if part[3] != "file"]
    assert tuple(part[1] or part[2] for part in own) == _LAYOUT, "a page has these parts, in this order"
    in_json, json_report, in_dsl, dsl_report, json_keeps, dsl_keeps = (part for part in own if part[2])
    examples = (
        Example(_raw(in_json), json_report[5], _raw(json_keeps)),
        Example(_raw(in_dsl), dsl_report[5], _raw(dsl_keeps)),
    )
    files = {part[4]: part[5] for part in parts if part[3] == "file"}
    return Page(path, dict(zip(NAMES, examples, strict=True)), files)


def _raw(block: re.Match[str]) -> bytes:
    return block[5].encode(block[4] or "utf-8")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_page_shows_what_check_says(
    rule: Rule,
    name: str,
    checked: Callable[..., str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    bless: bool,
) -> None:
    page = read(rule)
    example = page.examples[name]
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(example.breaks)
    for beside, text in page.files.items():
        Path(beside).write_text(text, encoding="utf-8")
    report = checked(example.breaks, name)
    if bless:
        _write_report(page.path, name, report)
    else:
        assert report == example.report
    assert f"{rule.severity.word}[{rule.name}]: " in report
    assert checked(example.keeps, name) == ""


def _write_report(path: Path, name: str, report: str) -> None:
    text = path.read_text(encoding="utf-8")
    place = list(_REPORT.finditer(text))[NAMES.index(name)]
    path.write_text(f"{text[: place.start()]}```text\n{report}```{text[place.end() :]}", encoding="utf-8")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_both_languages_show_the_same(rule: Rule) -> None:
    in_json, in_dsl = read(rule).examples.values()
    kept, broken = _data(in_json.keeps, "json"), _data(in_json.breaks, "json")
    assert kept is not None
    assert _data(in_dsl.keeps, "dsl") == kept
    assert _data(in_dsl.breaks, "dsl") == broken
    if broken is not None:
        assert sorted(_said(in_dsl.report)) == sorted(_said(in_json.report))


def _data(raw: bytes, language: Language) -> Any:
    """What a text stands for, but its imports: they name files in its language. None where it has faults."""
    document, _ = languages.document("loadout", raw, language)
    return document and {key: value for key, value in document.data.items() if key != "import"}


def _said(report: str) -> Iterator[str]:
    """The messages and notes of a report, whatever the files in them are written in."""
    return (said.replace(".materia", ".json") for said in _SAID.findall(report))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_examples_are_laid_out(rule: Rule) -> None:
    example = read(rule).examples["loadout.materia"]
    for raw in (example.breaks, example.keeps):
        if _data(raw, "dsl") is not None:
            assert formatting.formatted(raw.decode(), "dsl") == raw.decode()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_page_begins_with_name_severity_and_summary(rule: Rule) -> None:
    lines = read(rule).path.read_text(encoding="utf-8").splitlines()
    assert lines[:3] == [f"# {rule.name}", "", f"*{rule.severity.word}*: {rule.summary}"]


def test_every_page_is_of_a_rule() -> None:
    assert {path.stem for path in folder("rules").iterdir()} == {rule.name for rule in RULES}
