"""The body of a request: an event as it is, or a form of the sink's own, filled in."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from materiac import path, template

Json = dict[str, Any]

FIELDS: Final = frozenset(
    {
        "id", "type", "severity", "message", "payload", "source", "castId", "n", "at",
        "socket", "materia", "visit", "itemKey", "itemLabel", "stream",
    }
)  # fmt: skip
"""What an event may have, and so what a map may refer to."""

_ALONE: Final = re.compile(r"\{\{([^{}]*)\}\}")


def encoded(event: Json, form: Any) -> bytes:
    """An event as JSON in UTF-8; with a `form`, that with its references filled in.

    Raises `ValueError` and `RecursionError` where that cannot be written.
    """
    value = event if form is None else _filled(form, event)
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # A lone surrogate has no UTF-8; its backslash form is the JSON escape.
    return text.encode("utf-8", "backslashreplace")


def _filled(form: Any, event: Json) -> Any:
    if isinstance(form, dict):
        return {key: _filled(part, event) for key, part in form.items()}
    if isinstance(form, list):
        return [_filled(part, event) for part in form]
    return _text(form, event) if isinstance(form, str) else form


def _text(text: str, event: Json) -> Any:
    """A text with its references filled in; a reference alone gives the value, of whatever type."""
    alone = _ALONE.fullmatch(text)
    if alone is not None:
        value = _look_up(alone[1].strip(), event)
        return text if value is path.MISSING else value
    return template.fill(text, lambda name: _look_up(name, event))


def _look_up(name: str, event: Json) -> Any:
    """None for a field that this event lacks; `MISSING` for what is no field of any."""
    first, *rest = name.split(".")
    if first not in FIELDS:
        return path.MISSING
    value = path.read(event, (first, *rest))
    return None if value is path.MISSING else value
