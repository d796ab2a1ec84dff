"""Where in a text of the language a cursor is, be the text sound or not.

The text is cut down to the heads of the blocks around the cursor and the statement that it is in: what is
wrong elsewhere does not matter then, and the grammar says what may come next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from materiac import dsl_text
from materiac.dsl_tree import WORD
from materiac.lsp.dsl_frames import Frame, Piece, is_id, pieces, step
from materiac.source import Span


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
    for piece in pieces(text):
        if piece.start >= offset:
            break
        if piece.kind == "comment" and offset <= piece.end:
            return None
        if _is_typed(text, piece, offset):
            typed = piece
            break
        if piece.kind not in ("comment", "space"):
            step(frames, text, piece)
    return _place(text, offset, frames, typed)


def _is_typed(text: str, piece: Piece, offset: int) -> bool:
    if piece.kind in ("word", "attribute"):
        return offset <= piece.end
    if piece.kind in ("string", "block"):
        closed = piece.end - piece.start > 1 and text[piece.end - 1] == '"'
        return offset < piece.end or (offset == piece.end and not closed)
    return False


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
    return piece.text if is_id(text, piece) else f"{piece.text} "


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
