"""What becomes of the fields of an answer: which of them some assignment, route or prompt reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from materiac.digraph import breadth_first
from materiac.path import OUTPUT, Path, PathError, parse_source
from materiac.template import references

if TYPE_CHECKING:
    from materiac.graph import LoadoutGraph, SocketView

_EVERYTHING: Final = frozenset({"state", "stateJson"})


class _Readers(NamedTuple):
    """What a loadout reads wherever a cast is: fields of the last object, and of the envelope; None stands
    for all of them. `last_output` are the sockets whose prompts show the last output as a whole. After
    those of `before_program` a program may come: it is given the whole state, the envelope too."""

    last_json: frozenset[str | None]
    envelope: frozenset[str | None]
    last_output: frozenset[str]
    before_program: frozenset[str]


def keeps(graph: LoadoutGraph, socket: SocketView, field: str) -> bool:
    """Whether a field of the object that a socket hands over is read, by an assignment or later on."""
    for path in _sources(socket):
        if path.root in (OUTPUT, "lastJson") and path.segments[:1] in ((), (field,)):
            return True
        if path.root == "lastOutput":
            return True
    readers = _readers(graph)
    if None in readers.last_json or field in readers.last_json:
        return True
    return any(node in readers.last_output for node in _next(graph, socket.id))


def keeps_verdict(graph: LoadoutGraph, socket: SocketView) -> bool:
    """Whether something depends on the verdict of a socket: a route, its advance, or what reads the field."""
    if socket.asks_verdict or (socket.loop is not None and _leaves_by_verdict(socket)):
        return True
    readers = _readers(graph)
    enveloped = not readers.envelope.isdisjoint((None, "satisfied")) or socket.id in readers.before_program
    if socket.parse == "json" and enveloped:
        return True
    return keeps(graph, socket, "satisfied")


def _leaves_by_verdict(socket: SocketView) -> bool:
    exits = socket.loop.exits if socket.loop is not None else ()
    return any(route.source == socket.id and route.condition != "always" for route in exits)


def _before_program(graph: LoadoutGraph) -> frozenset[str]:
    programs = (id_ for id_, socket in graph.sockets.items() if _is_program(socket))
    nearest = [node for id_ in programs for node in graph.before.get(id_, ())]
    return frozenset(breadth_first(nearest, lambda node: graph.before.get(node, ())))


def _is_program(socket: SocketView) -> bool:
    behaviour = socket.materia
    return behaviour is not None and behaviour.type == "utility" and behaviour.command is not None


def _next(graph: LoadoutGraph, node: str) -> Iterator[str]:
    """The sockets that may be visited next."""
    passed = breadth_first([node], lambda at: (n for n in graph.after(at) if n in graph.ways_past))
    for at in passed:
        yield from (target for target in graph.after(at) if target in graph.sockets)


@lru_cache(maxsize=16)
def _readers(graph: LoadoutGraph) -> _Readers:
    last_json: set[str | None] = set()
    envelope: set[str | None] = set()
    last_output: set[str] = set()
    for id_, path in _all_paths(graph):
        first, *rest = (*path.segments, None)
        if path.root == "lastJson":
            last_json.add(first)
        elif path.root == "lastOutput":
            last_output.add(id_)
        elif path.root == "state" and first in (None, "envelope"):
            envelope.add(rest[0] if rest else None)
    return _Readers(frozenset(last_json), frozenset(envelope), frozenset(last_output), _before_program(graph))


def _all_paths(graph: LoadoutGraph) -> Iterator[tuple[str, Path]]:
    """The paths in prompts, and those in assignments and lists that look beyond their visit."""
    prompts: dict[str, tuple[Path, ...]] = {}
    for id_, socket in graph.sockets.items():
        if socket.materia is not None and socket.materia.type == "agent":
            name = socket.written.materia
            if name not in prompts:
                prompts[name] = tuple(_templates(socket.materia.prompt))
            yield from ((id_, path) for path in prompts[name])
        beyond = ("state",) if socket.parse == "json" else ("state", "lastJson")
        yield from ((id_, path) for path in _sources(socket) if path.root in beyond)
    yield from (("", loop.path) for loop in graph.loops.values() if loop.path is not None)


def _sources(socket: SocketView) -> Iterator[Path]:
    return _parsed(assignment.source for assignment in socket.assign)


def _templates(prompt: str) -> Iterator[Path]:
    names = dict.fromkeys(reference.name for reference in references(prompt))
    return _parsed("state" if name in _EVERYTHING else name for name in names)


def _parsed(texts: Iterable[str]) -> Iterator[Path]:
    for text in texts:
        try:
            yield parse_source(text)
        except PathError:
            continue
