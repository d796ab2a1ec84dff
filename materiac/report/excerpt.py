"""The line that a finding is about, made safe for a terminal, and how far under it the carets stand."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from materiac.diagnostic import Place

GUTTER: Final = 5
"""Columns for the line number; with the bar after it a line begins at a tab stop."""

_WIDEST: Final = 160
_BEFORE: Final = 60
_TAB: Final = 8
_UNSAFE = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)


class Excerpt(NamedTuple):
    """A line to show, what fills the line below it up to the carets, and how many carets there are."""

    number: int
    line: str
    padding: str
    carets: int

    @property
    def columns(self) -> int:
        """How many columns the padding and the carets take."""
        return _columns(self.padding, 0) + self.carets


def excerpt(place: Place) -> Excerpt:
    """The first line of a place. A long line is cut around it; an empty place has one caret."""
    position = place.source.position(place.span.start)
    line = place.source.line(position.line)
    begin = min(position.column - 1, len(line))
    end = begin + place.span.end - place.span.start
    if end > len(line):
        end = max(begin, len(line.rstrip()))
    line, begin, end = _window(line, begin, end)
    line = safe(line)
    # A gutter of another width would move the tab stops; only files of 100,000 lines have one.
    gutter = max(GUTTER, len(str(position.line))) + len(" | ")
    start = _columns(line[:begin], gutter)
    padding = "\t".join(" " * width(part) for part in line[:begin].split("\t"))
    return Excerpt(position.line, line, padding, max(1, _columns(line[:end], gutter) - start))


def safe(text: str) -> str:
    """A text whose control characters cannot do anything; tabs stay, and so does the length."""
    return _UNSAFE.sub(_picture, text)


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"


def width(text: str) -> int:
    """The columns that a safe text without tabs takes on a terminal."""
    if text.isascii():
        return len(text)
    from wcwidth import wcswidth  # noqa: PLC0415 - most lines are ASCII and do without its tables

    return max(0, wcswidth(text))


def _columns(text: str, start: int) -> int:
    first, *rest = text.split("\t")
    column = start + width(first)
    for part in rest:
        column += _TAB - column % _TAB + width(part)
    return column


def _window(line: str, begin: int, end: int) -> tuple[str, int, int]:
    """Cut a long line around `begin`, and move the offsets along."""
    if len(line) <= _WIDEST and _columns(safe(line), 0) <= _WIDEST:
        return line, begin, end
    left, room = begin, _BEFORE
    while left > 0 and (room := room - _cost(line[left - 1])) >= 0:
        left -= 1
    while left < begin and not (line[left].isascii() or width(safe(line[left]))):
        left += 1
    right, room = begin, _WIDEST - 2 - _BEFORE + max(0, room)
    while right < len(line) and (room := room - _cost(line[right])) >= 0:
        right += 1
    head, tail = "…" if left else "", "…" if right < len(line) else ""
    moved = len(head) - left
    return f"{head}{line[left:right]}{tail}", begin + moved, min(end, right) + moved


def _cost(character: str) -> int:
    """The most columns a character may take; never none, so that a window has an end."""
    return _TAB if character == "\t" else max(1, width(safe(character)))
