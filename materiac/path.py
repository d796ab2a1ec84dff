"""The little path language of `assign`, `items` and templates: reading and writing nested values."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, Final

OUTPUT = "$"
WORK_ITEMS: Final = "state.workItems"
"""The list that generators write and that loops go through."""

ROOTS: Final = frozenset({OUTPUT, "state", "item", "lastOutput", "lastJson", "cursor"})
ITEM_NAMES: Final = ("item", "workItem")
RESERVED: Final = frozenset(
    {"item", "satisfied", "state", "request", "lastOutput", "lastJson", "cursor", "parallelFanIn"}
)

GUARDED: Final = ("workItems", "satisfied", "item")
"""The keys of the state that no utility may patch."""


class PathError(ValueError):
    """A text that is no path; the message says why, in words that follow "'…' is no path: "."""


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()
"""What `read` gives where there is no value; JSON null is a value."""


@dataclass(frozen=True, slots=True)
class Path:
    """A parsed source: a root and the segments below it. A bare name `a.b` has the root `state`.

    `bare` is true where the root was not written: such a name may also be an alias of the item.
    """

    root: str
    segments: tuple[str, ...]
    bare: bool = False


def parse_source(text: str) -> Path:
    """Parse what `assign`, `items` or a template reads. Raises `PathError`."""
    if not text.strip():
        raise PathError("it is empty")
    root, *rest = text.split(".")
    if root not in ROOTS:
        return Path("state", _segments([root, *rest]), bare=True)
    path = Path(root, _segments(rest))
    if root == "lastOutput" and rest:
        raise PathError("'lastOutput' is a text and has nothing below it")
    if root == "cursor" and len(rest) != 1:
        raise PathError("a cursor is written 'cursor.<name>'")
    return path


def parse_target(text: str) -> tuple[str, ...]:
    """Parse what `assign` writes: dotted names below the state. Raises `PathError`."""
    if not text.strip():
        raise PathError("it is empty")
    return _segments(text.split("."))


def _segments(parts: list[str]) -> tuple[str, ...]:
    for part in parts:
        if not part:
            raise PathError("it has an empty part between two dots or at an end")
        if part == "length":
            raise PathError("there is no 'length': paths have names and indexes only")
        if part.startswith("-") and part[1:].isdecimal():
            raise PathError(f"'{part}' is a negative index: indexes count from 0")
        if not all(_legal(c) for c in part):
            raise PathError(f"'{part}' is neither a name nor an index")
    return tuple(parts)


def _legal(character: str) -> bool:
    return character.isalnum() or character in "_-" or unicodedata.category(character)[0] == "M"


def read(value: Any, segments: tuple[str, ...]) -> Any:
    """The value below `value`, or `MISSING`. An index is a segment of decimal digits."""
    for segment in segments:
        if isinstance(value, Mapping):
            value = value.get(segment, MISSING)
        elif isinstance(value, list):
            value = _item(value, segment)
        else:
            return MISSING
    return value


def _item(values: list[Any], segment: str) -> Any:
    # No list is as long as a number of 20 digits; `int` refuses very long ones.
    if not (segment.isascii() and segment.isdecimal() and len(segment) < 20):
        return MISSING
    index = int(segment)
    return values[index] if index < len(values) else MISSING


def write(state: MutableMapping[str, Any], segments: tuple[str, ...], value: Any) -> None:
    """Set a value below `state`; missing, scalar and list parents become objects. Copies `value`."""
    copied = _copy(value)
    *parents, last = segments
    for parent in parents:
        below = state.get(parent)
        if not isinstance(below, MutableMapping):
            below = state[parent] = {}
        state = below
    state[last] = copied


def _copy(value: Any) -> Any:
    """A deep copy of JSON values, which may be nested deeper than recursion goes."""
    top: list[Any] = [value]
    waiting: list[Any] = [top]
    while waiting:
        above = waiting.pop()
        for key, part in list(above.items() if isinstance(above, dict) else enumerate(above)):
            if isinstance(part, dict | list):
                above[key] = part.copy()
                waiting.append(above[key])
    return top[0]
