"""Fixes of findings as actions of an editor, and the layout of `materiac fmt`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from materiac import fixing, formatting
from materiac.diagnostic import Located
from materiac.lsp.buffers import Buffer
from materiac.source import Span

Edit = tuple[Span, str]

_MOST: Final = 200
"""So many fixes are made in one go: each is proved by reading the text again."""


class Action(NamedTuple):
    """A way to mend a finding."""

    title: str
    mends: Located
    edits: Sequence[Edit]
    safe: bool


def actions(buffer: Buffer, found: Iterable[Located], start: int, end: int) -> Iterator[Action]:
    """The fixes of the findings that a range touches."""
    for part in _own(buffer, found):
        if part.place is not None and part.place.span.start <= end and start <= part.place.span.end:
            edits = _edits(buffer, part)
            if edits and part.finding.fix is not None:
                yield Action(part.finding.fix.title, part, edits, part.finding.fix.safe)


def all_safe(buffer: Buffer, found: Iterable[Located]) -> list[Edit]:
    """The edits of all safe fixes, without those that would meddle with one before."""
    made: list[Edit] = []
    safe = [part for part in _own(buffer, found) if part.finding.fix is not None and part.finding.fix.safe]
    for part in safe[:_MOST]:
        edits = _edits(buffer, part)
        if not any(_meet(one, other) for one, _ in edits for other, _ in made):
            made += edits
    return sorted(made)


def _own(buffer: Buffer, found: Iterable[Located]) -> list[Located]:
    return [part for part in found if part.place is not None and part.place.source.name == buffer.name]


def _edits(buffer: Buffer, part: Located) -> list[Edit]:
    fix = part.finding.fix
    edits = fixing.text_edits(buffer.source, fix) if fix is not None else None
    return [(Span(start, end), new) for start, end, new in edits or ()]


def _meet(one: Span, other: Span) -> bool:
    return one.start <= other.end and other.start <= one.end


def layout(buffer: Buffer) -> list[Edit]:
    """What lays out a sound text: what differs, from the first character to the last that does."""
    old = buffer.source.text
    new = formatting.formatted(old, buffer.language)
    if old == new:
        return []
    start = _shared(old, new)
    end = _shared(old[:start:-1], new[:start:-1])
    # A line break of two characters is left whole.
    start -= old[start - 1 : start + 1] == "\r\n"
    end -= old[len(old) - end - 1 : len(old) - end + 1] == "\r\n"
    return [(Span(start, len(old) - end), new[start : len(new) - end])]


def _shared(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    alike = (index for index, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(alike, min(len(one), len(other)))
