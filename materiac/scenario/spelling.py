"""JSON for people: what fits into a line stands in one."""

from __future__ import annotations

import json
from typing import Any, Final

_WIDTH: Final = 100


def spelled(value: Any) -> str:
    """A value as the text of a file."""
    return f"{_lines(value, '', 0)}\n"


def _lines(value: Any, indent: str, before: int) -> str:
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or not value or before + len(indent) + len(line) <= _WIDTH:
        return line
    inner = f"{indent}  "
    if isinstance(value, list):
        parts = [_lines(part, inner, 0) for part in value]
        if all(not isinstance(part, dict | list) for part in value):
            return f"[\n{_filled(parts, inner)}\n{indent}]"
        opening, closing = "[", "]"
    else:
        keys = [f"{json.dumps(key, ensure_ascii=False)}: " for key in value]
        parts = [key + _lines(part, inner, len(key)) for key, part in zip(keys, value.values(), strict=True)]
        opening, closing = "{", "}"
    listed = ",\n".join(f"{inner}{part}" for part in parts)
    return f"{opening}\n{listed}\n{indent}{closing}"


def _filled(parts: list[str], indent: str) -> str:
    """Parts as words of a paragraph."""
    lines = [indent]
    for index, part in enumerate(parts):
        word = part if index == len(parts) - 1 else f"{part},"
        if len(lines[-1]) + 1 + len(word) > _WIDTH and lines[-1].strip():
            lines.append(indent)
        lines[-1] += word if not lines[-1].strip() else f" {word}"
    return "\n".join(lines)
