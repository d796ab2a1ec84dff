"""Texts as an editor holds them: places counted in its units, and changes of parts."""

from __future__ import annotations

import bisect
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Final, Literal, NamedTuple

from pygls import uris

from materiac.source import Language, Source, Span

Units = Literal["utf-8", "utf-16", "utf-32"]
"""What the columns of an editor count."""

_LINE_BREAK: Final = re.compile(r"\r\n|\r|\n")
_HALF: Final = re.compile("[\ud800-\udfff]")
_MARK: Final = "\ufeff"
_CODECS: Final = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2)}


LARGE: Final = 100_000
"""A text of so many characters takes long to read, and others are not to wait for it."""


def path_of(uri: str) -> Path | None:
    """The file of a URI, if it has one."""
    path = uris.to_fs_path(uri)
    return Path(os.path.normpath(path)) if path and "\0" not in path else None


class Spot(NamedTuple):
    """A place in a text as editors count it: line and column, both from 0, columns in their units."""

    line: int
    column: int


class Change(NamedTuple):
    """New text for a range; without a range, for all."""

    text: str
    start: Spot | None = None
    end: Spot | None = None


@dataclass(frozen=True)
class Lines:
    """A text by lines, for counting in the units of an editor."""

    text: str
    units: Units = "utf-16"

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in _LINE_BREAK.finditer(self.text))]

    def spot(self, offset: int) -> Spot:
        """The place of a character offset."""
        offset = max(0, min(offset, len(self.text)))
        offset -= self.text[offset - 1 : offset + 1] == "\r\n"
        line = bisect.bisect_right(self._starts, offset) - 1
        return Spot(line, self._width(self.text[self._starts[line] : offset]))

    def offset(self, spot: Spot) -> int:
        """The character offset of a place; of the nearest, where a line or the text ends before it."""
        if spot.line < 0:
            return 0
        if spot.line >= len(self._starts):
            return len(self.text)
        start = self._starts[spot.line]
        line = _LINE_BREAK.sub("", self.text[start : self._end(spot.line)])
        if line.isascii() or self.units == "utf-32":
            return start + max(0, min(spot.column, len(line)))
        return start + self._characters(line, spot.column)

    def _end(self, line: int) -> int:
        return self._starts[line + 1] if line + 1 < len(self._starts) else len(self.text)

    def _characters(self, line: str, column: int) -> int:
        """How many characters lie before a column; one that it would part is not counted."""
        width = 0
        for index, character in enumerate(line):
            width += self._width(character)
            if width > column:
                return index
        return len(line)

    def _width(self, text: str) -> int:
        if self.units == "utf-32" or text.isascii():
            return len(text)
        codec, size = _CODECS[self.units]
        return len(text.encode(codec, "surrogatepass")) // size


@dataclass(frozen=True)
class Buffer:
    """A file that is open in an editor, as it is there.

    Offsets are those of `source`, which has no byte-order mark and no half characters.
    """

    uri: str
    name: str
    text: str
    language: Language
    version: int | None = None
    units: Units = "utf-16"

    @cached_property
    def source(self) -> Source:
        return Source(self.name, _HALF.sub("\ufffd", self.text.removeprefix(_MARK)), self.language)

    @property
    def is_large(self) -> bool:
        return len(self.text) >= LARGE

    @cached_property
    def raw(self) -> bytes:
        """What its file would hold."""
        return self.source.text.encode()

    @cached_property
    def _lines(self) -> Lines:
        return Lines(self.text, self.units)

    @property
    def _lead(self) -> int:
        return int(self.text.startswith(_MARK))

    def spot(self, offset: int) -> Spot:
        return self._lines.spot(offset + self._lead)

    def range(self, span: Span) -> tuple[Spot, Spot]:
        return self.spot(span.start), self.spot(span.end)

    def offset(self, spot: Spot) -> int:
        return max(0, self._lines.offset(spot) - self._lead)

    def changed(self, version: int | None, changes: Iterable[Change]) -> Buffer:
        """The buffer after changes, each of them to what those before it left."""
        text = self.text
        for change in changes:
            text = _with(text, change, self.units)
        return replace(self, text=text, version=version)


def _with(text: str, change: Change, units: Units) -> str:
    if change.start is None or change.end is None:
        return change.text
    lines = Lines(text, units)
    start, end = lines.offset(change.start), lines.offset(change.end)
    return text[:start] + change.text + text[max(start, end) :]
