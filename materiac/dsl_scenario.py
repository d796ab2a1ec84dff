"""The scenarios of a text of the language, as the values that JSON would have."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from materiac.dsl_scope import Filler, Scope
from materiac.dsl_tree import Node, Part, Token, first, last, span
from materiac.json_reader import MAX_DEPTH
from materiac.json_tokens import Fault, shortened
from materiac.source import Pointer, Span

_WAYS: Final = {"PATH": "path", "PASSES": "pathHas"}
_ANSWERS: Final = frozenset({"answer", "raw_answers"})
_VISIT = re.compile(r"[1-9][0-9]*")


class ScenarioFiller(Filler):
    """Fills scenarios. There is a method for each rule of the grammar, named after it."""

    def scenarios(self, node: Node, scope: Scope) -> None:
        word, _, *target = _tokens(node)
        self._target(scope, word, target, node)

    def scenario(self, node: Node, scope: Scope) -> None:
        inner = self.appended(scope, "scenarios", node)
        self.string(inner, "name", *_tokens(node)[:2])
        self.fill(node.children, inner)

    def target(self, node: Node, scope: Scope) -> None:
        word, *target = _tokens(node)
        self._target(scope, word, target, node)

    def _target(self, scope: Scope, word: Token, target: Sequence[Token], node: Node) -> None:
        name, *rest = target
        if not rest:
            self.string(scope, "loadout", word, name)
            return
        inner = self.member(scope, "loadout", word, node)
        self.string(inner, "name", name, name)
        self.string(inner, "file", *rest)

    def state(self, node: Node, scope: Scope) -> None:
        word, target, *rest = node.children
        if not rest:
            self.json(scope, "state", span(word), target)
            return
        inner = self.within(scope, "state", node)
        *way, key = self._way(first(target))
        if len(inner.at) + len(way) >= MAX_DEPTH:
            self.too_deep(first(target))
            return
        for part in way:
            inner = self.within(inner, part, node)
        self.json(inner, key, span(target), rest[1])

    def _way(self, token: Token) -> list[str]:
        """The keys that a bare word leads through; a string is one key."""
        way = self.name(token).split(".") if token.type == "WORD" else [self.name(token)]
        if not all(way):
            words = f"found {shortened(self.text_of(token))}, expected a path, as in 'review.notes'"
            self.report(Fault(words, token.start_pos, token.end_pos, "a key with dots in it has quotes"))
        return way

    def given(self, node: Node, scope: Scope) -> None:
        _, name, content = _tokens(node)
        self.string(self.within(scope, "files", node), self.name(name), name, content)

    def person(self, node: Node, scope: Scope) -> None:
        said = self.within(scope, "person", node, kind=list)
        self._listed(said, _tokens(node)[1:], "CONTINUE")

    def _listed(self, scope: Scope, tokens: Iterable[Token], nothing: str) -> None:
        for token in tokens:
            self.spans[*scope.at, len(scope.data)] = span(token)
            scope.data.append(None if token.type == nothing else self.name(token))

    # Answers.

    def answering(self, node: Node, scope: Scope) -> None:
        inner = self.member(scope, "agent", first(node), node)
        parts = [part for part in node.children if isinstance(part, Node)]
        self.fill([part for part in parts if part.data not in _ANSWERS], inner)
        answers = [part for part in parts if part.data in _ANSWERS]
        if answers:
            sockets = [self.within(inner, "sockets", part) for part in answers]
            self._answers(sockets[0], answers)

    def utilities(self, node: Node, scope: Scope) -> None:
        inner = self.member(scope, "utilities", first(node), node)
        self._answers(inner, [part for part in node.children if isinstance(part, Node)])

    def _answers(self, scope: Scope, statements: Sequence[Node]) -> None:
        """Fill the answers by socket, of which each is in a statement of its own."""
        for raw in (part for part in statements if part.data == "raw_answers"):
            key, _, value = raw.children
            self.json(scope, self.name(first(key)), span(key), value)
        told = [part for part in statements if part.data == "answer"]
        for name, parts in self._grouped(told, first).items():
            odd = next((part for part in parts if _of_item(part) != _of_item(parts[0])), None)
            if odd is not None:
                words = f"'{name}' has answers by item and answers without one"
                self.report(Fault(words, span(odd).start, span(odd).end))
            elif _of_item(parts[0]):
                inner = Scope({}, (*scope.at, name))
                self.put(scope, name, span(first(parts[0])), inner.data, _around(parts))
                for item, of_item in self._grouped(parts, _item).items():
                    self._series(inner, item, _item(of_item[0]), of_item)
            else:
                self._series(scope, name, first(parts[0]), parts)

    def _grouped(self, parts: Iterable[Node], by: Callable[[Node], Token]) -> dict[str, list[Node]]:
        groups: dict[str, list[Node]] = {}
        for part in parts:
            groups.setdefault(self.name(by(part)), []).append(part)
        return groups

    def _series(self, scope: Scope, key: str, written: Token, parts: Sequence[Node]) -> None:
        """What one statement answers, or a list of what several do."""
        at = (*scope.at, key)
        many = [self._reply(part, (*at, index)) for index, part in enumerate(parts) if len(parts) > 1]
        value = many or self._reply(parts[0], at)
        self.put(scope, key, span(written), value, _around(parts) if many else self.spans[at])

    def default(self, node: Node, scope: Scope) -> None:
        value = self._reply(node, (*scope.at, "default"))
        self.put(scope, "default", span(first(node)), value, span(node))

    def _reply(self, node: Node, at: Pointer) -> Any:
        reply, *beside = (part for part in node.children if isinstance(part, Node))
        word, *rest = reply.children
        self.spans[at] = Span(first(reply).start_pos, last(node).end_pos)
        inner = Scope({}, at)
        if isinstance(word, Node):
            self.json(inner, "json", span(first(word)), word)
        elif rest:
            key = "error" if word.type == "FAILS" else "text"
            self.string(inner, key, word, first(rest[0]))
        elif beside:
            self.string(inner, "text", word, word)
        else:
            return self.name(word)
        self.fill(beside, inner)
        return inner.data

    def late(self, node: Node, scope: Scope) -> None:
        self.time(scope, "delayMs", *_tokens(node))

    delay = late

    # Expectations.

    def expect(self, node: Node, scope: Scope) -> None:
        self.fill(node.children, self.member(scope, "expect", first(node), node))

    def status(self, node: Node, scope: Scope) -> None:
        word = first(node)
        self.put(scope, "status", span(word), self.text_of(word), span(word))

    def failure(self, node: Node, scope: Scope) -> None:
        kinds = [part for part in node.children if not isinstance(part, Node)]
        if len(kinds) == len(node.children):
            self.string(scope, "failure", kinds[0], kinds[0])
            return
        inner = self.member(scope, "failure", first(node), node)
        for kind in kinds:
            self.string(inner, "kind", kind, kind)
        self.fill(node.children, inner)

    def wanted(self, node: Node, scope: Scope) -> None:
        word, value = node.children
        if isinstance(value, Node):
            self.json(scope, self.text_of(first(word)), span(word), value)
        else:
            self.string(scope, self.text_of(first(word)), first(word), value)

    def way(self, node: Node, scope: Scope) -> None:
        word, *names = (token for token in _tokens(node) if token.type != "ARROW")
        place = Span(names[0].start_pos, names[-1].end_pos)
        self.names(scope, _WAYS[word.type], span(word), names, place)

    def keys(self, node: Node, scope: Scope) -> None:
        word, *items = (token for token in _tokens(node) if token.type != "COMMA")
        inner = Scope([], (*scope.at, "items"))
        self._listed(inner, items, "NONE")
        self.put(scope, "items", span(word), inner.data, Span(items[0].start_pos, items[-1].end_pos))

    def counts(self, node: Node, scope: Scope) -> None:
        inner = self.within(scope, "visits", node)
        for part in node.children:
            if isinstance(part, Node):
                name, number = part.children
                self.number(inner, self.name(first(name)), span(name), number)

    def prompted(self, node: Node, scope: Scope) -> None:
        _, name, visit, *rest = node.children
        number, place = self.text_of(first(visit)), span(visit)
        if not _VISIT.fullmatch(number):
            words = f"found {shortened(number)}, expected the number of a visit"
            self.report(Fault(words, place.start, place.end, "the first visit is 1"))
        key = f"{self.name(first(name))}#{number}"
        written = Span(span(name).start, place.end)
        self._wanted(self.within(scope, "prompts", node), key, written, rest)

    def written(self, node: Node, scope: Scope) -> None:
        _, name, *rest = node.children
        key = self.name(first(name))
        self._wanted(self.within(scope, "files", node), key, span(name), rest)

    def _wanted(self, scope: Scope, key: str, written: Span, parts: Sequence[Part]) -> None:
        if not isinstance(parts[0], Node):
            self.json(scope, key, written, parts[1])
            return
        inner = Scope({}, (*scope.at, key))
        self.put(scope, key, written, inner.data, Span(written.start, last(parts[-1]).end_pos))
        self.fill(parts, inner)

    def absent(self, node: Node, scope: Scope) -> None:
        _, _, name = _tokens(node)
        self.put(self.within(scope, "files", node), self.name(name), span(name), None, span(node))

    def turns(self, node: Node, scope: Scope) -> None:
        *_, number, word = _tokens(node)
        self.number(scope, "turns", span(word), number)


def _tokens(node: Node) -> list[Token]:
    return [first(part) for part in node.children]


def _of_item(answer: Node) -> bool:
    return not isinstance(answer.children[2], Node)


def _item(answer: Node) -> Token:
    return first(answer.children[3])


def _around(parts: Sequence[Node]) -> Span:
    return Span(first(parts[0]).start_pos, last(parts[-1]).end_pos)
