"""Edits of the value that a text stands for, made in the text and proved by reading it again."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from materiac import json_text
from materiac.diagnostic import Edit, Insertion, Move, Removal, Replacement
from materiac.fixing import adding, moving, outcome, removing, replacing
from materiac.fixing.inserting import New
from materiac.fixing.pieces import Pieces, TextEdit, edited
from materiac.source import Document, Pointer, Source, Span, Spans


@functools.lru_cache(maxsize=2)
def original(source: Source) -> Document | None:
    """A text that many fixes may be asked for."""
    return read(source, Span(0, len(source.text)))


def read(source: Source, place: Span) -> Document | None:
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


def parted(document: Document, edits: Sequence[Edit]) -> list[tuple[Span, list[Edit]]]:
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


def make(edits: Sequence[Edit], place: Span, source: Source, pieces: Pieces) -> bool:
    """Make edits one after the other in what stands at a place; whether all could be made."""
    text = edited(source.text, pieces.edits())
    for edit in edits:
        document = read(replace(source, text=text), place)
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
    for changes in ways(document, edit):
        text = edited(source.text, changes)
        now = Span(place.start, place.end + len(text) - len(source.text))
        new = read(replace(source, text=text), now)
        if new is not None and is_made(document, new, wanted):
            return changes, now
    return None


def is_made(before: Document, now: Document, wanted: Any) -> bool:
    """Whether a text stands for what is wanted, and nothing in it came to say nothing."""
    return len(now.slips) <= len(before.slips) and outcome.same(now.data, wanted)


def ways(document: Document, edit: Edit) -> Iterator[list[TextEdit]]:
    """Edits of a text that may make an edit of its value, the likeliest first; not proved."""
    match edit:
        case Removal(at):
            return removing.ways(document, at)
        case Replacement(at, value):
            return replacing.ways(document, at, value)
        case Insertion(at, value, key, first):
            return adding.ways(document, at, New(key, value, first=first))
        case Move(at, to):
            return moving.ways(document, at, to)
