"""Texts in pieces, so that edits made one after the other become edits of the first text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

TextEdit = tuple[int, int, str]
"""Start, end, and what stands there instead; offsets are in characters."""


class _Piece(NamedTuple):
    """A range of the first text, or, where `new` is not None, a text that came in its place."""

    start: int
    end: int
    new: str | None = None

    def part(self, start: int, end: int) -> _Piece:
        if self.new is not None:
            return _Piece(self.start, self.end, self.new[start:end])
        return _Piece(self.start + start, self.start + end)

    def __len__(self) -> int:
        return self.end - self.start if self.new is None else len(self.new)


class Pieces:
    """A text that edits are made in, each on what those before it have made of it."""

    def __init__(self, text: str) -> None:
        self._length = len(text)
        self._pieces = [_Piece(0, len(text))]

    def apply(self, edits: Sequence[TextEdit]) -> None:
        """Make edits, which are in order and do not overlap."""
        made: list[_Piece] = []
        done = 0
        for start, end, new in edits:
            made += [*self._between(done, start), _Piece(0, 0, new)]
            done = end
        made += self._between(done, sum(map(len, self._pieces)))
        self._pieces = [piece for piece in made if len(piece)]

    def _between(self, start: int, end: int) -> Iterator[_Piece]:
        offset = 0
        for piece in self._pieces:
            first, last = max(start - offset, 0), min(end - offset, len(piece))
            if first < last:
                yield piece.part(first, last)
            offset += len(piece)

    def edits(self) -> list[TextEdit]:
        """The edits of the first text that make the same of it."""
        found: list[TextEdit] = []
        done, new = 0, ""
        for piece in [*self._pieces, _Piece(self._length, self._length)]:
            if piece.new is not None:
                new += piece.new
                continue
            if new or piece.start > done:
                found.append((done, piece.start, new))
            done, new = piece.end, ""
        return found


def edited(text: str, edits: Iterable[TextEdit]) -> str:
    """A text with edits made in it, which are in order and do not overlap."""
    parts, done = [], 0
    for start, end, new in edits:
        parts += [text[done:start], new]
        done = end
    return "".join([*parts, text[done:]])
