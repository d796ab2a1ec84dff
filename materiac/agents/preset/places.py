"""Places in what a program prints: paths of names and indexes, which may also go through all of a list.

item.text                       a name below a name
errors.0                        an index
message.content.*.text          of each element of a list
message.content.[type=text]     of each element that has this text at this name
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from materiac.path import MISSING, read

ALL: Final = "*"
_PART: Final = re.compile(r"\[(?P<name>[^\].=]+)=(?P<text>[^\]]*)\]|(?P<plain>[^.\[\]]+)")


class _With(NamedTuple):
    """The elements of a list that have a text at a name."""

    name: str
    text: str


class Place(NamedTuple):
    """A path as it was written, and its parts."""

    text: str
    parts: tuple[str | _With, ...]

    def values(self, part: Any) -> list[Any]:
        """What is there; nothing where there is nothing, several only where the path goes through lists."""
        found = [part]
        for step in self.parts:
            found = [below for value in found for below in _below(value, step)]
        return [value for value in found if value is not None]


def parse(text: str) -> Place:
    """Read a path. Raises `ValueError`."""
    found = list(_PART.finditer(text))
    if not text or ".".join(match[0] for match in found) != text:
        raise ValueError(
            f"'{text}' is no path: expected names and indexes with dots between, '*', or '[name=text]'"
        )
    return Place(text, tuple(match["plain"] or _With(match["name"], match["text"]) for match in found))


def plain(segments: Iterable[str]) -> Place:
    """The path of these names and indexes."""
    parts = tuple(segments)
    return Place(".".join(parts), parts)


def _below(value: Any, step: str | _With) -> list[Any]:
    if step == ALL:
        return list(value) if isinstance(value, list) else []
    if isinstance(step, str):
        below = read(value, (step,))
        return [] if below is MISSING else [below]
    parts = value if isinstance(value, list) else []
    return [part for part in parts if isinstance(part, Mapping) and part.get(step.name) == step.text]
