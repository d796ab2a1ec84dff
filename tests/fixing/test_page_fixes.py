"""The examples of the rule pages that have a fix: it mends them, and all else stays as it is."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

import pytest

from materiac import pipeline
from materiac.cli.loading import bundled
from materiac.diagnostic import Located
from materiac.fixing.rounds import Mended, mend
from materiac.resources import folder
from materiac.rules import RULES
from materiac.source import Language, Source

SAFE = {
    "legacy-form",
    "missing-entry",
    "missing-timeout",
    "repeated-guard",
    "unused-suppression",
}
UNSAFE = {
    *("dead-edge", "invalid-limit", "invalid-suppression", "invalid-value", "missing-route"),
    *(
        "shell-string",
        "unbounded-loop",
        "undefined-state",
        "unknown-key",
        "unknown-loadout",
        "unknown-materia",
    ),
    *("unknown-target", "unknown-tool", "unknown-utility", "unread-verdict"),
}
FENCES: dict[Language, str] = {"json": "json", "dsl": "materia"}
BELOW = bundled()


def broken(rule: str, language: Language) -> Source:
    """The example of a page that breaks the rule."""
    page = (folder("rules") / f"{rule}.md").read_text(encoding="utf-8")
    match = re.search(rf"^```{FENCES[language]}\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert match is not None
    return Source(f"x.{language}", match[1], language)


def looked(source: Source, text: str) -> Sequence[Located]:
    return pipeline.check([*BELOW, pipeline.Text(source.name, text.encode(), language=source.language)])


def mended(source: Source, *, unsafe: bool) -> Mended:
    return mend(source, lambda text: looked(source, text), unsafe=unsafe)


def test_every_fix_is_known_and_documented() -> None:
    """A rule of which an example can be mended is above, and in the table of the page."""
    table = (folder("rules").parent / "fixing.md").read_text(encoding="utf-8").partition("| is fixed so |")[2]
    assert {name for name in SAFE | UNSAFE if f"(rules/{name}.md)" not in table} == set()
    sources = {rule.name: broken(rule.name, "json") for rule in RULES if rule.name != "encoding"}
    fixable = {
        (part.finding.rule, part.finding.fix.safe)
        for name, source in sources.items()
        for part in looked(source, source.text)
        if part.finding.fix is not None and part.finding.rule == name
    }
    assert fixable == {(name, True) for name in SAFE} | {(name, False) for name in UNSAFE}


@pytest.mark.parametrize("language", ["json", "dsl"])
@pytest.mark.parametrize("rule", sorted(SAFE | UNSAFE))
def test_the_example_is_mended(rule: str, language: Language) -> None:
    source = broken(rule, language)
    assert rule in {part.finding.rule for part in looked(source, source.text)}
    result = mended(source, unsafe=True)
    assert looked(source, result.text) == ()
    assert result.mended


@pytest.mark.parametrize("language", ["json", "dsl"])
@pytest.mark.parametrize("rule", sorted(UNSAFE))
def test_what_is_unsafe_waits_until_it_is_allowed(rule: str, language: Language) -> None:
    source = broken(rule, language)
    result = mended(source, unsafe=False)
    assert rule in {part.finding.rule for part in looked(source, result.text)}


@pytest.mark.parametrize("language", ["json", "dsl"])
@pytest.mark.parametrize("rule", sorted((SAFE | UNSAFE) - {"legacy-form"}))
def test_few_lines_change(rule: str, language: Language) -> None:
    source = broken(rule, language)
    new = mended(source, unsafe=True).text
    lines = difflib.ndiff(source.text.splitlines(), new.splitlines())
    assert sum(line.startswith(("+", "-")) for line in lines) <= 6
