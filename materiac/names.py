"""Names of sockets, loadouts and materia, and guesses at what a misspelt one should have been."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable

END = "end"
MAX_LENGTH = 64


def fault(name: str, *, spaces: bool) -> str | None:
    """Say what is wrong with a name, or None. Inner spaces are legal where `spaces` is true."""
    wrong = next((c for c in name if not _legal(c, spaces=spaces)), None)
    faults = (
        (not name, "is empty"),
        (len(name) > MAX_LENGTH, f"is {len(name)} characters long, {MAX_LENGTH} are allowed"),
        (name == END, "is taken: it means the end of a cast"),
        (name.startswith("."), "starts with a dot"),
        (name != name.strip(" "), "starts or ends with a space"),
        (wrong is not None, f"has {wrong!r} in it: letters, digits, '.', '_' and '-' are allowed"),
        (name != unicodedata.normalize("NFC", name), "is not in Unicode normal form C"),
    )
    return next((words for holds, words in faults if holds), None)


def _legal(character: str, *, spaces: bool) -> bool:
    if character in "._-" or (spaces and character == " "):
        return True
    category = unicodedata.category(character)
    return category[0] in "LM" or category == "Nd"


def suggestion(wrong: str, known: Iterable[str]) -> str | None:
    """`did you mean 'x'?` for the nearest known name, or None where none is near."""
    by_lower = {name.casefold(): name for name in known}
    near = difflib.get_close_matches(wrong.casefold(), by_lower, n=1, cutoff=0.6)
    return f"did you mean '{by_lower[near[0]]}'?" if near else None
