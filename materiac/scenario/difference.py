"""Two ways side by side: where they are the same, and where they part."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final

_AROUND: Final = 2
"""How many visits are shown before and behind what differs."""
_LONGEST: Final = 2_000
"""Longer ways are compared up to here: the cost grows with the square."""


def difference(found: Sequence[str | None], wanted: Sequence[str | None]) -> tuple[str, ...]:
    """Lines that begin with `=` for what both have, `-` for what is missing, `+` for what is too much."""
    same = sum(
        1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(wanted, found, strict=False))
    )
    old, new = ([str(part) for part in way[same : same + _LONGEST]] for way in (wanted, found))
    before = _middle_left_out([str(part) for part in found[:same]], first=True, last=False)
    lines = [f"= {_way(before)}"] if before else []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            lines.append(f"= {_way(_middle_left_out(old[a:b], first=False, last=b == len(old)))}")
            continue
        if b > a:
            lines.append(f"- {_way(old[a:b])}")
        if d > c:
            lines.append(f"+ {_way(new[c:d])}")
    return tuple(lines)


def _way(parts: Sequence[str]) -> str:
    return " → ".join(parts)


def _middle_left_out(parts: Sequence[str], *, first: bool, last: bool) -> list[str]:
    """What is near to a difference; of the first part only the end, of the last only the beginning."""
    head, tail = (0 if first else _AROUND), (0 if last else _AROUND)
    if len(parts) <= head + tail + 1:
        return list(parts)
    more = len(parts) - head - tail
    return [*parts[:head], f"… {more} more …", *(parts[-tail:] if tail else ())]
