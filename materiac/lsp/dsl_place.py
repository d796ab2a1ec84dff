"""Where in a text of the language a cursor is, be the text sound or not.

The text is cut down to the heads of the blocks around the cursor and the statement that it is in: what is
wrong elsewhere does not matter then, and the grammar says what may come next.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from materiac import dsl_text
from materiac.dsl_tree import WORD
from materiac.source import Span

_QUOTED: Final = r'"(?:[^"\\\r\n]++|\\[^\r\n])*+'
_TOKEN: Final = re.compile(
    rf"""(?P<block>\"\"\"[ \t]*+(?:\r\n?+|\n)(?s:.*?)(?:(?<=[\r\n])[ \t]*+\"\"\"|\Z))
    | (?P<string>{_QUOTED}(?:"|(?=[\r\n]|\Z)))
    | (?P<comment>\#[^\r\n]*+)
    | (?P<attribute>@(?:{_QUOTED}"?|{WORD.pattern})?)
    | (?P<arrow>->)
    | (?P<word>{WORD.pattern})
    | (?P<mark>[{{}}\[\](),:=])
    | (?P<space>[ \t\r\n]++)
    | (?P<junk>(?s:.))""",
    re.VERBOSE,
)
_CLOSING: Final = {"}": "{", "]": "[", ")": "("}
_TOP: Final = frozenset(
    {"loadout", "materia", "scenario", "scenarios", "import", "artifacts", "active", "agents", "recovery"}
    | {"eventing", "budget", "limits", "parallelism", "about"}
)
_BLOCKS: Final = frozenset({"loadout", "materia", "scenario"})
_BARE: Final = frozenset({"word", "string"})
_JSON_HEADS: Final = frozenset({"agents", "recovery", "eventing", "params", "cost", "script", "property"})
_SECTIONS: Final = frozenset({"budget", "limits", "parallelism"})
_NAMELESS: Final = frozenset({"arrow", "attribute"})


class Piece(NamedTuple):
    """A word or sign of a text, by what it looks like."""

    kind: str
    start: int
    end: int
    text: str


@dataclass
class Frame:
    """A block that is open: what it is, the statement that opens it, and the one that is being written."""

    kind: str
    head: Sequence[Piece] = ()
    statement: list[Piece] = field(default_factory=list)
    count: int = 0

    def word(self, index: int) -> str:
        """A word of the head, without its quotes."""
        return self.head[index].text.strip('"') if index < len(self.head) else ""


@dataclass(frozen=True)
class Place:
    """What is typed at a cursor: in which blocks, the types of the tokens before it, and what may come.

    `expected` are terminals; None where the statement is not sound up to the cursor. `json` is the offset
    at which JSON begins that the cursor is in, `string` the part of a string before it.
    """

    frames: tuple[Frame, ...]
    types: tuple[str, ...]
    texts: tuple[str, ...]
    expected: frozenset[str] | None
    span: Span
    json: int | None = None
    string: str | None = None

    def inside(self, kind: str) -> Frame | None:
        return next((frame for frame in self.frames if frame.kind == kind), None)


def dsl_place(text: str, offset: int) -> Place | None:
    """What is typed at an offset; None within a comment."""
    frames = [Frame("top")]
    typed: Piece | None = None
    for piece in _pieces(text):
        if piece.start >= offset:
            break
        if piece.kind == "comment" and offset <= piece.end:
            return None
        if _is_typed(text, piece, offset):
            typed = piece
            break
        if piece.kind not in ("comment", "space"):
            _step(frames, text, piece)
    return _place(text, offset, frames, typed)


def _pieces(text: str) -> Iterator[Piece]:
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        yield Piece(kind, match.start(), match.end(), "" if kind == "space" else match[0])


def _is_typed(text: str, piece: Piece, offset: int) -> bool:
    if piece.kind in ("word", "attribute"):
        return offset <= piece.end
    if piece.kind in ("string", "block"):
        closed = piece.end - piece.start > 1 and text[piece.end - 1] == '"'
        return offset < piece.end or (offset == piece.end and not closed)
    return False


def _step(frames: list[Frame], text: str, piece: Piece) -> None:
    _mend(frames, text, piece)
    if piece.text in ("{", "[", "("):
        frame = frames[-1]
        frames.append(Frame(_opened(frame, piece), (*frame.statement, piece)))
        return
    if piece.text in _CLOSING:
        if len(frames) > 1:
            closed = frames.pop()
            _closed(frames[-1], closed, piece)
        return
    frame = frames[-1]
    if _begins(frame, text, piece):
        frame.statement = []
    frame.statement.append(piece)
    frame.count += 1


def _mend(frames: list[Frame], text: str, piece: Piece) -> None:
    """Close what was left open, where a piece can only stand outside of it."""
    if piece.text in _BLOCKS and (piece.start == 0 or text[piece.start - 1] in "\r\n"):
        del frames[1:]
        frames[0].statement = []
    while frames[-1].kind == "members" and piece.text not in (",", ")") and piece.kind not in _BARE:
        closed = frames.pop()
        frames[-1].statement = [*closed.head, *closed.statement]


def _closed(frame: Frame, closed: Frame, piece: Piece) -> None:
    """Go on behind a block: its statement is over, or has what was in parentheses."""
    frame.count += 1
    if closed.kind == "members":
        frame.statement = [*closed.head, *closed.statement, piece]
    else:
        frame.statement = []


def _begins(frame: Frame, text: str, piece: Piece) -> bool:
    """Whether a piece begins another statement."""
    before = frame.statement[-1] if frame.statement else None
    if frame.kind == "top":
        return piece.text in _TOP and (before is None or len(frame.statement) != 1)
    if frame.kind == "loadout":
        if piece.kind in _BARE and _is_id(text, piece):
            return before is None or before.text != "assign"
        return piece.text == "loop" and (before is None or before.kind not in _NAMELESS)
    if frame.kind in ("answers", "replies"):
        return piece.kind in _BARE and _is_id(text, piece)
    return frame.kind == "scenario" and piece.text in ("agent", "utilities", "expect") and before is not None


_ID: Final = re.compile(r"[ \t]*+[:=](?!>)")


def _is_id(text: str, piece: Piece) -> bool:
    return _ID.match(text, piece.end) is not None


def _opened(frame: Frame, piece: Piece) -> str:
    """What kind of block a bracket opens."""
    words = [part.text for part in frame.statement]
    last = words[-1] if words else ""
    if piece.text == "(":
        return "members"
    if frame.kind == "json" or last in (*_JSON_HEADS, "=", "usage") or last.startswith("@"):
        return "json"
    if piece.text == "[":
        return f"list:{last}" if frame.kind == "materia" else "json"
    return _block(frame.kind, words, last)


def _block(kind: str, words: Sequence[str], last: str) -> str:
    first = words[0] if words else ""
    if kind == "top":
        return "section" if first in _SECTIONS else first or "json"
    if kind == "loadout":
        return "loop" if first == "loop" else "json"
    if kind == "scenario" and "expect" in words:
        return "expect"
    if kind == "scenario" and last in ("agent", "utilities"):
        return "answers"
    return "json"


def _place(text: str, offset: int, frames: list[Frame], typed: Piece | None) -> Place:
    span = Span(typed.start, typed.end) if typed else Span(offset, offset)
    string = None
    if typed is not None and typed.kind in ("string", "block"):
        string = (
            text[typed.start : offset].lstrip('"')
            if typed.kind == "block"
            else text[typed.start + 1 : offset]
        )
        if typed.kind == "block" or not text.endswith('"', 0, typed.end) or typed.end - typed.start == 1:
            span = Span(typed.start, max(offset, _word_end(text, offset)))
    json = next((frame.head[-1].start for frame in frames if frame.kind == "json"), None)
    if json is not None:
        return Place(tuple(frames), (), (), frozenset(), span, json, string)
    known = dsl_text.unfinished(_cut_down(text, frames))
    if known is None:
        statement = frames[-1].statement or list(frames[-1].head)
        types, texts, expected = _guessed(statement), tuple(part.text for part in statement), None
    else:
        types = tuple(token.type for token in known[0])
        texts = tuple(str(token) for token in known[0])
        expected = known[1]
    return Place(tuple(frames), types, texts, expected, span, string=string)


def _word_end(text: str, offset: int) -> int:
    match = WORD.match(text, offset)
    return match.end() if match else offset


def _cut_down(text: str, frames: Sequence[Frame]) -> str:
    pieces = [piece for frame in frames for piece in frame.head] + frames[-1].statement
    return "".join(f"{piece.text} " if piece.kind != "word" else _spaced(text, piece) for piece in pieces)


def _spaced(text: str, piece: Piece) -> str:
    """A word as it stands; its colon tells it from others, and has to stay where it is."""
    return piece.text if _is_id(text, piece) else f"{piece.text} "


def _guessed(statement: Sequence[Piece]) -> tuple[str, ...]:
    terminals = {word: terminal for terminal, word in dsl_text.keywords().items()}
    signs = {
        "->": "ARROW",
        ":": "COLON",
        "=": "EQUALS",
        ",": "COMMA",
        "(": "LPAR",
        "[": "LBRACKET",
        "{": "LBRACE",
    }
    return tuple(signs.get(part.text) or terminals.get(part.text, "WORD") for part in statement)
