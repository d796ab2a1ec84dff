"""Which reads of items and of cursors have no value in any cast.

There is an item in loops alone, and a cursor while some loop that has it is under way: from a visit of a
member on, until the list is used up, is found empty, or is sent anew.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping

from materiac import model
from materiac.flow.accesses import Read
from materiac.graph import LoadoutGraph, SocketView
from materiac.path import Path, PathError, parse_source
from materiac.routes import past
from materiac.template import references

_WHOLE = {"itemJson": "item"}
"""A word that means what another one does."""


def absent(graph: LoadoutGraph) -> dict[str, list[Read]]:
    """The reads of items and cursors that are never there, by the sockets that casts come to."""
    sockets = (graph.sockets[id_] for id_ in graph.reached if id_ in graph.sockets)
    reads = [(socket.id, read) for socket in sockets for read in _reads(socket) if not _is_own(socket, read)]
    names = {read.key for _, read in reads if read.place[0] == "cursor"}
    there = _cursors(graph, names) if names else {}
    found: dict[str, list[Read]] = {}
    for id_, read in reads:
        if read.place[0] == "item" or read.key not in there[id_]:
            found.setdefault(id_, []).append(read)
    return found


def _is_own(socket: SocketView, read: Read) -> bool:
    """Whether it is the item, or the cursor, of the loop that the socket is in."""
    return socket.loop is not None and (read.place[0] == "item" or read.key == socket.loop.cursor)


def _reads(socket: SocketView) -> Iterator[Read]:
    if isinstance(socket.materia, model.AgentMateria):
        at = ("materia", socket.written.materia, "prompt")
        for name in dict.fromkeys(reference.name for reference in references(socket.materia.prompt)):
            yield from _read(_WHOLE.get(name, name), Read((), "{{" + name + "}}", at, "prompt"))
    for part in socket.assign:
        yield from _read(part.source, Read((), part.source, part.at, "source", part.target))


def _read(source: str, read: Read) -> Iterator[Read]:
    try:
        path: Path = parse_source(source)
    except PathError:
        return
    if path.root in ("item", "cursor"):
        yield read._replace(place=(path.root, *path.segments))


def _cursors(graph: LoadoutGraph, names: Collection[str]) -> Mapping[str, frozenset[str]]:
    """For each node, the cursors of these names whose loops may be under way there."""
    loops = [loop for loop in graph.loops.values() if loop.cursor in names]
    bits = {loop.id: 1 << place for place, loop in enumerate(loops)}
    under_way = _under_way(graph, bits)
    sets: dict[int, frozenset[str]] = {}
    for mask in set(under_way.values()):
        sets[mask] = frozenset(loop.cursor for loop in loops if mask & bits[loop.id])
    return {node: sets[mask] for node, mask in under_way.items()}


def _under_way(graph: LoadoutGraph, bits: Mapping[str, int]) -> dict[str, int]:
    """The bits of the loops that may be under way at a node."""
    own = {id_: bits[loop.id] for loop in graph.loops.values() if loop.id in bits for id_ in loop.sockets}
    ended = _ended(graph, bits)
    found = {node: own.get(node, 0) for node in graph.reached}
    waiting = deque(found)
    queued = set(found)
    while waiting:
        node = waiting.popleft()
        queued.discard(node)
        left = found[node] & ~ended.get(node, 0)
        for route in graph.routes[node]:
            given = left & ~own.get(node, 0) if route.used_up else left
            if route.target in found and given & ~found[route.target]:
                found[route.target] |= given
                if route.target not in queued:
                    queued.add(route.target)
                    waiting.append(route.target)
    return found


def _ended(graph: LoadoutGraph, bits: Mapping[str, int]) -> dict[str, int]:
    """The loops that are idle behind a node: its list is found empty there, or it sends another one."""
    found: dict[str, int] = {}
    for loop in graph.loops.values():
        ends: Iterable[str | None] = (past(loop), loop.source) if loop.id in bits else ()
        for node in ends:
            if node is not None:
                found[node] = found.get(node, 0) | bits[loop.id]
    return found
