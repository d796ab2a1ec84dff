"""What a bound comes from, in plain words: the limits that would raise it, were they higher."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from materiac.source import Pointer

if TYPE_CHECKING:
    from materiac.flow.sketch import Reason
    from materiac.flow.terrain import Terrain
    from materiac.graph import LoadoutGraph


class Term(NamedTuple):
    """Something that a bound comes from, and where it is written."""

    words: str
    at: Pointer

    def as_data(self) -> dict[str, Any]:
        return {"words": self.words, "at": list(self.at)}


def terms(graph: LoadoutGraph, terrain: Terrain, reasons: Iterable[Reason]) -> Iterator[Term]:
    """The limits that matter, each once: loops, edges, visits, the stall guard."""
    found = dict.fromkeys((reason.kind, reason.of) for reason in reasons)
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
    for kind, of in found:
        if kind == "visits":
            at = (*graph.socket_at(str(of)), "limits", "maxVisits")
            yield Term(f"'{of}' is visited at most {_times(terrain.visits[str(of)])} in a cast", at)
        elif kind == "runs":
            yield Term(f"{_loop(graph, str(of))} is begun only so often", graph.loops[str(of)].at)
    guarded = [str(of) for kind, of in found if kind == "guard"]
    if guarded:
        yield _guard(graph, guarded, terrain.rounds)


def _loop(graph: LoadoutGraph, id_: str) -> str:
    loop = graph.loops[id_]
    return f"the 'foreach' of '{loop.sockets[0]}'" if loop.foreach else f"loop '{id_}'"


def _edge(graph: LoadoutGraph, source: str, index: int) -> Term:
    edge = graph.sockets[source].written.edges[index]
    whom = "for each item" if graph.loop_of(source) is not None else "in a cast"
    times = _times(edge.max_traversals or 0)
    words = f"the edge of '{source}' to '{edge.to}' is taken at most {times} {whom}"
    return Term(words, (*graph.socket_at(source), "edges", index))


def _guard(graph: LoadoutGraph, sockets: list[str], rounds: int) -> Term:
    named = ", ".join(f"'{socket}'" for socket in sockets[:4]) + (", …" if len(sockets) > 4 else "")
    cycles = "no cycle" if rounds == 0 else f"{rounds} cycle{'s' if rounds > 1 else ''}"
    words = f"nothing but the stall guard, which lets {cycles} pass, ends coming back to {named}"
    return Term(words, graph.socket_at(sockets[0]))


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")
