"""What a text of the language says is gathered in scopes: values, with the places of all their parts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from materiac import json_tokens as lex
from materiac.diagnostic import Finding, Related, Severity
from materiac.dsl_tree import Node, Part, Token, first, span, string_value
from materiac.json_reader import MAX_DEPTH
from materiac.source import KEY, Pointer, Span

MARKS: Final = frozenset(
    {"LBRACE", "RBRACE", "LBRACKET", "RBRACKET", "LPAR", "RPAR", "COMMA", "COLON", "EQUALS"}
)
"""Terminals that stand for no value."""

_UNITS: Final = {"ms": 1, "s": 1_000, "m": 60_000}
_TIME = re.compile(rf"([0-9]{{1,{lex.MAX_DIGITS}}})(ms|s|m)")


@dataclass(slots=True)
class Scope:
    """An object or list that is being filled: where it is, and the places of the keys that it has."""

    data: Any
    at: Pointer
    keys: dict[str, Span] = field(default_factory=dict)
    inner: dict[str, Scope] = field(default_factory=dict)


class Filler:
    """Fills scopes from parts of a tree, and knows then where each value stands and what was wrong.

    `marks` are the statements that a finding can be about, in written order, with their pointers;
    `directed` are the pointers to what directives have said.
    """

    def __init__(self, text: str) -> None:
        self.spans: dict[Pointer, Span] = {}
        self.findings: list[Finding] = []
        self.marks: list[tuple[Span, Pointer]] = []
        self.directed: set[Pointer] = set()
        self._root: dict[str, Any] = {}
        self._text = text

    def fill(self, parts: Sequence[Part], scope: Scope) -> None:
        """Fill a scope from those parts that are nodes, each by the method of its name."""
        for part in parts:
            if isinstance(part, Node):
                getattr(self, part.data)(part, scope)

    def value_at(self, pointer: Pointer) -> Any:
        """What has been built at a pointer to a statement."""
        value: Any = self._root
        for part in pointer:
            value = value[part]
        return value

    def put(self, scope: Scope, key: str, written: Span, value: Any, place: Span) -> None:
        if key in scope.keys:
            self._repeated(key, written, scope.keys[key])
            return
        scope.keys[key] = written
        scope.data[key] = value
        self.spans[*scope.at, key, KEY] = written
        self.spans[*scope.at, key] = place

    def _repeated(self, key: str, written: Span, before: Span) -> None:
        related = (Related(before, "first written here"),)
        words = f"repeated key {lex.shortened(key)}"
        self.findings.append(Finding("duplicate-key", Severity.ERROR, words, written, related))

    def string(self, scope: Scope, key: str, written: Token, token: Token) -> None:
        self.put(scope, key, span(written), self.name(token), span(token))

    def json(self, scope: Scope, key: str, written: Span, part: Part) -> None:
        if key in scope.keys:
            self._repeated(key, written, scope.keys[key])
            return
        self.put(scope, key, written, self.value(part, (*scope.at, key)), span(part))

    def within(self, scope: Scope, key: str, part: Part, *, kind: type = dict) -> Scope:
        """The scope of a member that several statements fill; its place is from the first to the last."""
        here, place = scope.inner.get(key), span(part)
        if here is None:
            here = scope.inner[key] = Scope(kind(), (*scope.at, key))
            self.put(scope, key, span(first(part)), here.data, place)
        elif here.data is scope.data.get(key):
            self.spans[here.at] = Span(self.spans[here.at].start, place.end)
        return here

    def open(self, scope: Scope, token: Token, node: Node) -> Scope:
        """The scope of a new object that has a name, or of one that is left alone where it had it before."""
        name = self.name(token)
        inner = Scope({}, (*scope.at, name))
        self.marks.append((span(node), inner.at))
        self.put(scope, name, span(token), inner.data, span(node))
        return inner

    def appended(self, scope: Scope, key: str, node: Node) -> Scope:
        """The scope of a new object at the end of a list."""
        entries = self.within(scope, key, node, kind=list)
        inner = Scope({}, (*entries.at, len(entries.data)))
        entries.data.append(inner.data)
        self.spans[inner.at] = span(node)
        return inner

    def report(self, fault: lex.Fault) -> None:
        at = Span(fault.start, fault.end)
        self.findings.append(Finding("syntax", Severity.ERROR, fault.message, at, help=fault.help))

    def too_deep(self, token: Token) -> None:
        start = token.start_pos
        self.report(lex.Fault(f"nested more than {MAX_DEPTH} levels deep", start, start + 1))

    def name(self, token: Token) -> str:
        value, faults = string_value(self._text, token)
        for fault in faults:
            self.report(fault)
        return value or ""

    def value(self, part: Part, at: Pointer) -> Any:
        self.spans[at] = span(part)
        if not isinstance(part, Node):
            return self._scalar(part)
        if len(at) == MAX_DEPTH:
            self.too_deep(first(part))
            return None
        return self._array(part, at) if part.data == "array" else self._object(part, at)

    def _array(self, node: Node, at: Pointer) -> list[Any]:
        entries: list[Any] = []
        for part in node.children:
            if isinstance(part, Node) or part.type not in MARKS:
                entries.append(self.value(part, (*at, len(entries))))
        return entries

    def _object(self, node: Node, at: Pointer) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        scope = Scope(fields, at)
        for member in node.children:
            if isinstance(member, Node):
                key, _, value = member.children
                name = self.name(first(key))
                self.put(scope, name, span(key), self.value(value, (*at, name)), span(value))
        return fields

    def _scalar(self, token: Token) -> Any:
        if token.type != "WORD":
            return self.name(token)
        start, end = token.start_pos, token.end_pos
        words = f"found {lex.shortened(self._text[start:end])}, expected a value"
        no_value = None, lex.Fault(words, start, end, "a string has double quotes")
        value, fault = lex.atom_value(self._text, start, end) or no_value
        if fault is not None:
            self.report(fault)
        return value

    def number(self, scope: Scope, key: str, written: Span, token: Part) -> None:
        """Put a number, which stands as a bare word."""
        word = self.text_of(first(token))
        value, fault = lex.atom_value(word, 0, len(word)) or (None, None)
        if fault is None and (isinstance(value, bool) or not isinstance(value, int | float)):
            fault = lex.Fault(f"found {lex.shortened(word)}, expected a number", 0, 0)
        if fault is not None:
            self.report(fault._replace(start=span(token).start, end=span(token).end))
        self.put(scope, key, written, value, span(token))

    def time(self, scope: Scope, key: str, word: Token, time: Token) -> None:
        """Put a time in milliseconds, which stands as a number with its unit."""
        match = _TIME.fullmatch(self.text_of(time))
        if match is None:
            words = f"found {lex.shortened(self.text_of(time))}, expected a time such as '30s' or '500ms'"
            self.report(lex.Fault(words, time.start_pos, time.end_pos))
            return
        self.put(scope, key, span(word), int(match[1]) * _UNITS[match[2]], span(time))

    def text_of(self, token: Token) -> str:
        return self._text[token.start_pos : token.end_pos]

    def names(self, scope: Scope, key: str, word: Span, parts: Sequence[Part], place: Span) -> None:
        """A list of names."""
        names = [part for part in parts if not isinstance(part, Node) and part.type not in MARKS]
        for index, name in enumerate(names):
            self.spans[*scope.at, key, index] = span(name)
        self.put(scope, key, word, [self.name(name) for name in names], place)

    def raw(self, scope: Scope, parts: Sequence[Part], node: Node) -> None:
        """A member by name whose value is written as JSON."""
        name, _, value = parts
        self.marks.append((span(node), (*scope.at, self.name(first(name)))))
        self.json(scope, self.name(first(name)), span(name), value)

    def words(self, scope: Scope, tokens: Sequence[Token]) -> None:
        """Pairs of a keyword, which is the key, and a name."""
        for word, value in zip(tokens[::2], tokens[1::2], strict=True):
            self.string(scope, self.text_of(word), word, value)

    def member(self, scope: Scope, key: str, word: Token, node: Node) -> Scope:
        inner = Scope({}, (*scope.at, key))
        self.put(scope, key, span(word), inner.data, span(node))
        return inner
