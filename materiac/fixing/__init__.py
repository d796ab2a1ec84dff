"""Fixes as edits of a text: pointers become offsets late, in the language and the layout of the text.

Each edit is made in some way that may do, and read again: a way counts where the text then stands for what
the edit says. All other characters stay as they are.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from materiac import json_text
from materiac.diagnostic import Edit, Fix, Insertion, Move, Removal, Replacement
from materiac.fixing import adding, moving, outcome, removing, replacing
from materiac.fixing.inserting import New
from materiac.fixing.pieces import Pieces, TextEdit, edited
from materiac.source import Document, Pointer, Source, Span, Spans


def text_edits(source: Source, fix: Fix) -> list[TextEdit] | None:
    """The edits that a fix makes in a text: start, end, new text; in order, none within another.

    None where the fix cannot be made without changing more than it says.
    """
    document = _original(source)
    if document is None:
        return None
    pieces = Pieces(source.text)
    # From the end on, so that what is not done yet stays where it was.
    for place, edits in sorted(_parted(document, fix.edits), reverse=True):
        if not _make(edits, place, source, pieces):
            return None
    return pieces.edits()


def fixed(source: Source, fix: Fix) -> str | None:
    """A text with a fix made in it; None where it cannot be made."""
    edits = text_edits(source, fix)
    return None if edits is None else edited(source.text, edits)


@functools.lru_cache(maxsize=2)
def _original(source: Source) -> Document | None:
    """A text that many fixes may be asked for."""
    return _read(source, Span(0, len(source.text)))


def _read(source: Source, place: Span) -> Document | None:
    """A text; in JSON also a value within it, which means the same wherever it stands."""
    if source.language == "dsl":
        from materiac import dsl_text  # noqa: PLC0415 - what is JSON does without the grammar

        return dsl_text.read(source)[0]
    inner = json_text.read(Source(source.name, source.text[place.start : place.end]))[0]
    if inner is None or place.start == 0:
        return inner and replace(inner, source=source)
    return Document(source, inner.data, lambda: _moved(inner.spans, place.start))


def _moved(spans: Spans, by: int) -> Spans:
    return {pointer: Span(start + by, end + by) for pointer, (start, end) in spans.items()}


def _parted(document: Document, edits: Sequence[Edit]) -> list[tuple[Span, list[Edit]]]:
    """Edits by the part of the text that they are within; all of it, where such parts are not apart."""
    whole = [(Span(0, len(document.source.text)), list(edits))]
    if document.source.language == "dsl":
        return whole
    parts: dict[Pointer, list[Edit]] = {}
    for edit in edits:
        base = outcome.holder(document.data, edit)
        parts.setdefault(base, []).append(outcome.within(edit, base))
    places = sorted(document.span(base) for base in parts)
    if () in parts or any(one.end > other.start for one, other in pairwise(places)):
        return whole
    return [(document.span(base), inner) for base, inner in parts.items()]


def _make(edits: Sequence[Edit], place: Span, source: Source, pieces: Pieces) -> bool:
    """Make edits one after the other in what stands at a place; whether all could be made."""
    text = edited(source.text, pieces.edits())
    for edit in edits:
        document = _read(replace(source, text=text), place)
        found = _changes(document, place, edit) if document is not None else None
        if found is None:
            return False
        changes, place = found
        pieces.apply(changes)
        text = edited(text, changes)
    return True


def _changes(document: Document, place: Span, edit: Edit) -> tuple[list[TextEdit], Span] | None:
    """The first way to make an edit that does just that, and how far what is edited reaches then."""
    wanted = outcome.after(document.data, edit)
    if wanted is outcome.IMPOSSIBLE:
        return None
    source = document.source
    for changes in _ways(document, edit):
        text = edited(source.text, changes)
        now = Span(place.start, place.end + len(text) - len(source.text))
        new = _read(replace(source, text=text), now)
        if new is not None and outcome.same(new.data, wanted):
            return changes, now
    return None


def _ways(document: Document, edit: Edit) -> Iterator[list[TextEdit]]:
    match edit:
        case Removal(at):
            return removing.ways(document, at)
        case Replacement(at, value):
            return replacing.ways(document, at, value)
        case Insertion(at, value, key, first):
            return adding.ways(document, at, New(key, value, first=first))
        case Move(at, to):
            return moving.ways(document, at, to)
