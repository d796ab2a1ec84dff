"""Findings: what is wrong, how badly, and where. Wording lives in the rules, looks in `report`."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

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


class Removal(NamedTuple):
    """Takes a member of an object, or an entry of a list, away."""

    at: Pointer


class Replacement(NamedTuple):
    """Writes another value; another key, where the pointer ends with `KEY`."""

    at: Pointer
    value: Any


class Insertion(NamedTuple):
    """Adds a member to the object at a pointer; without a key, an entry at the end of the list there.

    What stands around it is made too, where it was never written. A member is the last one, or the `first`.
    """

    at: Pointer
    value: Any
    key: str | None = None
    first: bool = False


class Move(NamedTuple):
    """Lets a member stand elsewhere, under the key that `to` ends with, as it is written."""

    at: Pointer
    to: Pointer


Edit = Removal | Replacement | Insertion | Move


class Fix(NamedTuple):
    """What would mend a fault: edits, each on what those before it have made of the text.

    A `safe` one changes nothing in what the loadout means, or means what can only have been meant.
    """

    title: str
    edits: tuple[Edit, ...]
    safe: bool = False


class Step(NamedTuple):
    """A step of a way that casts can go: a visit of a socket or the end, or a loop that is found empty."""

    kind: Literal["socket", "empty"]
    name: str


class Finding(NamedTuple):
    """One fault. `at` is a pointer into the document, or a span where there is no value yet.

    `way` is a counterexample, whole, where the message tells of one.
    """

    rule: str
    severity: Severity
    message: str
    at: Pointer | Span
    related: tuple[Related, ...] = ()
    help: str | Bilingual | None = None
    fix: Fix | None = None
    way: tuple[Step, ...] = ()


class Place(NamedTuple):
    """A range of a text."""

    source: Source
    span: Span


class Located(NamedTuple):
    """A finding with its places, ready to be shown. `place` is None where no text was read.

    The fix of the finding has pointers into the text of the place.
    """

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
