"""How things are written around a place in a text, so that what is written beside it looks the same."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from materiac.source import KEY, Document, Pointer, Span

_BLANK = " \t"
_SPACE = " \t\r\n"
_BLANKS = re.compile(r"[ \t]*")
_LINE_BREAK = re.compile(r"\r\n?|\n")


class Around(NamedTuple):
    """A text, and the same with spaces in the place of comments."""

    text: str
    bare: str

    def skipped(self, offset: int) -> int:
        """The offset of the first character from here on that is neither space nor comment."""
        while offset < len(self.bare) and self.bare[offset] in _SPACE:
            offset += 1
        return offset

    def skipped_back(self, offset: int) -> int:
        """The offset behind the last character before this one that is neither space nor comment."""
        return len(self.bare[:offset].rstrip(_SPACE))

    def line_start(self, offset: int) -> int:
        """Where the line of an offset begins."""
        return max(self.text.rfind("\n", 0, offset), self.text.rfind("\r", 0, offset)) + 1

    def line_end(self, offset: int) -> int:
        """Where the line of an offset ends, before its line break."""
        match = _LINE_BREAK.search(self.text, offset)
        return match.start() if match else len(self.text)

    def break_end(self, offset: int) -> int:
        """Behind the line break at an offset; the offset itself, where none is."""
        match = _LINE_BREAK.match(self.text, offset)
        return match.end() if match else offset

    def begins_line(self, offset: int) -> bool:
        """Whether nothing but blanks stands before an offset in its line."""
        return not self.text[self.line_start(offset) : offset].strip(_BLANK)

    def has_break(self, start: int, end: int) -> bool:
        return _LINE_BREAK.search(self.text, start, end) is not None

    def indent(self, offset: int) -> str:
        """The blanks that the line of an offset begins with."""
        match = _BLANKS.match(self.text, self.line_start(offset))
        return match[0] if match else ""

    @property
    def line_break(self) -> str:
        match = _LINE_BREAK.search(self.text)
        return match[0] if match else "\n"


def around(document: Document) -> Around:
    """The text of a document with its comments blanked out; JSON has none."""
    text = document.source.text
    if document.source.language == "json":
        return Around(text, text)
    return Around(text, _without_comments(text))


@functools.lru_cache(maxsize=4)
def _without_comments(text: str) -> str:
    from materiac.dsl_tree import comments  # noqa: PLC0415 - what is JSON does without the grammar

    bare, done = [], 0
    for comment in comments(text):
        start, end = comment.span
        bare += [text[done:start], " " * (end - start)]
        done = end
    return "".join([*bare, text[done:]])


def extent(document: Document, at: Pointer) -> Span | None:
    """From the key of a member, or the start of an entry, to its end; None where it is not written."""
    value = document.spans.get(at)
    if value is None:
        return None
    key = document.spans.get((*at, KEY), value)
    start = min(key.start, value.start)
    if start == key.start and document.source.text[start - 1 : start] == "@":
        start -= 1
    return Span(start, max(key.end, value.end))
