"""Comments that mean something: `# materiac: ignore[rule] reason`, before a statement or behind it."""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence
from typing import Any, Final

from materiac.dsl_scope import Filler
from materiac.dsl_tree import Comment, comments
from materiac.json_tokens import Fault
from materiac.source import Pointer, Span

ATTRIBUTE: Final = "x-materiac"

IGNORE = re.compile(r"#[ \t]*materiac:[ \t]*ignore\[([\w-]+)\](?:[ \t]+(\S(?:.*\S)?))?[ \t]*")
_DIRECTIVE = re.compile(r"#[ \t]*materiac:")
_REST = re.compile(r"(?:[ \t\r\n]+|#[^\r\n]*+)*+")


Marks = Sequence[tuple[Span, Pointer]]
"""Statements that a finding can be about: their places and their pointers."""


def add_directives(text: str, built: Filler) -> None:
    """Add what the directives of a text say to the statements that they belong to."""
    if built.findings or not _DIRECTIVE.search(text):
        return
    statements = _Statements(text, built.marks)
    for comment in comments(text):
        words = text[comment.span.start : comment.span.end]
        if not _DIRECTIVE.match(words):
            continue
        match, owner = IGNORE.fullmatch(words), statements.owner(comment)
        if match is None:
            _report(built, comment, "directive is no 'ignore[rule] reason'")
        elif owner is None:
            help_ = "it stands before a socket, edge, loop, materia or loadout, or at the end of its line"
            _report(built, comment, "directive belongs to no statement", help_)
        else:
            _ignore(built, owner[1], match, comment.span)


def hoisted(text: str, marks: Marks) -> str:
    """The text with each directive at the end of a line of several statements moved before its statement."""
    if not _DIRECTIVE.search(text):
        return text
    statements = _Statements(text, marks)
    edits: list[tuple[int, int, str]] = []
    for comment in comments(text):
        start, end = comment.span.start, comment.span.end
        owner = statements.owner(comment)
        if comment.own_line or owner is None or not _DIRECTIVE.match(text, start):
            continue
        if not statements.stands_alone(owner[0].start, start):
            edits += [(start, end, ""), (owner[0].start, owner[0].start, f"\n{text[start:end]}\n")]
    for start, end, new in sorted(edits, key=lambda edit: edit[0], reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _report(built: Filler, comment: Comment, message: str, help_: str | None = None) -> None:
    built.report(Fault(message, comment.span.start, comment.span.end, help_))


class _Statements:
    """The statements of a text in written order."""

    def __init__(self, text: str, marks: Marks) -> None:
        self._text = text
        self._marks = sorted(marks, key=lambda mark: mark[0].start)
        self._starts = [span.start for span, _ in self._marks]

    def owner(self, comment: Comment) -> tuple[Span, Pointer] | None:
        """The statement behind a comment on a line of its own; else the first in its line, else around it."""
        if comment.own_line:
            return self._behind(comment.span.end)
        line = self._line(comment.span.start)
        index = bisect.bisect_left(self._starts, line)
        if index < len(self._marks) and self._starts[index] < comment.span.start:
            return self._marks[index]
        before = (self._marks[at] for at in range(index - 1, -1, -1))
        return next((mark for mark in before if mark[0].end >= line), None)

    def _behind(self, end: int) -> tuple[Span, Pointer] | None:
        rest = _REST.match(self._text, end)
        following = rest.end() if rest else end
        index = bisect.bisect_left(self._starts, following)
        found = index < len(self._marks) and self._starts[index] == following
        return self._marks[index] if found else None

    def _line(self, offset: int) -> int:
        return max(self._text.rfind("\n", 0, offset), self._text.rfind("\r", 0, offset)) + 1

    def stands_alone(self, start: int, end: int) -> bool:
        """Whether the words before an offset stay in one line: those of one statement and its edges."""
        line = self._line(end)
        words = self._text[line:end].strip(" \t")
        if "}" in words:
            return words == "}"
        if start < line:
            return True
        first, behind = bisect.bisect_left(self._starts, line), bisect.bisect_left(self._starts, end)
        inside = all("edges" in at[2:] for _, at in self._marks[first + 1 : behind])
        return inside and not self._text[line:start].strip(" \t")


def _ignore(built: Filler, at: Pointer, match: re.Match[str], place: Span) -> None:
    owner: Any = built.value_at(at)
    here = (*at, ATTRIBUTE)
    if not isinstance(owner, dict) or (ATTRIBUTE in owner and (*here, "ignore") not in built.directed):
        words = (
            f"directive stands beside '@{ATTRIBUTE}'" if isinstance(owner, dict) else "directive at no object"
        )
        built.report(Fault(words, place.start, place.end))
        return
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
