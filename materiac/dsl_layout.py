"""The canonical layout of a text of the language: indents, spaces, blank lines; comments stay where they are.

Lines are broken where the author broke them, between parts of statements, and wherever a statement of a file
or a loadout begins.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from materiac.dsl_phrases import lines_of_block
from materiac.dsl_tree import Node, Part, Token, comments, first, string_value

_OPENERS: Final = frozenset({"LBRACE", "LBRACKET", "LPAR"})
_CLOSERS: Final = frozenset({"RBRACE", "RBRACKET", "RPAR"})
_TIGHT: Final = frozenset({"COMMA", "COLON", "OUTPUT"})
_GUARDS: Final = frozenset({"ALWAYS", "SATISFIED", "NOT_SATISFIED"})
_LINED: Final = frozenset({"loadout", "scenario"})
"""What has each of its statements in a line of its own."""

_LOOSE: Final = frozenset(
    {"socket", "edge", "exit", "section", "materia", "loop", "answering", "utilities", "expect"}
    | {"answer", "default", "prompted", "written"}
)
"""What may have line breaks between its parts."""

_SENTENCES: Final = frozenset({"edge", "exit", "answer", "default", "prompted", "written", "failure"})
"""What has no wide spaces between its parts."""

_STAYING: Final = frozenset({"over", "kind", "parse", "reply", "status", "failure"})
_LINE_BREAK = re.compile(r"\r\n|\r|\n")


class _Break(enum.IntEnum):
    """Whether a line begins with a token."""

    NO = 0
    MAY = 1
    """Where the author has it so."""
    MUST = 2


@dataclass(slots=True)
class _Leaf:
    """A token, how deep a line that begins with it stands, and what parts it from the one before.

    `within` is the offset of the bracket that it breaks a line in.
    """

    token: Token
    depth: int
    wrap: _Break
    space: str
    within: int


def laid_out(text: str, tree: Node) -> str:
    """A sound text in this layout, given its tree."""
    walk = _Walk()
    for part in tree.children:
        walk.add(part, 0, _Break.MUST, "", -1)
    return _Writer(text, walk.leaves).run()


class _Walk:
    """Gathers the tokens of a tree in order."""

    def __init__(self) -> None:
        self.leaves: list[_Leaf] = []
        self._guard = 0

    def add(self, part: Part, depth: int, wrap: _Break, space: str, within: int) -> None:
        if not isinstance(part, Node):
            self.leaves.append(_Leaf(part, depth, wrap, space, within))
            return
        if part.data == "socket":
            self._guard = _widest_guard(part)
        bracket, before = within, None
        for child in part.children:
            kind = "" if isinstance(child, Node) else child.type
            if before is None:
                self.add(child, depth, wrap, space, within)
            elif kind in _CLOSERS:
                gap = " " if kind == "RBRACE" and not _is_opener(before) else ""
                self.add(child, depth, _Break.MAY, gap, bracket)
                bracket = within
            else:
                breaks = _wrap(part, child, before)
                inner = depth + (breaks is not _Break.NO or not isinstance(child, Node))
                self.add(child, inner, breaks, self._space(part, child, before), bracket)
            bracket = first(child).start_pos if kind in _OPENERS else bracket
            before = child

    def _space(self, node: Node, child: Part, before: Part) -> str:
        kind = "" if isinstance(child, Node) else child.type
        if kind in _TIGHT or (_is_opener(before) and first(before).type != "LBRACE"):
            return ""
        if (
            isinstance(before, Node)
            and before.data != "parse"
            and isinstance(child, Node)
            and node.data not in _SENTENCES
        ):
            return "  " if child.data not in ("flag", "over", "kind", "failure") else " "
        if node.data == "edge" and kind == "ARROW":
            return " " * (1 + self._guard - _width(first(before)))
        return " "


def _widest_guard(socket: Node) -> int:
    edges = [part for part in socket.children if isinstance(part, Node) and part.data == "edge"]
    return max((_width(first(edge)) for edge in edges if first(edge).type in _GUARDS), default=0)


def _width(token: Token) -> int:
    return token.end_pos - token.start_pos


def _is_opener(part: Part) -> bool:
    return not isinstance(part, Node) and part.type in _OPENERS


def _wrap(node: Node, child: Part, before: Part) -> _Break:
    """Whether a line begins with a part that is not the first of its node."""
    opened = _is_opener(before)
    if node.data in _LINED and (opened or isinstance(child, Node)):
        return _Break.MUST
    if opened or (not isinstance(before, Node) and before.type == "COMMA"):
        return _Break.MAY
    if node.data == "way" and first(child).type == "ARROW":
        return _Break.MAY
    if not isinstance(child, Node) or child.data in _STAYING:
        return _Break.NO
    # The words before the brace of a materia, and the value of a pair or an attribute, stay in their line.
    header = node.data == "materia" and first(child).start_pos < _brace(node)
    return _Break.MAY if node.data in _LOOSE and not header else _Break.NO


def _brace(node: Node) -> int:
    return next(
        part.start_pos for part in node.children if not isinstance(part, Node) and part.type == "LBRACE"
    )


class _Writer:
    """Writes leaves and the comments between them."""

    def __init__(self, text: str, leaves: Sequence[_Leaf]) -> None:
        self._text = text
        self._leaves = leaves
        self._comments = [comment.span for comment in comments(text)]
        self._next = 0
        self._out: list[str] = []
        self._depth = 0

    def run(self) -> str:
        self._spread_brackets()
        before, end = "", 0
        for leaf in self._leaves:
            self._gap(leaf, before, end)
            self._out.append(self._written(leaf.token))
            before, end = leaf.token.type, leaf.token.end_pos
        self._comments_until(len(self._text), end, 0, fresh=not before)
        text = "".join(self._out).lstrip("\n")
        return text if text.endswith("\n") or not text else f"{text}\n"

    def _spread_brackets(self) -> None:
        """Where one line begins within brackets, lines begin behind the opening and with the closing one."""
        end = 0
        spread: set[int] = set()
        for leaf in self._leaves:
            if leaf.within >= 0 and self._breaks(leaf, end):
                spread.add(leaf.within)
            end = leaf.token.end_pos
        opener = -1
        for leaf in self._leaves:
            if leaf.within in spread and (leaf.within == opener or leaf.token.type in _CLOSERS):
                leaf.wrap = _Break.MUST
            opener = leaf.token.start_pos if leaf.token.type in _OPENERS else -1

    def _breaks(self, leaf: _Leaf, end: int) -> bool:
        if leaf.wrap is _Break.MAY:
            return bool(_LINE_BREAK.search(self._text, end, leaf.token.start_pos))
        return leaf.wrap is _Break.MUST

    def _gap(self, leaf: _Leaf, before: str, end: int) -> None:
        """What stands before a token: comments, and a line break or a space."""
        start = leaf.token.start_pos
        closes = leaf.token.type in _CLOSERS
        had, end = self._comments_until(start, end, leaf.depth + closes, fresh=before in {"", *_OPENERS})
        if had or self._breaks(leaf, end):
            fresh = not had and before in {"", *_OPENERS}
            self._line(leaf.depth, blank=not fresh and not closes and self._lines(end, start) > 1)
        elif leaf.token.type == "ARROW" and self._out[-2:-1] != ["\n" + "  " * self._depth]:
            self._out.append(" ")
        else:
            self._out.append(leaf.space)

    def _comments_until(self, start: int, end: int, depth: int, *, fresh: bool) -> tuple[bool, int]:
        """Write the comments before an offset; whether there were any, and where the last one ends."""
        had = False
        while self._next < len(self._comments) and self._comments[self._next].start < start:
            span = self._comments[self._next]
            lines = self._lines(end, span.start)
            if lines or not self._out:
                self._line(depth, blank=lines > 1 and not fresh)
            else:
                self._out.append("  ")
            self._out.append(self._text[span.start : span.end].rstrip(" \t"))
            had, fresh, end = True, False, span.end
            self._next += 1
        return had, end

    def _lines(self, start: int, end: int) -> int:
        return len(_LINE_BREAK.findall(self._text, start, end))

    def _line(self, depth: int, *, blank: bool) -> None:
        if blank:
            self._out.append("\n")
        self._depth = depth
        self._out.append("\n" + "  " * depth)

    def _written(self, token: Token) -> str:
        if token.type != "BLOCK":
            return self._text[token.start_pos : token.end_pos]
        value, _ = string_value(self._text, token)
        return lines_of_block(value or "", self._depth)
