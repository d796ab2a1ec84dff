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
from materiac.source import Language, Source

SAFE = {
    "dead-edge",
    "legacy-form",
    "missing-entry",
    "missing-timeout",
    "repeated-guard",
    "unused-suppression",
}
UNSAFE = {
    *("invalid-limit", "invalid-suppression", "invalid-value", "missing-route", "shell-string"),
    *("unbounded-loop", "unknown-key", "unknown-loadout", "unknown-materia"),
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
