"""Many fixes of one text: made from one reading of it, and proved by one more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from materiac.diagnostic import Edit, Fix, Insertion, Move
from materiac.fixing import making, outcome
from materiac.fixing.pieces import Pieces, TextEdit
from materiac.source import Document, Pointer, Source, Span


def guessed(source: Source, fix: Fix) -> list[TextEdit] | None:
    """The edits that most likely make a fix in a text, in order; None where that takes a closer look."""
    document = making.original(source)
    if document is None:
        return None
    found: list[TextEdit] = []
    for base, edits in _by_holder(document, fix.edits).items():
        made = _of_part(document, base, edits)
        if made is None:
            return None
        found += made
    found.sort(key=place)
    return found if are_apart(found) else None


def place(edit: TextEdit) -> tuple[int, int]:
    """What edits are put in order by: those that add something in one place keep theirs."""
    return edit[:2]


def are_apart(edits: Sequence[TextEdit]) -> bool:
    """Whether edits in order lie beside one another."""
    return all(one[1] <= other[0] for one, other in pairwise(edits))


def _by_holder(document: Document, edits: Iterable[Edit]) -> dict[Pointer, list[Edit]]:
    """Edits by the object or list that they are within; those of a text that has no such parts as one."""
    found: dict[Pointer, list[Edit]] = {}
    for edit in edits:
        base = outcome.holder(document.data, edit) if document.source.language == "json" else ()
        found.setdefault(base, []).append(edit)
    return found


def _of_part(document: Document, base: Pointer, edits: Sequence[Edit]) -> list[TextEdit] | None:
    if base and len(edits) > 1:
        pieces = Pieces(document.source.text)
        inner = [outcome.within(edit, base) for edit in edits]
        return pieces.edits() if making.make(inner, document.span(base), document.source, pieces) else None
    found: list[TextEdit] = []
    for edit in edits:
        way = next(making.ways(document, edit), None)
        if way is None:
            return None
        found += way
    return found


def hold(source: Source, fixes: Sequence[Fix], text: str) -> bool:
    """Whether a text stands for what the fixes make of another one. They are in the order of their places."""
    document = making.original(source)
    new = making.read(replace(source, text=text), Span(0, len(text)))
    if document is None or new is None:
        return False
    wanted = document.data
    # From the end on: an entry that goes from a list moves those behind it alone.
    for fix in reversed(fixes):
        for edit in fix.edits:
            wanted = outcome.after(wanted, edit)
    return wanted is not outcome.IMPOSSIBLE and making.is_made(document, new, wanted)


def containers(source: Source, fix: Fix) -> set[Pointer]:
    """What a fix makes so that it can write into it: two fixes cannot make the same."""
    document = making.original(source)
    ways = (edit.to[:-1] if isinstance(edit, Move) else edit.at for edit in fix.edits if _adds(edit))
    lacking = (outcome.lacking(document.data, at) for at in ways) if document is not None else ()
    return {at for at in lacking if at is not None}


def _adds(edit: Edit) -> bool:
    return isinstance(edit, Insertion | Move)
