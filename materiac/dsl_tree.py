"""What a text of the language is made of: tokens with places, the nodes above them, comments beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from materiac import json_tokens
from materiac.source import Span

WORD = re.compile(r"(?:[\w.$+\u0300-\u036f\u0591-\u05bd\u064b-\u065f\u0900-\u0dff\u0e31-\u0e4e]++|-(?!>))++")
"""What is a name without quotes: the terminal of that name in the grammar."""

BLOCK: Final = r'"""[ \t]*+(?:\r\n?+|\n)(?s:.*?)(?<=[\r\n])[ \t]*+"""'
STRING: Final = r'"(?:[^"\\\r\n]++|\\[^\r\n])*+"'
_COMMENT = re.compile(rf"{BLOCK}|{STRING}|(?P<comment>#[^\r\n]*+)")
_LINE_BREAK = re.compile(r"\r\n|\r|\n")
_LATE_QUOTES = re.compile(r'([ \t]*)\\(\\*""")')
_BARE: Final = frozenset({"WORD", "SOCKET_ID"})


class Token(Protocol):
    """A word of the text: the name of its terminal, and its offsets."""

    type: str
    start_pos: int
    end_pos: int


class Node:
    """A rule of the grammar that matched: its name, and its tokens and nodes in written order."""

    __slots__ = ("children", "data")

    def __init__(self, data: str, children: list[Token | Node]) -> None:
        self.data = data
        self.children = children


Part = Token | Node


def first(part: Part) -> Token:
    """The first token of a part that is not empty."""
    while isinstance(part, Node):
        part = part.children[0]
    return part


def last(part: Part) -> Token:
    """The last token of a part that is not empty."""
    while isinstance(part, Node):
        part = part.children[-1]
    return part


def span(part: Part) -> Span:
    """From the first token of a part to its last."""
    return Span(first(part).start_pos, last(part).end_pos)


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment, and whether nothing but white space stands before it in its line."""

    span: Span
    own_line: bool


def comments(text: str) -> Iterator[Comment]:
    """The comments of a sound text, in order."""
    end = 0
    for match in _COMMENT.finditer(text) if "#" in text else ():
        if match.lastgroup == "comment":
            # A line break ends a comment: the line of this one begins behind the comment before it.
            before = _LINE_BREAK.split(text[end : match.start()])[-1]
            end = match.end()
            yield Comment(Span(*match.span()), own_line=not before.strip(" \t"))


def string_value(text: str, token: Token) -> tuple[str | None, list[json_tokens.Fault]]:
    """The value of a word, string or block, with its faults; None where it has none."""
    start, end = token.start_pos, token.end_pos
    if token.type in _BARE:
        return text[start:end], []
    if token.type == "BLOCK":
        return _block_value(text[start:end]), []
    plain = text[start + 1 : end - 1]
    if "\\" not in plain and plain.isprintable():
        return plain, []
    return json_tokens.string_value(text, start, end)


def _block_value(block: str) -> str:
    """The lines between the quotes, without what all that are not blank are indented by."""
    _, *lines, _ = _LINE_BREAK.split(block)
    filled = [line for line in lines if line.strip(" \t")]
    indent = ""
    if filled:
        indent = filled[0][: len(filled[0]) - len(filled[0].lstrip(" \t"))]
    for line in filled:
        indent = _shared(indent, line)
    return "\n".join(_unquoted(line, indent) for line in lines)


def _shared(indent: str, line: str) -> str:
    while not line.startswith(indent):
        indent = indent[:-1]
    return indent


def _unquoted(line: str, indent: str) -> str:
    line = line[len(indent) :] if line.startswith(indent) else ""
    return _LATE_QUOTES.sub(r"\1\2", line, count=1) if _LATE_QUOTES.match(line) else line


def block_lines(value: str) -> list[str]:
    """The lines that stand between the quotes of a block of this value, without an indent."""
    return [re.sub(r'^([ \t]*)(\\*""")', r"\1\\\2", line) for line in value.split("\n")]
