"""What changes between two texts, line by line, without the secrets in them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

MASKED: Final = "secrets are masked in what is shown of it"
"""What is said of a diff that is no patch."""

_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
_HUNK: Final = re.compile(r"@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@")
_NO_BREAK: Final = "\n\\ No newline at end of file\n"


class TextDiff(NamedTuple):
    """The lines of a unified diff; in one that is `masked` there were secrets, and it is no patch."""

    lines: tuple[str, ...]
    masked: bool


def unified(old: str, new: str, old_name: str, new_name: str, veil: Callable[[str], str]) -> TextDiff:
    """A unified diff of two texts, which are shown behind a veil that leaves their lines."""
    before, after = _LINE.findall(old), _LINE.findall(new)
    lines = list(difflib.unified_diff(before, after, old_name, new_name))
    shown = list(_shown(lines, veil(old), veil(new))) if lines else []
    ended = tuple(line if line.endswith("\n") else f"{line}{_NO_BREAK}" for line in shown)
    return TextDiff(ended, shown != lines)


def _shown(lines: list[str], old: str, new: str) -> Iterator[str]:
    """The same lines, out of other texts of as many."""
    before, after = _LINE.findall(old), _LINE.findall(new)
    one = other = 0
    yield from lines[:2]
    for line in lines[2:]:
        if (hunk := _HUNK.match(line)) is not None:
            # A range without a length has one line; one of no lines is said to begin at the line before it.
            one, other = (int(hunk[start]) - (hunk[length] != ",0") for start, length in ((1, 2), (3, 4)))
            yield line
        elif line.startswith("+"):
            yield f"+{after[other]}"
            other += 1
        else:
            yield f"{line[0]}{before[one]}"
            one, other = one + 1, other + line.startswith(" ")
