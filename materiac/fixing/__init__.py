"""Fixes as edits of a text: pointers become offsets late, in the language and the layout of the text.

Each edit is made in some way that may do, and read again: a way counts where the text then stands for what
the edit says. All other characters stay as they are.
"""

from __future__ import annotations

from materiac.diagnostic import Fix
from materiac.fixing.making import make, original, parted
from materiac.fixing.pieces import Pieces, TextEdit, edited
from materiac.source import Source


def text_edits(source: Source, fix: Fix) -> list[TextEdit] | None:
    """The edits that a fix makes in a text: start, end, new text; in order, none within another.

    None where the fix cannot be made without changing more than it says.
    """
    document = original(source)
    if document is None:
        return None
    pieces = Pieces(source.text)
    # From the end on, so that what is not done yet stays where it was.
    for place, edits in sorted(parted(document, fix.edits), reverse=True):
        if not make(edits, place, source, pieces):
            return None
    return pieces.edits()


def fixed(source: Source, fix: Fix) -> str | None:
    """A text with a fix made in it; None where it cannot be made."""
    edits = text_edits(source, fix)
    return None if edits is None else edited(source.text, edits)
