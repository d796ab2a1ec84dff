"""The blocks of a text of the language as its words tell them, be the text sound or not.

A word is looked at where it stands: what was left open before it is closed where it can only stand outside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from materiac.dsl_tree import WORD

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
_HEAD: Final = re.compile(r"^(?:loadout|materia|scenario)[ \t]+\S[^\r\n]*\{", re.MULTILINE)
"""A line that begins a block, and no text, even where quotes above it are still open."""

_CLOSING: Final = {"}": "{", "]": "[", ")": "("}
_TOP: Final = frozenset(
    {"loadout", "materia", "scenario", "scenarios", "import", "artifacts", "active", "agents", "recovery"}
    | {"eventing", "budget", "limits", "parallelism", "about"}
)
_BLOCKS: Final = frozenset({"loadout", "materia", "scenario"})
BARE: Final = frozenset({"word", "string"})
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
    """A block that is open: what it is, the statement that opens it, and the one that is being written.

    `index` is the number of a scenario, `scenarios` how many there are so far.
    """

    kind: str
    head: Sequence[Piece] = ()
    statement: list[Piece] = field(default_factory=list)
    count: int = 0
    index: int = 0
    scenarios: int = 0

    def word(self, index: int) -> str:
        """A word of the head, without its quotes."""
        return self.head[index].text.strip('"') if index < len(self.head) else ""


def pieces(text: str) -> Iterator[Piece]:
    """The words and signs of a text, with what is between them."""
    start: int | None = 0
    while start is not None:
        begin, start = start, None
        for match in _TOKEN.finditer(text, begin):
            kind, end = match.lastgroup or "", match.end()
            if kind == "block" and (head := _HEAD.search(text, match.start(), end)):
                start = end = head.start()
            yield Piece(kind, match.start(), end, "" if kind == "space" else text[match.start() : end])
            if start is not None:
                break


def step(frames: list[Frame], text: str, piece: Piece) -> None:
    """Add a piece to the blocks that are open."""
    _mend(frames, text, piece)
    if piece.text in ("{", "[", "("):
        frame = frames[-1]
        opened = Frame(_opened(frame, piece), (*frame.statement, piece), index=frame.scenarios)
        frame.scenarios += opened.kind == "scenario"
        frames.append(opened)
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
    while frames[-1].kind == "members" and piece.text not in (",", ")") and piece.kind not in BARE:
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
        if piece.kind in BARE and is_id(text, piece):
            return before is None or before.text != "assign"
        return piece.text == "loop" and (before is None or before.kind not in _NAMELESS)
    if frame.kind in ("answers", "replies"):
        return piece.kind in BARE and is_id(text, piece)
    return frame.kind == "scenario" and piece.text in ("agent", "utilities", "expect") and before is not None


_ID: Final = re.compile(r"[ \t]*+[:=](?!>)")


def is_id(text: str, piece: Piece) -> bool:
    """Whether a sign follows that makes a word the id of a socket."""
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
