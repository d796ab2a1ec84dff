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
    for all of them. `last_output` are the sockets whose prompts show the last output as a whole."""

    last_json: frozenset[str | None]
    envelope: frozenset[str | None]
    last_output: frozenset[str]


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
    envelope = _readers(graph).envelope
    if socket.parse == "json" and (None in envelope or "satisfied" in envelope or _commands(graph, socket)):
        return True
    return keeps(graph, socket, "satisfied")


def _leaves_by_verdict(socket: SocketView) -> bool:
    exits = socket.loop.exits if socket.loop is not None else ()
    return any(route.source == socket.id and route.condition != "always" for route in exits)


def _commands(graph: LoadoutGraph, socket: SocketView) -> bool:
    """Whether a program comes later: it is given the whole state, the envelope too."""
    later = breadth_first(graph.after(socket.id), graph.after)
    behaviours = (graph.sockets[node].materia for node in later if node in graph.sockets)
    return any(
        part is not None and part.type == "utility" and part.command is not None for part in behaviours
    )


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
    return _Readers(frozenset(last_json), frozenset(envelope), frozenset(last_output))


def _all_paths(graph: LoadoutGraph) -> Iterator[tuple[str, Path]]:
    """The paths in prompts, and those in assignments and lists that look beyond their visit."""
    for id_, socket in graph.sockets.items():
        if socket.materia is not None and socket.materia.type == "agent":
            yield from ((id_, path) for path in _templates(socket.materia.prompt))
        beyond = ("state",) if socket.parse == "json" else ("state", "lastJson")
        yield from ((id_, path) for path in _sources(socket) if path.root in beyond)
    yield from (("", loop.path) for loop in graph.loops.values() if loop.path is not None)


def _sources(socket: SocketView) -> Iterator[Path]:
    return _parsed(assignment.source for assignment in socket.assign)


def _templates(prompt: str) -> Iterator[Path]:
    names = [reference.name for reference in references(prompt)]
    return _parsed("state" if name in _EVERYTHING else name for name in names)


def _parsed(texts: Iterable[str]) -> Iterator[Path]:
    for text in texts:
        try:
            yield parse_source(text)
        except PathError:
            continue
