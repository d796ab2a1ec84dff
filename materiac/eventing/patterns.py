"""Patterns over the types of events: names with dots between them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_ANY_NAMES: Final = "**"


@dataclass(frozen=True, slots=True)
class Filter:
    """What a sink gets: all that `include` names, or all where it is empty, but for what `exclude` names."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def lets_through(self, type_: str) -> bool:
        """Whether an event of this type is for the sink."""
        names = type_.split(".")
        wanted = not self.include or any(_matches(pattern, names) for pattern in self.include)
        return wanted and not any(_matches(pattern, names) for pattern in self.exclude)


def _matches(pattern: str, names: Sequence[str]) -> bool:
    """Whether a pattern stands for all of the names: `*` for any part of one, `**` for any number of them."""
    reached = {0}
    for part in pattern.split("."):
        if part == _ANY_NAMES:
            reached = set(range(min(reached), len(names) + 1))
        else:
            fits = _name(part)
            reached = {at + 1 for at in reached if at < len(names) and fits.fullmatch(names[at])}
        if not reached:
            return False
    return len(names) in reached


@lru_cache(maxsize=256)
def _name(part: str) -> re.Pattern[str]:
    """A part of a pattern. Each piece is taken where it first fits, so that nothing is tried twice."""
    first, *pieces = (re.escape(piece) for piece in part.split("*"))
    if not pieces:
        return re.compile(first)
    *inner, last = pieces
    return re.compile(first + "".join(f"(?>.*?{piece})" for piece in inner) + f".*{last}", re.DOTALL)
