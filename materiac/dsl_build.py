"""The tree of a text of the language to the value that the text stands for, and the places of its parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from materiac import json_tokens as lex
from materiac.dsl_scenario import ScenarioFiller
from materiac.dsl_scope import Scope
from materiac.dsl_tree import Node, Token, first, last, span
from materiac.source import Span

KEYS: Final = {
    "ARTIFACTS": "artifactDir",
    "ACTIVE": "activeLoadout",
    "VISITS": "maxVisits",
    "BYTES": "maxOutputBytes",
}
"""The keys that a keyword writes, where it is not the key itself."""

_VERDICTS: Final = frozenset({"ALWAYS", "SATISFIED", "NOT_SATISFIED"})
_OUTPUT: Final = ".workItems"


class Builder(ScenarioFiller):
    """Builds once: after `run`, `data` is the value, if there are no `findings`.

    There is a method for each rule of the grammar, named after it: it adds what it reads to a scope.
    """

    @property
    def data(self) -> dict[str, Any]:
        return self._root

    def run(self, tree: Node) -> None:
        """Build the value of a whole text."""
        self.spans[()] = Span(0, len(self._text))
        self.fill(tree.children, Scope(self._root, ()))

    def attribute(self, node: Node, scope: Scope) -> None:
        sign, value = node.children
        start, end = first(sign).start_pos, first(sign).end_pos
        key: str | None = self._text[start + 1 : end]
        if self._text.startswith('"', start + 1):
            key, faults = lex.string_value(self._text, start + 1, end)
            for fault in faults:
                self.report(fault)
        self.json(scope, key or "", Span(start + 1, end), value)

    # The frame.

    def import_(self, node: Node, scope: Scope) -> None:
        _, path = _tokens(node)
        paths = self.within(scope, "import", node, kind=list)
        self.spans[*paths.at, len(paths.data)] = span(path)
        paths.data.append(self.name(path))

    def text_setting(self, node: Node, scope: Scope) -> None:
        word, value = _tokens(node)
        self.string(scope, KEYS.get(word.type) or self.text_of(word), word, value)

    text_part = entry = description = about = request = text_setting

    def json_setting(self, node: Node, scope: Scope) -> None:
        word, value = node.children
        self.json(scope, self.text_of(first(word)), span(word), value)

    json_part = usage = json_setting

    def section(self, node: Node, scope: Scope) -> None:
        word = first(node)
        inner = Scope({}, (*scope.at, self.text_of(word)))
        place = Span(first(node.children[1]).start_pos, last(node).end_pos)
        self.put(scope, self.text_of(word), span(word), inner.data, place)
        self.fill(node.children, inner)

    def pair(self, node: Node, scope: Scope) -> None:
        key, value = node.children
        self.json(scope, self.name(first(key)), span(key), value)

    # Loadouts.

    def loadout(self, node: Node, scope: Scope) -> None:
        self.fill(node.children, self._block("loadouts", node, scope))

    def _block(self, container: str, node: Node, scope: Scope) -> Scope:
        return self.open(self.within(scope, container, node), first(node.children[1]), node)

    def raw_loadout(self, node: Node, scope: Scope) -> None:
        self.raw(self.within(scope, "loadouts", node), node.children[1:], node)

    def socket(self, node: Node, scope: Scope) -> None:
        name, _, third = node.children[:3]
        inner = self.open(self.within(scope, "sockets", node), first(name), node)
        if not isinstance(third, Node):
            self.string(inner, "materia", third, third)
        self.fill(node.children, inner)

    def raw_socket(self, node: Node, scope: Scope) -> None:
        self.raw(self.within(scope, "sockets", node), node.children, node)

    def parse(self, node: Node, scope: Scope) -> None:
        word = first(node)
        self.put(scope, "parse", span(word), self.text_of(word), span(word))

    def limit(self, node: Node, scope: Scope) -> None:
        word, number = node.children
        self.number(self.within(scope, "limits", node), KEYS[first(word).type], span(word), number)

    def assign(self, node: Node, scope: Scope) -> None:
        _, target, _, source = _tokens(node)
        self.string(self.within(scope, "assign", node), self.name(target), target, source)

    def foreach(self, node: Node, scope: Scope) -> None:
        word, items, *rest = _tokens(node)
        inner = self.member(scope, "foreach", word, node)
        self.string(inner, "items", items, items)
        self.words(inner, rest)

    def advance(self, node: Node, scope: Scope) -> None:
        word, cursor, over, items, *rest = _tokens(node)
        inner = self.member(scope, "advance", word, node)
        self.string(inner, "cursor", cursor, cursor)
        self.string(inner, "items", over, items)
        self._guarded(inner, rest)

    def _guarded(self, scope: Scope, tokens: Sequence[Token]) -> None:
        for word, value in zip(tokens[::2], tokens[1::2], strict=True):
            guard = self.text_of(value) if word.type == "WHEN" else self.name(value)
            self.put(scope, self.text_of(word), span(word), guard, span(value))

    def edge(self, node: Node, scope: Scope) -> None:
        inner = self.appended(scope, "edges", node)
        self.marks.append((self.spans[inner.at], inner.at))
        tokens = [child for child in node.children if not isinstance(child, Node)]
        if tokens[0].type in _VERDICTS:
            guard = tokens.pop(0)
            self.put(inner, "when", span(guard), self.text_of(guard), span(guard))
        self.string(inner, "to", tokens[0], tokens[1])
        if tokens[2:]:
            self.number(inner, "maxTraversals", span(tokens[2]), tokens[3])
        self.fill(node.children, inner)

    # Loops.

    def loop(self, node: Node, scope: Scope) -> None:
        loop = self.open(self.within(scope, "loops", node), first(node.children[1]), node)
        opening, closing = (self._find(node, kind) for kind in ("LPAR", "RPAR"))
        place = Span(first(node.children[opening]).start_pos, first(node.children[closing]).end_pos)
        self.names(loop, "sockets", Span(place.start, place.start + 1), node.children[opening:closing], place)
        self.fill(node.children, loop)

    @staticmethod
    def _find(node: Node, kind: str) -> int:
        return next(
            i for i, part in enumerate(node.children) if not isinstance(part, Node) and part.type == kind
        )

    def raw_loop(self, node: Node, scope: Scope) -> None:
        self.raw(self.within(scope, "loops", node), node.children[1:], node)

    def over(self, node: Node, scope: Scope) -> None:
        word, source, *rest = _tokens(node)
        inner = self.member(scope, "consumes", word, node)
        name, place = self.name(source), span(source)
        output = span(rest.pop(0)) if rest and rest[0].type == "OUTPUT" else None
        if source.type == "WORD" and name.endswith(_OUTPUT) and name != _OUTPUT:
            name = name.removesuffix(_OUTPUT)
            output = Span(place.end - len(_OUTPUT), place.end)
            place = Span(place.start, output.start)
        self.put(inner, "from", place, name, place)
        if output is not None:
            output = Span(output.start + 1, output.end)
            self.put(inner, "output", output, _OUTPUT[1:], output)
        self.words(inner, rest)

    def items(self, node: Node, scope: Scope) -> None:
        inner = self.member(scope, "iterator", first(node), node)
        self.words(inner, _tokens(node))

    def parallel(self, node: Node, scope: Scope) -> None:
        word, number = node.children
        inner = self.member(scope, "parallel", first(word), node)
        self.number(inner, "maxConcurrency", span(word), number)

    def exit(self, node: Node, scope: Scope) -> None:
        inner = self.appended(scope, "exits", node)
        word, source, *rest = (child for child in node.children if not isinstance(child, Node))
        self.string(inner, "from", word, source)
        if rest[0].type in _VERDICTS:
            guard = rest.pop(0)
            self.put(inner, "condition", span(guard), self.text_of(guard), span(guard))
        self.string(inner, "targetSocketId", *rest)
        self.fill(node.children, inner)

    # Properties.

    def _property(self, node: Node, scope: Scope) -> Scope:
        inner = self.appended(scope, "properties", node)
        self.marks.append((span(node), inner.at))
        return inner

    def never(self, node: Node, scope: Scope) -> None:
        self.words(self._property(node, scope), _tokens(node))

    def every(self, node: Node, scope: Scope) -> None:
        inner = self._property(node, scope)
        every, path, source, _, target, passes, through = _tokens(node)
        ends = (source, target)
        self.names(inner, "every path", _around(every, path), ends, _around(*ends))
        self.string(inner, "passes", passes, through)

    def after(self, node: Node, scope: Scope) -> None:
        inner = self._property(node, scope)
        after, every, source, comes, target = _tokens(node)
        self.put(inner, "after every", _around(after, every), self.name(source), span(source))
        self.string(inner, "comes", comes, target)

    def most(self, node: Node, scope: Scope) -> None:
        inner = self._property(node, scope)
        at, most, number, of, socket, between, source, _, target = _tokens(node)
        self.number(inner, "at most", _around(at, most), number)
        self.string(inner, "of", of, socket)
        self.names(inner, "between", span(between), (source, target), _around(source, target))

    def property(self, node: Node, scope: Scope) -> None:
        entries = self.within(scope, "properties", node, kind=list)
        at = (*entries.at, len(entries.data))
        self.marks.append((span(node), at))
        entries.data.append(self.value(node.children[1], at))

    # Materia.

    def materia(self, node: Node, scope: Scope) -> None:
        self.fill(node.children, self._block("materia", node, scope))

    def raw_materia(self, node: Node, scope: Scope) -> None:
        self.raw(self.within(scope, "materia", node), node.children[1:], node)

    def kind(self, node: Node, scope: Scope) -> None:
        word = first(node)
        self.put(scope, "type", span(word), self.text_of(word), span(word))

    def flag(self, node: Node, scope: Scope) -> None:
        word = first(node)
        self.put(scope, self.text_of(word), span(word), True, span(word))

    def timeout(self, node: Node, scope: Scope) -> None:
        self.time(scope, "timeoutMs", *_tokens(node))

    def list_part(self, node: Node, scope: Scope) -> None:
        word = first(node)
        place = Span(first(node.children[1]).start_pos, last(node).end_pos)
        key, inside = self.text_of(word), node.children[2:-1]
        if word.type != "TOOLS":
            self.names(scope, key, span(word), inside, place)
            return
        inner = self.member(scope, key, word, node)
        self.put(inner, "type", span(word), "custom", span(word))
        self.names(inner, "tools", span(word), inside, place)


def _around(one: Token, other: Token) -> Span:
    return Span(one.start_pos, other.end_pos)


def _tokens(node: Node) -> list[Token]:
    return [first(child) for child in node.children]
