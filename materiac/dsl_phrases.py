"""The small parts of statements as text of the language: names, values, attributes, blocks, directives.

Lines are broken here and not indented: the layout sees to that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from materiac import json_print
from materiac.dsl_directives import ATTRIBUTE, IGNORE
from materiac.dsl_tree import WORD, block_lines

Fields = dict[str, Any]

_NO_BLOCK = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]"
)


def name(text: str) -> str:
    """A name: bare where it is a word, else as a string."""
    return text if WORD.fullmatch(text) else json_print.quoted(text)


def text(word: str, value: str, indent: int = 0) -> str:
    """A text behind a word: a block if it has lines or is long, else a string."""
    long = "\n" in value or indent + len(word) + len(value) + 3 > json_print.WIDTH
    return f"{word} {lines_of_block(value, 0) if long else json_print.quoted(value)}"


def lines_of_block(value: str, depth: int) -> str:
    """A block in a line that is `depth` levels deep; a string, where a block would not show all of it."""
    lines = block_lines(value)
    filled = [line for line in lines if line.strip(" \t")]
    indented = all(line[0] == filled[0][0] for line in filled) and filled[0][0] in " \t" if filled else True
    if indented or _NO_BLOCK.search(value):
        return json_print.quoted(value)
    indent = "  " * depth
    inside = [f"{indent}  {line}" if line else "" for line in lines]
    return "\n".join(['"""', *inside, f'{indent}"""'])


def json(word: str, value: Any, indent: int = 0) -> str:
    """A value behind a word."""
    if isinstance(value, str):
        return text(word, value, indent)
    return f"{word} {json_print.value(value, indent, indent + len(word) + 1)}"


def attribute(key: str, value: Any, indent: int = 0) -> str:
    """What has no syntax of its own."""
    return json(f"@{name(key)}", value, indent)


def block(head: str, parts: Sequence[str], *, few: int) -> str:
    """Parts in braces: on one line, if they are no more than `few` and short, else a line each."""
    line = f"{head} {{ {'  '.join(parts)} }}" if parts else f"{head} {{ }}"
    if len(parts) <= few and "\n" not in line and len(line) <= json_print.WIDTH:
        return line
    return "\n".join([f"{head} {{", *parts, "}"])


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def are_texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def options(value: Any, *needed: str, allowed: Sequence[str] = ()) -> Mapping[str, str] | None:
    """An object whose values are texts, if it has the needed keys and none but these and the allowed."""
    if not isinstance(value, dict) or not all(isinstance(part, str) for part in value.values()):
        return None
    return value if set(needed) <= value.keys() <= {*needed, *allowed} else None


def phrases(words: Sequence[str], values: Mapping[str, str]) -> str:
    """Each of the words that has a value, with it."""
    return "".join(f" {word} {name(values[word])}" for word in words if word in values)


def directives(fields: Fields) -> tuple[str, Fields]:
    """The lines of the directives that `x-materiac` stands for, and the other fields; none, if it is more."""
    match fields.get(ATTRIBUTE):
        case {"ignore": [_, *_] as entries, **rest} if not rest:
            lines = [_directive(entry) for entry in entries]
            if all(lines):
                others = {key: value for key, value in fields.items() if key != ATTRIBUTE}
                return "".join(f"{line}\n" for line in lines), others
    return "", fields


def _directive(entry: Any) -> str | None:
    said: str | None
    match entry:
        case {"rule": str(rule), "reason": str(reason), **rest} if reason and not rest:
            line, said = f"# materiac: ignore[{rule}] {reason}", str(reason)
        case {"rule": str(rule), **rest} if not rest:
            line, said = f"# materiac: ignore[{rule}]", None
        case _:
            return None
    match = IGNORE.fullmatch(line)
    kept = match is not None and match[1] == rule and match[2] == said
    return line if kept and not re.search(r"[\r\n]", line) and not _NO_BLOCK.search(line) else None
