"""Where control may go after a visit: over edges, out of used-up loops, past empty ones."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import NamedTuple

from materiac.names import END
from materiac.source import Pointer
from materiac.views import ExitRoute, LoopView, SocketView


class Route(NamedTuple):
    """One step that control may take. `kind` is edge, exit, done, end, empty or past.

    `progress` is true where the step follows an advance within the list, `used_up` where it follows one
    beyond it; `edge` and `budget` are those of the edge that is taken. A step that finds a loop empty
    (kind empty) has all of these too and leads to the way past it, from where steps of kind past go on.
    """

    source: str
    target: str
    kind: str
    at: Pointer
    when: str = "always"
    budget: int | None = None
    progress: bool = False
    used_up: bool = False
    edge: int | None = None


def past(loop: LoopView) -> str:
    """The node of a graph that stands for the way past an empty loop; no socket has such an id."""
    return f"past:{loop.id}"


def routes_after(
    socket: SocketView, loop_of: Mapping[str, LoopView], known: Container[str]
) -> Iterator[Route]:
    """The steps after a visit of a socket; those to targets that are not `known` are left out."""
    for route in [*_edges(socket), *_used_up(socket)]:
        if route.target != END and route.target not in known:
            continue
        yield route
        loop = loop_of.get(route.target)
        if loop is not None and _may_be_empty(socket, loop):
            yield route._replace(target=past(loop), kind="empty", at=loop.at)


def routes_past(
    loop: LoopView, to: str, loop_of: Mapping[str, LoopView], known: Container[str]
) -> Iterator[Route]:
    """The steps from the way past an empty loop, which leads to a socket or to `end`."""
    after = loop_of.get(to)
    if after is not loop and (to == END or to in known):
        yield Route(past(loop), to, "past", loop.at)
    if after is not None:
        yield Route(past(loop), past(after), "past", loop.at)
    if after is loop:
        # It comes to itself again without a visit, until the stall guard ends the cast.
        yield Route(past(loop), END, "past", loop.at)


def _edges(socket: SocketView) -> Iterator[Route]:
    taken: dict[tuple[int | None, bool], Route] = {}
    for verdict in socket.verdicts:
        index, progress = socket.edge_for(verdict), socket.advances(verdict)
        taken.setdefault((index, progress), _edge(socket, index, progress=progress))
    yield from sorted(taken.values(), key=lambda route: (route.edge is None, route.edge or 0, route.progress))


def _edge(socket: SocketView, index: int | None, *, progress: bool) -> Route:
    if index is None:
        return Route(socket.id, END, "end", socket.at, progress=progress)
    edge, at = socket.written.edges[index], (*socket.at, "edges", index)
    return Route(
        socket.id, edge.to, "edge", at, edge.when, edge.max_traversals, progress=progress, edge=index
    )


def _used_up(socket: SocketView) -> Iterator[Route]:
    if socket.advance is None or socket.loop is None:
        return
    yielded: set[ExitRoute | None] = set()
    for verdict in socket.verdicts:
        route = socket.loop.exit_for(socket.id, verdict)
        if socket.advances(verdict) and route not in yielded:
            yielded.add(route)
            yield _exit(socket, socket.loop, route)


def _exit(socket: SocketView, loop: LoopView, route: ExitRoute | None) -> Route:
    if route is not None:
        return Route(socket.id, route.to, "exit", route.at, route.condition, used_up=True)
    own = socket.advance.done if socket.advance else None
    return Route(socket.id, own or loop.done or END, "done", loop.at, used_up=True)


def _may_be_empty(socket: SocketView, loop: LoopView) -> bool:
    """The loop of a visit had an item for it: its list can only have been replaced in that visit."""
    return loop is not socket.loop or socket.may_replace(loop.path)
