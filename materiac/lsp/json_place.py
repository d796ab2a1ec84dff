"""Where in JSON a cursor is, be the text sound or not: by the tokens up to there, and a few beyond."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from materiac import json_tokens as lex
from materiac.source import Pointer, Span

STRINGS: Final = frozenset({lex.PLAIN, lex.STRING, lex.SINGLE, lex.UNCLOSED})
_TYPED: Final = STRINGS | {lex.ATOM}
_AHEAD: Final = 20_000
"""So many tokens behind the cursor are looked at for keys that its object has."""

_WORD: Final = re.compile(r"[\w.$-]*")


@dataclass(frozen=True)
class Place:
    """What is typed at a cursor: a key of the object at `pointer`, or the value there.

    `span` is what is replaced by it. `keys` are the other keys of the object that it is in; `string` is the
    part of a string that stands before the cursor, without its quote.
    """

    pointer: Pointer
    is_key: bool
    span: Span
    keys: frozenset[str] = frozenset()
    string: str | None = None
    has_value: bool = False


@dataclass
class _Frame:
    """An object or list that is open: the key, or index, that one is at, and what is expected next."""

    kind: str
    key: str | None = None
    index: int = 0
    keys: list[str] = field(default_factory=list)
    wants: str = "key"

    @property
    def part(self) -> str | int:
        return self.index if self.kind == "[" else self.key or ""


def json_place(text: str, offset: int, start: int = 0) -> Place | None:
    """What is typed at an offset; None where nothing can be. The JSON begins at `start`."""
    frames: list[_Frame] = []
    tokens = lex.tokens(text, start)
    typed: lex.Token | None = None
    following: lex.Token = (lex.END, len(text), len(text))
    for token in tokens:
        kind, begin, end = token
        if kind in _TYPED and begin < offset and (offset < end or (offset == end and _is_open(text, token))):
            typed = token
            continue
        if begin >= offset:
            following = token
            break
        if kind == lex.COMMENT and offset <= end:
            return None
        _step(frames, text, token)
    return _place(text, offset, frames, typed, itertools.chain([following], tokens)) if frames else None


def _is_open(text: str, token: lex.Token) -> bool:
    """Whether what is typed behind a token still belongs to it."""
    kind, begin, end = token
    return kind in (lex.ATOM, lex.UNCLOSED) or (end - begin == 1 and text[begin] in "\"'")


def _step(frames: list[_Frame], text: str, token: lex.Token) -> None:
    kind, begin, end = token
    if kind in ("{", "["):
        frames.append(_Frame(kind, wants="key" if kind == "{" else "value"))
    elif kind in ("}", "]"):
        if frames:
            frames.pop()
        if frames:
            frames[-1].wants = "comma"
    elif frames and kind in (",", ":"):
        _mark(frames[-1], kind)
    elif frames and kind in _TYPED:
        _scalar(frames[-1], value_of(text, kind, begin, end))


def _mark(frame: _Frame, kind: str) -> None:
    if kind == ":":
        frame.wants = "value"
    elif frame.kind == "[":
        frame.index, frame.wants = frame.index + 1, "value"
    else:
        frame.wants = "key"


def _scalar(frame: _Frame, value: str) -> None:
    if frame.kind == "{" and frame.wants != "value":
        frame.key, frame.wants = value, "colon"
        frame.keys.append(value)
    else:
        frame.wants = "comma"


def value_of(text: str, kind: str, begin: int, end: int) -> str:
    """What a string or word stands for, as far as it can be read."""
    if kind not in STRINGS:
        return text[begin:end]
    inside = text[begin + 1 : end - 1] if kind != lex.UNCLOSED else text[begin + 1 : end]
    if "\\" in inside and kind == lex.STRING:
        try:
            return str(json.loads(text[begin:end], strict=False))
        except ValueError:
            return inside
    return inside


def _place(
    text: str, offset: int, frames: list[_Frame], typed: lex.Token | None, rest: Iterator[lex.Token]
) -> Place | None:
    frame = frames[-1]
    is_key = frame.kind == "{" and frame.wants != "value"
    if (typed is None and frame.wants in ("colon", "comma")) or (
        frame.kind == "[" and frame.wants != "value"
    ):
        return None
    span = _span(text, offset, typed)
    after, has_value = _ahead(text, span.end, rest)
    keys = frozenset(frame.keys if is_key else [key for key in frame.keys if key != frame.key])
    string = text[typed[1] + 1 : offset] if typed and typed[0] in STRINGS else None
    pointer: Pointer = tuple(part.part for part in frames)
    return Place(pointer[:-1] if is_key else pointer, is_key, span, keys | after, string, has_value)


def _span(text: str, offset: int, typed: lex.Token | None) -> Span:
    """The token at the cursor; of a string without an end, the word that the cursor is in."""
    if typed is None:
        return Span(offset, offset)
    kind, begin, end = typed
    if kind != lex.UNCLOSED:
        return Span(begin, end)
    match = _WORD.match(text, offset)
    return Span(begin, match.end() if match else offset)


def _ahead(text: str, start: int, tokens: Iterator[lex.Token]) -> tuple[frozenset[str], bool]:
    """The keys behind the cursor in the same object, and whether a colon follows at once."""
    depth, keys, before = 0, set(), ""
    first = True
    has_value = False
    for kind, begin, end in itertools.islice(tokens, _AHEAD):
        if begin < start or kind == lex.COMMENT:
            continue
        if first:
            has_value, first = kind == ":", False
        depth += (kind in ("{", "[")) - (kind in ("}", "]"))
        if depth < 0 or kind == lex.END:
            break
        if depth == 0 and kind == ":" and before:
            keys.add(before)
        before = value_of(text, kind, begin, end) if kind in STRINGS else ""
    return frozenset(keys), has_value
