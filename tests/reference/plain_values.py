"""JSON values as the reference speaks of them: conditions, paths, work items."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from typing import Any

Json = dict[str, Any]

MISSING: Any = object()
"""No value; null is one."""

KNOWN: dict[str, Callable[[Any], bool]] = {
    "workItems": lambda value: isinstance(value, list),
    "satisfied": lambda value: isinstance(value, bool),
    "context": lambda value: isinstance(value, str),
    "text": lambda value: isinstance(value, str),
    "event": lambda value: isinstance(value, list) and all("type" in event for event in value),
}
"""The fields that have a type wherever they come, and whether a value is of it."""


def holds(condition: str | None, verdict: bool | None) -> bool:
    """Whether `when` holds: JSON true satisfies, JSON false does not, nothing else does either."""
    if condition == "satisfied":
        return verdict is True
    return verdict is False if condition == "not_satisfied" else True


def is_work_item(value: Any) -> bool:
    """Whether a value is a title and a context, neither of them blank, and no more."""
    if not isinstance(value, dict) or value.keys() != {"title", "context"}:
        return False
    return all(isinstance(part, str) and part.strip() for part in value.values())


def whole_object(text: str) -> Json | None:
    """The object that a text is, with nothing around it."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def compact(value: Json) -> str:
    """An object as `lastOutput` holds it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def below(value: Any, segments: Sequence[str]) -> Any:
    """The value at some segments below another, or MISSING."""
    for segment in segments:
        if isinstance(value, dict):
            value = value.get(segment, MISSING)
        elif isinstance(value, list) and segment.isdecimal() and int(segment) < len(value):
            value = value[int(segment)]
        else:
            return MISSING
    return value


def write(state: Json, segments: Sequence[str], value: Any) -> None:
    """Set a copy of a value; parents that are no objects become objects."""
    *parents, last = segments
    for parent in parents:
        if not isinstance(state.get(parent), dict):
            state[parent] = {}
        state = state[parent]
    state[last] = copy.deepcopy(value)
