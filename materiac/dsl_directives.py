"""Comments that mean something: `# materiac: ignore[rule] reason`, before a statement or behind it."""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from materiac.dsl_scope import Filler
from materiac.dsl_tree import Comment, comments
from materiac.source import Pointer, Slip, Span, enclosing

ATTRIBUTE: Final = "x-materiac"

IGNORE = re.compile(r"#[ \t]*materiac:[ \t]*ignore\[([\w-]+)\](?:[ \t]+(\S(?:.*\S)?))?[ \t]*")
_DIRECTIVE = re.compile(r"#[ \t]*materiac:")
_LIKE_ONE = re.compile(
    r"#[ \t]*materiac:[ \t]*(?:(?i:ignore)\b.*|[\w-]*(?:\[.*)?)[ \t]*"
    r"|#[#! \t]*(?i:materiac(?:[ \t]*[:=-][ \t]*|[ \t]+)ign[\w-]*)[ \t]*\[.*"
)
"""Comments that were meant as a directive, and no prose: `ignore`, a word alone, or one with brackets."""

_OWNERS: Final = (
    "it stands before a socket, edge, loop, property, materia or loadout, or at the end of its line"
)
FORM: Final = "write '# materiac: ignore[<rule>] <why>'"
_LINE_BREAK = re.compile(r"\r\n|\r|\n")
_REST = re.compile(r"(?:[ \t\r\n]+|#[^\r\n]*+)*+")


Marks = Sequence[tuple[Span, Pointer]]
"""Statements that a finding can be about: their places and their pointers."""


def add_directives(text: str, built: Filler) -> Sequence[Slip]:
    """Add what the directives of a text say to the statements that they belong to; those that say nothing."""
    if built.findings or "materiac" not in text.casefold():
        return ()
    return tuple(_added(text, built))


def _added(text: str, built: Filler) -> Iterator[Slip]:
    statements = _Statements(text, built.marks)
    for comment in comments(text):
        words = text[comment.span.start : comment.span.end]
        match = IGNORE.fullmatch(words)
        if match is None:
            if _LIKE_ONE.fullmatch(words):
                yield Slip(comment.span, "comment looks like a suppression, and is none", FORM)
        elif (owner := statements.owner(comment)) is None:
            yield Slip(comment.span, "suppression belongs to no statement", _OWNERS)
        elif (why := _misplaced(built, owner[1])) is not None:
            yield Slip(comment.span, *why)
        else:
            _ignore(built, owner[1], match, comment.span)


def hoisted(text: str, laid_out: str, statements: Callable[[str], Marks]) -> str:
    """The text, with directives moved before their statements where its layout gives them to other ones.

    At the end of a line a directive belongs to what the line begins with. When one is moved, all that
    stand behind parts of its statement move along: they keep their order.
    """
    if not _DIRECTIVE.search(text):
        return text
    marks = statements(text)
    starts = {pointer: span.start for span, pointer in marks}
    trailing = list(_trailing(text, marks))
    others = _trailing(laid_out, statements(laid_out))
    moving = {mine for (_, mine), (_, other) in zip(trailing, others, strict=True) if mine != other}
    edits: list[tuple[int, int, str]] = []
    for place, owner in trailing:
        if owner is not None and owner in moving:
            start = starts[owner]
            edits += [(place.start, place.end, ""), (start, start, f"\n{text[place.start : place.end]}\n")]
    return _edited(text, sorted(edits, key=lambda edit: edit[0]))


def _trailing(text: str, marks: Marks) -> Iterator[tuple[Span, Pointer | None]]:
    """The directives at the ends of lines, and the pointers to the statements that they belong to."""
    statements = _Statements(text, marks)
    for comment in comments(text):
        if not comment.own_line and _DIRECTIVE.match(text, comment.span.start):
            owner = statements.owner(comment)
            yield comment.span, owner[1] if owner is not None else None


def _edited(text: str, edits: Sequence[tuple[int, int, str]]) -> str:
    """A text with parts of it replaced, which are given in order."""
    pieces, done = [], 0
    for start, end, new in edits:
        pieces += [text[done:start], new]
        done = end
    return "".join([*pieces, text[done:]])


class _Statements:
    """The statements of a text in written order."""

    def __init__(self, text: str, marks: Marks) -> None:
        self._text = text
        self._marks = sorted(marks, key=lambda mark: mark[0].start)
        self._starts = [span.start for span, _ in self._marks]
        self._around = enclosing([span for span, _ in self._marks])
        self._lines = [0, *(match.end() for match in _LINE_BREAK.finditer(text))]
        self._following = -1

    def owner(self, comment: Comment) -> tuple[Span, Pointer] | None:
        """The statement behind a comment on a line of its own; else the first in its line, else around it."""
        if comment.own_line:
            return self._behind(comment.span.end)
        line = self._line(comment.span.start)
        index = bisect.bisect_left(self._starts, line)
        if index < len(self._marks) and self._starts[index] < comment.span.start:
            return self._marks[index]
        at = index - 1
        while at >= 0 and self._marks[at][0].end < line:
            at = self._around[at]
        return self._marks[at] if at >= 0 else None

    def _behind(self, end: int) -> tuple[Span, Pointer] | None:
        # Comments come in order: those of one run have the same behind them, which is looked for once.
        if end > self._following and (rest := _REST.match(self._text, end)):
            self._following = rest.end()
        index = bisect.bisect_left(self._starts, self._following)
        found = index < len(self._marks) and self._starts[index] == self._following
        return self._marks[index] if found else None

    def _line(self, offset: int) -> int:
        return self._lines[bisect.bisect_right(self._lines, offset) - 1]


def _misplaced(built: Filler, at: Pointer) -> tuple[str, str] | None:
    """Why nothing can be said about a statement, with advice."""
    owner = built.value_at(at)
    if not isinstance(owner, dict):
        return "suppression stands at no object", _OWNERS
    if ATTRIBUTE in owner and (*at, ATTRIBUTE, "ignore") not in built.directed:
        return f"suppression stands beside '@{ATTRIBUTE}'", f"say it in 'ignore' of '@{ATTRIBUTE}'"
    return None


def _ignore(built: Filler, at: Pointer, match: re.Match[str], place: Span) -> None:
    here = (*at, ATTRIBUTE)
    owner: Any = built.value_at(at)
    entries = owner.setdefault(ATTRIBUTE, {"ignore": []})["ignore"]
    built.directed.add((*here, "ignore"))
    entry = {"rule": match[1]} | ({"reason": match[2]} if match[2] else {})
    spot = (*here, "ignore", len(entries))
    entries.append(entry)
    for pointer in (here, (*here, "ignore"), spot):
        built.spans.setdefault(pointer, place)
    for group, key in enumerate(entry, 1):
        begin, end = match.span(group)
        built.spans[*spot, key] = Span(place.start + begin, place.start + end)
