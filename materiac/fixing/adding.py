"""Ways to write something new into a text of either language."""

from __future__ import annotations

from collections.abc import Iterator

from materiac.fixing import inserting
from materiac.fixing.inserting import New
from materiac.fixing.pieces import TextEdit
from materiac.source import Document, Pointer


def ways(document: Document, at: Pointer, new: New) -> Iterator[list[TextEdit]]:
    """Edits that may add to what is at a pointer, with what has to stand around it."""
    around, outer = inserting.container(document, at, new)
    yield from inserting.ways(document, around, outer)
    if document.source.language == "dsl":
        from materiac.fixing import stating  # noqa: PLC0415 - what is JSON does without the grammar

        # A statement of its own makes what stands around it.
        yield from stating.ways(document, at, new)
        yield from stating.ways(document, around, outer)
