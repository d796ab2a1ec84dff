"""Where two JSON values differ, in short lines that do nothing to a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

NOTHING: Final = object()
"""The value of what is not there; JSON's null is one that is."""

_MOST: Final = 80
"""How many characters of a text or a value are shown."""
_BEFORE: Final = 20
"""How many of them stand before the difference where the text is longer than that."""
_DEEPEST: Final = 8
"""How far down in a value a difference is looked for."""


class Difference(NamedTuple):
    """The place in the value, as in `env[0]`, and what is there in both; None where nothing is."""

    at: str
    old: str | None
    new: str | None


def differences(old: Any, new: Any, at: str = "", depth: int = 0) -> Iterator[Difference]:
    """All places at which two values differ, `at` being that of the values themselves."""
    if same(old, new):
        return
    if depth < _DEEPEST and isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys((*old, *new)):
            inner = f"{at}.{_segment(key)}" if at else _segment(key)
            yield from differences(old.get(key, NOTHING), new.get(key, NOTHING), inner, depth + 1)
    elif depth < _DEEPEST and isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from differences(one, other, f"{at}[{index}]", depth + 1)
    elif isinstance(old, str) and isinstance(new, str) and not (_is_short(old) and _is_short(new)):
        yield from text_difference(old, new, at)
    else:
        yield Difference(at, *_both(old, new))


def text_difference(old: str, new: str, at: str) -> Iterator[Difference]:
    """The line and column where two texts begin to differ, and what both have there."""
    if old == new:
        return
    begins = _agreement(old, new)
    line, start_of_line = old.count("\n", 0, begins) + 1, old.rfind("\n", 0, begins) + 1
    start = max(start_of_line, begins - _BEFORE)
    cut = "…" if start > start_of_line else ""
    place = f"differs at line {line}, column {begins - start_of_line + 1}:"
    yield Difference(f"{at} {place}".lstrip(), cut + quoted(old[start:]), cut + quoted(new[start:]))


def same(one: Any, other: Any) -> bool:
    """Whether two values are written the same, which 1 and 1.0 are not."""
    if one is NOTHING or other is NOTHING:
        return one is other
    return written(one) == written(other)


def written(value: Any) -> str:
    """The JSON of a value, with its keys in order."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def quoted(text: str) -> str:
    """The beginning of a text in quotes, with escapes for what is no plain character."""
    return f"{text[:_MOST]!r}{'…' if len(text) > _MOST else ''}"


def brief(value: Any, start: int = 0) -> str:
    """A value in one line: a text as `quoted`, of anything else its JSON from `start` on."""
    if isinstance(value, str):
        return quoted(value)
    text = written(value)
    shown = "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text[start : start + _MOST])
    return f"{'…' if start else ''}{shown}{'…' if start + _MOST < len(text) else ''}"


def _segment(key: str) -> str:
    return key if key.isidentifier() and len(key) <= _MOST else quoted(key)


def _is_short(text: str) -> bool:
    return len(text) <= _MOST and "\n" not in text


def _both(old: Any, new: Any) -> tuple[str | None, str | None]:
    if old is NOTHING or new is NOTHING:
        return None if old is NOTHING else brief(old), None if new is NOTHING else brief(new)
    one, other = written(old), written(new)
    is_long = max(len(one), len(other)) > _MOST
    start = max(0, _agreement(one, other) - _BEFORE) if is_long else 0
    return brief(old, start), brief(new, start)


def _agreement(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))
