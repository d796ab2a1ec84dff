"""The canonical layout of JSON: what is short stands on one line, all else over lines of two spaces each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from materiac import json_tokens as lex

WIDTH: Final = 100

_UNSEEN = re.compile("[\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


def written(data: Any) -> str:
    """A value as a file, with a line break at its end."""
    return _laid_out(_of_data(data))


def formatted(text: str) -> str:
    """A sound text in this layout. Keys keep their order, and numbers the way in which they are written."""
    return _laid_out(_of_text(text))


def value(data: Any, indent: int, used: int) -> str:
    """A value for a line that is indented by some columns, of which `used` are taken already."""
    return "".join(_lines(_of_data(data), indent, used))


def quoted(text: str) -> str:
    """A string as JSON; what cannot be seen in it is escaped."""
    plain = json.dumps(text, ensure_ascii=False)
    return _UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", plain)


@dataclass(frozen=True, slots=True)
class _Item:
    """A value: as one line, or None where that would be too long; and its parts with what precedes each."""

    line: str | None
    brackets: str = ""
    parts: tuple[tuple[str, _Item], ...] = ()


def _of_data(data: Any) -> _Item:
    if isinstance(data, dict):
        return _container("{}", [(f"{quoted(key)}: ", _of_data(part)) for key, part in data.items()])
    if isinstance(data, list):
        return _container("[]", [("", _of_data(part)) for part in data])
    return _Item(quoted(data) if isinstance(data, str) else json.dumps(data))


def _container(brackets: str, parts: list[tuple[str, _Item]]) -> _Item:
    lines = [part.line for _, part in parts]
    short = [f"{key}{line}" for (key, _), line in zip(parts, lines, strict=True) if line is not None]
    line = None
    if len(short) == len(parts) and sum(map(len, short)) <= WIDTH:
        space = " " if short and brackets == "{}" else ""
        line = f"{brackets[0]}{space}{', '.join(short)}{space}{brackets[1]}"
    return _Item(line, brackets, tuple(parts))


def _of_text(text: str) -> _Item:
    """The value of a sound text, read with a stack of its own."""
    stack: list[tuple[str, str, list[tuple[str, _Item]]]] = [("", "", [])]
    key = ""
    for kind, start, end in lex.tokens(text):
        if kind in ("{", "["):
            stack.append((key, kind, []))
            key = ""
        elif kind in ("}", "]"):
            before, _, parts = stack.pop()
            stack[-1][2].append((before, _container("{}" if kind == "}" else "[]", parts)))
        elif kind == ":":
            key = f"{stack[-1][2].pop()[1].line}: "
        elif kind in (lex.PLAIN, lex.STRING):
            stack[-1][2].append((key, _Item(quoted(json.loads(text[start:end])))))
            key = ""
        elif kind == lex.ATOM:
            stack[-1][2].append((key, _Item(text[start:end])))
            key = ""
    return stack[0][2][0][1]


def _laid_out(item: _Item) -> str:
    """A whole file: its outermost value is never on one line, but when there is nothing in it."""
    if item.parts:
        item = _Item(None, item.brackets, item.parts)
    return "".join(_lines(item, 0, 0)) + "\n"


def _lines(item: _Item, indent: int, used: int) -> Iterator[str]:
    """The pieces of a value; `used` counts the columns before it, and what has to follow in its line."""
    stack: list[tuple[_Item, int, int, str]] = [(item, indent, used, "")]
    while stack:
        part, depth, taken, after = stack.pop()
        if part.line is not None and (not part.parts or taken + len(part.line) + len(after) <= WIDTH):
            yield part.line + after
            continue
        yield part.brackets[0]
        stack.append((_Item(f"\n{' ' * depth}{part.brackets[1]}{after}"), 0, 0, ""))
        for index in range(len(part.parts) - 1, -1, -1):
            key, inner = part.parts[index]
            comma = "," if index < len(part.parts) - 1 else ""
            stack.append((inner, depth + 2, depth + 2 + len(key), comma))
            stack.append((_Item(f"\n{' ' * (depth + 2)}{key}"), 0, 0, ""))
