"""What an edit makes of the value of a document."""

from __future__ import annotations

import json
from itertools import takewhile
from typing import Any, Final

from materiac.diagnostic import Edit, Insertion, Move, Removal, Replacement
from materiac.source import KEY, Pointer

IMPOSSIBLE: Final = object()
"""What comes of an edit that finds no place."""


def after(data: Any, edit: Edit) -> Any:
    """The value with an edit made in it; the one that is given stays as it is."""
    try:
        return _after(data, edit)
    except (LookupError, TypeError):
        return IMPOSSIBLE


def holder(data: Any, edit: Edit) -> Pointer:
    """The pointer to the innermost object or list that an edit is all within."""
    at, found = edit.at, 0
    if isinstance(edit, Move):
        at = tuple(one for one, other in takewhile(_alike, zip(edit.at, edit.to, strict=False)))
    elif not isinstance(edit, Insertion):
        at = at[:-2] if at[-1:] == (KEY,) else at[:-1]
    for part in at:
        if not isinstance(data, dict | list) or not _has(data, part):
            break
        data, found = data[part], found + 1  # type: ignore[index]
    return at[:found]


def _alike(pair: tuple[Any, Any]) -> bool:
    return bool(pair[0] == pair[1])


def _has(data: dict[str, Any] | list[Any], part: Any) -> bool:
    return part in data if isinstance(data, dict) else isinstance(part, int) and part < len(data)


def lacking(data: Any, at: Pointer) -> Pointer | None:
    """The way to the outermost of what has to be made, so that there is something at a pointer."""
    for depth, part in enumerate(at, 1):
        if not isinstance(data, dict | list) or not _has(data, part):
            return at[:depth]
        data = data[part]  # type: ignore[index]
    return None


def within(edit: Edit, base: Pointer) -> Edit:
    """An edit of a whole as one of what stands at a pointer."""
    if isinstance(edit, Move):
        return Move(edit.at[len(base) :], edit.to[len(base) :])
    return edit._replace(at=edit.at[len(base) :])


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON, whatever order keys have; 1, 1.0 and true are three values."""
    return one == other and json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def value_at(data: Any, at: Pointer) -> Any:
    """The value at a pointer. Raises `LookupError` or `TypeError` where there is none."""
    for part in at:
        data = data[part]
    return data


def _after(data: Any, edit: Edit) -> Any:
    match edit:
        case Removal(at):
            return _changed(data, at[:-1], lambda parent: _without(parent, at[-1]))
        case Replacement((*way, last, mark), new) if mark is KEY:
            return _changed(data, tuple(way), lambda parent: _renamed(parent, last, new))
        case Replacement(at, value):
            value_at(data, at)
            return _changed(data, at, lambda _: value)
        case Insertion(at, value, key):
            return _inserted(data, at, key, value)
        case Move(at, to):
            value = value_at(data, at)
            return _inserted(_after(data, Removal(at)), to[:-1], to[-1], value)


def _changed(data: Any, way: Pointer, change: Any) -> Any:
    if not way:
        return change(data)
    first, *rest = way
    if isinstance(data, list):
        inner = _changed(value_at(data, (first,)), tuple(rest), change)
        return [inner if index == first else entry for index, entry in enumerate(data)]
    return {**data, first: _changed(data[first], tuple(rest), change)}


def _without(parent: Any, part: Any) -> Any:
    value_at(parent, (part,))
    if isinstance(parent, list):
        return [entry for index, entry in enumerate(parent) if index != part]
    return {key: value for key, value in parent.items() if key != part}


def _renamed(parent: Any, old: Any, new: str) -> Any:
    if new in parent:
        raise LookupError(new)
    value_at(parent, (old,))
    return {new if key == old else key: value for key, value in parent.items()}


def _inserted(data: Any, at: Pointer, key: Any, value: Any) -> Any:
    if not at:
        return _added(data, key, value)
    first, *rest = at
    if isinstance(data, dict) and first not in data:
        inner: Any = [] if not rest and key is None else {}
        return {**data, first: _inserted(inner, tuple(rest), key, value)}
    return _changed(data, (first,), lambda inner: _inserted(inner, tuple(rest), key, value))


def _added(parent: Any, key: Any, value: Any) -> Any:
    if key is None and isinstance(parent, list):
        return [*parent, value]
    if not isinstance(parent, dict) or key is None or key in parent:
        raise LookupError(key)
    return {**parent, key: value}
