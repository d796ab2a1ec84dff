"""Text with places: sources, spans, pointers, and documents that know where each value stands."""

from __future__ import annotations

import bisect
import enum
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

_LINE_BREAK = re.compile(r"\r\n|\r|\n")


class Mark(enum.Enum):
    """The last part of a pointer that means the key of a member and not its value."""

    KEY = "key"


KEY = Mark.KEY

Language = Literal["json", "dsl"]

Pointer = tuple[str | int | Mark, ...]
"""The way to a value: keys and indexes from the root; `(*pointer, KEY)` is the key itself."""


class Span(NamedTuple):
    """A half-open range of character offsets."""

    start: int
    end: int


def enclosing(spans: Sequence[Span]) -> list[int]:
    """For each span, of those in order that lie within one another, the index of the one around it, or -1."""
    found: list[int] = []
    opened: list[int] = []
    for index, span in enumerate(spans):
        while opened and spans[opened[-1]].end <= span.start:
            opened.pop()
        found.append(opened[-1] if opened else -1)
        opened.append(index)
    return found


class Position(NamedTuple):
    """A place in a text: line and column, both from 1, columns in characters."""

    line: int
    column: int


@dataclass(frozen=True)
class Source:
    """A text, the name that it is reported under, and the language that it is read as."""

    name: str
    text: str
    language: Language = "json"

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in _LINE_BREAK.finditer(self.text))]

    def position(self, offset: int) -> Position:
        """The line and column of a character offset; lines end with LF, CRLF or a lone CR."""
        line = bisect.bisect_right(self._line_starts, offset)
        return Position(line, offset - self._line_starts[line - 1] + 1)

    def line(self, number: int) -> str:
        """The text of a line, counted from 1, without its line break."""
        start = self._line_starts[number - 1]
        end = self._line_starts[number] if number < len(self._line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")


Spans = Mapping[Pointer, Span]


class Slip(NamedTuple):
    """Something in a text that was meant to say something, and says nothing; with advice."""

    span: Span
    message: str
    help: str


@dataclass(frozen=True)
class Document:
    """The value that a text stands for, and where in the text each part of it stands.

    `index` makes the spans when they are asked for the first time: most documents are sound and
    are never asked. `moved` leads from pointers into `data` to pointers into the text, for the
    parts that were rewritten after reading; the longest prefix counts. `slips` keep no text from
    being read.
    """

    source: Source
    data: Any
    index: Callable[[], Spans]
    moved: Mapping[Pointer, Pointer] = field(default_factory=dict)
    slips: Sequence[Slip] = ()

    @cached_property
    def spans(self) -> Spans:
        return self.index()

    def span(self, pointer: Pointer) -> Span:
        """The span of a value or key; of the nearest one around it, where it was never written."""
        written = self.written(pointer)
        while written and written not in self.spans:
            written = written[:-1]
        return self.spans.get(written, Span(0, 0))

    def written(self, pointer: Pointer) -> Pointer:
        """The pointer into the text for one into `data`."""
        for cut in range(len(pointer), 0, -1):
            origin = self.moved.get(pointer[:cut])
            if origin is not None:
                return origin + pointer[cut:]
        return pointer
