"""Fixes as edits of a text: pointers become offsets late, in the language and the layout of the text.

Each edit is made in some way that may do, and read again: a way counts where the text then stands for what
the edit says. All other characters stay as they are.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

from materiac import json_text
from materiac.diagnostic import Edit, Fix, Insertion, Move, Removal, Replacement
from materiac.fixing import adding, moving, outcome, removing, replacing
from materiac.fixing.inserting import New
from materiac.fixing.pieces import Pieces, TextEdit, edited
from materiac.source import Document, Source


def text_edits(source: Source, fix: Fix) -> list[TextEdit] | None:
    """The edits that a fix makes in a text: start, end, new text; in order, none within another.

    None where the fix cannot be made without changing more than it says.
    """
    pieces = Pieces(source.text)
    document = _original(source)
    for edit in fix.edits:
        step = _step(document, edit) if document is not None else None
        if step is None:
            return None
        changes, document = step
        pieces.apply(changes)
    return pieces.edits()


def fixed(source: Source, fix: Fix) -> str | None:
    """A text with a fix made in it; None where it cannot be made."""
    edits = text_edits(source, fix)
    return None if edits is None else edited(source.text, edits)


@functools.lru_cache(maxsize=2)
def _original(source: Source) -> Document | None:
    """A text that many fixes may be asked for."""
    return _read(source)


def _read(source: Source) -> Document | None:
    if source.language == "json":
        return json_text.read(source)[0]
    from materiac import dsl_text  # noqa: PLC0415 - what is JSON does without the grammar

    return dsl_text.read(source)[0]


def _step(document: Document, edit: Edit) -> tuple[list[TextEdit], Document] | None:
    """The first way to make an edit that does just that, and the document that comes of it."""
    wanted = outcome.after(document.data, edit)
    if wanted is outcome.IMPOSSIBLE:
        return None
    for changes in _ways(document, edit):
        source = document.source
        new = _read(Source(source.name, edited(source.text, changes), source.language))
        if new is not None and outcome.same(new.data, wanted):
            return changes, new
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
