"""Findings: what is wrong, how badly, and where. Wording lives in the rules, looks in `report`."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import NamedTuple

from materiac.source import Language, Pointer, Source, Span


class Severity(enum.IntEnum):
    """How bad a finding is; greater is worse."""

    INFO = 1
    WARNING = 2
    ERROR = 3

    @property
    def word(self) -> str:
        return self.name.lower()


class Related(NamedTuple):
    """A second place that explains a finding, with a few words."""

    at: Pointer | Span
    message: str


class Bilingual(NamedTuple):
    """Advice that shows what to write, which is written differently in the two languages."""

    json: str
    dsl: str


def worded(advice: str | Bilingual | None, language: Language) -> str | None:
    """Advice, in the words of a language."""
    if isinstance(advice, Bilingual):
        return advice.dsl if language == "dsl" else advice.json
    return advice


class Finding(NamedTuple):
    """One fault. `at` is a pointer into the document, or a span where there is no value yet."""

    rule: str
    severity: Severity
    message: str
    at: Pointer | Span
    related: tuple[Related, ...] = ()
    help: str | Bilingual | None = None


class Place(NamedTuple):
    """A range of a text."""

    source: Source
    span: Span


class Located(NamedTuple):
    """A finding with its places, ready to be shown. `place` is None where no text was read."""

    finding: Finding
    place: Place | None
    related: tuple[tuple[Place, str], ...] = ()

    @property
    def help(self) -> str | None:
        """The advice of the finding, in the language of the text that it is about."""
        return worded(self.finding.help, self.place.source.language if self.place else "json")


def worst(findings: Iterable[Finding]) -> Severity | None:
    """The highest severity among findings; None where there are none."""
    return max((finding.severity for finding in findings), default=None)
