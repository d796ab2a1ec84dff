"""Names of sockets, loadouts and materia, and guesses at what a misspelt one should have been."""

from __future__ import annotations

import difflib
import functools
import unicodedata
from collections.abc import Iterable

END = "end"
MAX_LENGTH = 64

_MANY = 300
"""With more names than this, only those are compared in full that are a slip of one letter away."""


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


class Taken:
    """Names that no new one may be like, in upper or in lower case."""

    def __init__(self, names: Iterable[str]) -> None:
        self._folded = {name.casefold() for name in names}
        self._numbers: dict[str, int] = {}

    def free(self, wanted: str, otherwise: str) -> str:
        """A new name: `wanted`, or `otherwise` where that cannot stand, with a number where it is taken."""
        base = otherwise if fault(wanted, spaces=True) else wanted
        name, number = base, self._numbers.get(base, 1)
        while name.casefold() in self._folded:
            number += 1
            end = f"-{number}"
            name = f"{base[: MAX_LENGTH - len(end)]}{end}"
        self._numbers[base] = number
        self._folded.add(name.casefold())
        return name


def suggestion(wrong: str, known: Iterable[str]) -> str | None:
    """`did you mean 'x'?` for the nearest known name, or None where none is near."""
    near = nearest(wrong, known)
    return f"did you mean '{near}'?" if near is not None else None


def is_slip(wrong: str, name: str) -> bool:
    """Whether one letter too few, too many or another, or two letters the other way round, is all."""
    while wrong and name and wrong[0] == name[0]:
        wrong, name = wrong[1:], name[1:]
    while wrong and name and wrong[-1] == name[-1]:
        wrong, name = wrong[:-1], name[:-1]
    return max(len(wrong), len(name)) == 1 or (len(wrong) == 2 and wrong[::-1] == name)


def nearest(wrong: str, known: Iterable[str]) -> str | None:
    """The nearest known name, or None where none is near."""
    names = frozenset(known)
    folded = _folded(names)
    word = wrong.casefold()
    candidates = folded.keys() if len(names) <= _MANY else _one_letter_away(word, _variants(names))
    near = difflib.get_close_matches(word, candidates, n=1, cutoff=0.6)
    return folded[near[0]] if near else None


def slip(wrong: str, known: frozenset[str]) -> str | None:
    """The known name that is a slip away, or None where there is none."""
    folded = _folded(known)
    candidates = sorted(_one_letter_away(wrong.casefold(), _variants(known)))
    return next((folded[word] for word in candidates if is_slip(wrong, folded[word])), None)


@functools.lru_cache(maxsize=8)
def _folded(names: frozenset[str]) -> dict[str, str]:
    return {name.casefold(): name for name in sorted(names, reverse=True)}


@functools.lru_cache(maxsize=8)
def _variants(names: frozenset[str]) -> dict[str, list[str]]:
    """Names by themselves less one letter: two names that are one slip apart meet in a variant."""
    found: dict[str, list[str]] = {}
    for name in _folded(names):
        for variant in _shortened(name):
            found.setdefault(variant, []).append(name)
    return found


def _one_letter_away(word: str, variants: dict[str, list[str]]) -> set[str]:
    return {name for variant in _shortened(word) for name in variants.get(variant, ())}


def _shortened(word: str) -> set[str]:
    return {word, *(word[:i] + word[i + 1 :] for i in range(min(len(word), MAX_LENGTH)))}
