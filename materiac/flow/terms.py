"""What a bound comes from, in plain words: the limits that would raise it, were they higher."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from materiac.digraph import shortest
from materiac.flow.terrain import stays
from materiac.names import END
from materiac.source import Pointer

if TYPE_CHECKING:
    from materiac.flow.sketch import Among, Reason
    from materiac.flow.terrain import Terrain
    from materiac.graph import LoadoutGraph

_MOST_NAMED: Final = 8


class Term(NamedTuple):
    """Something that a bound comes from, and where it is written."""

    words: str
    at: Pointer

    def as_data(self) -> dict[str, Any]:
        return {"words": self.words, "at": list(self.at)}


def terms(graph: LoadoutGraph, terrain: Terrain, reasons: Iterable[Reason]) -> Iterator[Term]:
    """The limits that matter, each once: loops, edges, visits, the stall guard."""
    found = {(reason.kind, reason.of): reason for reason in reasons}
    loops = dict.fromkeys(str(of) for kind, of in found if kind == "next")
    folded = {region.loop.id: region.generator.id for region in terrain.regions if region.loop}
    for id_ in graph.loops:
        if id_ in folded:
            words = f"the streams of '{folded[id_]}' go through N items together"
            yield Term(words, graph.loops[id_].at)
        elif id_ in loops:
            yield Term(f"{_loop(graph, id_)} goes through N items", graph.loops[id_].at)
    for kind, of in found:
        if kind == "budget" and isinstance(of, tuple):
            yield _edge(graph, str(of[0]), int(of[1]))
    for (kind, of), reason in found.items():
        if kind == "visits":
            at = (*graph.socket_at(str(of)), "limits", "maxVisits")
            yield Term(f"'{of}' is visited at most {_times(terrain.visits[str(of)])} in a cast", at)
        elif kind == "runs":
            yield _begun(graph, reason, terrain.rounds)
    yield from _guards(graph, terrain, [reason for reason in found.values() if reason.kind == "guard"])


def _loop(graph: LoadoutGraph, id_: str) -> str:
    loop = graph.loops[id_]
    return f"the 'foreach' of '{loop.sockets[0]}'" if loop.foreach else f"loop '{id_}'"


def _edge(graph: LoadoutGraph, source: str, index: int) -> Term:
    edge = graph.sockets[source].written.edges[index]
    whom = "for each item" if graph.loop_of(source) is not None else "in a cast"
    times = _times(edge.max_traversals or 0)
    words = f"the edge of '{source}' to '{edge.to}' is taken at most {times} {whom}"
    return Term(words, (*graph.socket_at(source), "edges", index))


def _begun(graph: LoadoutGraph, reason: Reason, rounds: int) -> Term:
    id_, times = str(reason.of), reason.times
    guard = "the stall guard ends the ways back to it"
    why = guard if times == 1 + rounds else "the stall guard and the limits of edges end the ways back to it"
    return Term(f"{_loop(graph, id_)} is begun at most {_times(times)}: {why}", graph.loops[id_].at)


def _guards(graph: LoadoutGraph, terrain: Terrain, reasons: Iterable[Reason]) -> Iterator[Term]:
    """For each circle of nodes that only the stall guard ends, one of its cycles."""
    circles: dict[Among | None, list[str]] = {}
    for reason in reasons:
        circles.setdefault(reason.among, []).append(str(reason.of))
    rounds = terrain.rounds
    after = "before it closes" if rounds == 0 else f"after {rounds} round{'' if rounds == 1 else 's'}"
    for sockets in circles.values():
        cycle = _cycle(terrain, sockets[0])
        what = "the cycle" if set(sockets) <= set(cycle) else "cycles such as"
        words = f"only the stall guard ends {what} {_way(graph, cycle)}: {after}"
        yield Term(words, graph.socket_at(sockets[0]))


def _cycle(terrain: Terrain, node: str) -> list[str]:
    """A shortest way back to a node, with no budget on it and if possible with no advance."""

    def after(here: str, *, staying: bool) -> list[str]:
        routes = (route for route in terrain.routes[here] if route.budget is None and route.target != END)
        return [route.target for route in routes if stays(route) or not staying]

    for staying in (True, False):
        way = shortest(after(node, staying=staying), {node}, partial(after, staying=staying))
        if way:
            return [node, *way]
    return [node, node]


def _way(graph: LoadoutGraph, nodes: Sequence[str]) -> str:
    """`'a' → 'b' → 'a'`; the middle of a long way is left out."""
    passed = {node: f"(empty: {_loop(graph, loop.id)})" for node, loop in graph.ways_past.items()}
    named = [passed.get(node, f"'{node}'") for node in nodes]
    return " → ".join(named if len(named) <= _MOST_NAMED else [*named[:4], "…", named[-1]])


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")
