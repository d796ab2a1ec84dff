"""Which cycles of a loadout nothing bounds, or nothing but the stall guard.

A cast ends unless it goes some set of routes for ever; those routes connect their sockets strongly. What
bounds a cycle is a visit limit, or the budget of an edge: outside of loops a budget of the cast, so such
routes are left out from the start. What is left (`_lasting`) can go on for ever in three ways:

- It uses up a list again and again: a route after a used-up list lies within a component
  (`repeated_runs`).
- It uses up no list, and a loop goes on all the same: its generator sends new lists, or a socket between
  two items makes the list longer (`growing_lists`).
- It does neither. Then it steps a cursor and spends the budget of an item only so many times: some cycle
  goes without both (`free_cycles` outside of loops, `item_cycles` inside).

And a visit limit may come too late: the stall guard counts the cycles of a cast together, and may end it
before any limit is reached (`late_limits`).

The components are linear in the size of the loadout; one cycle is shown for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from materiac.digraph import shortest
from materiac.source import KEY, Pointer

if TYPE_CHECKING:
    from materiac.graph import LoadoutGraph, LoopView, Route

Writers = dict[str, list[str]]


class Trap(NamedTuple):
    """Sockets that lead to nothing but each other, and a shortest way from the start to one of them."""

    sockets: tuple[str, ...]
    way: tuple[str, ...]


class Bound(NamedTuple):
    """An edge that would bound a cycle, had it a budget."""

    source: str
    target: str
    at: Pointer


class Cycle(NamedTuple):
    """Nodes that a cast may come to over and over; the first stands again at the end.

    `bound` is None where no edge can bound it; `at` is that edge, else what makes the cycle. `loop` is
    the one that is run again, or whose list `culprit` can replace.
    """

    nodes: tuple[str, ...]
    at: Pointer
    bound: Bound | None
    loop: LoopView | None = None
    culprit: str | None = None


def traps(graph: LoadoutGraph) -> Iterator[Trap]:
    """The innermost sets of sockets from which `end` cannot be reached."""
    for part in graph.components(lambda route: route.source not in graph.ending):
        inside = frozenset(part)
        if all(route.target in inside for node in part for route in graph.routes[node]):
            sockets = tuple(node for node in part if node in graph.sockets)
            yield Trap(sockets, tuple(shortest(graph.starts, frozenset(sockets), graph.after)))


def repeated_runs(graph: LoadoutGraph) -> Iterator[Cycle]:
    """Cycles outside of any budget that start a loop anew, one for each component."""
    keep = _lasting(graph)
    for part in graph.components(keep):
        inside = _Inside(graph, frozenset(part), keep)
        again = next((route for route in inside.routes(part) if route.used_up), None)
        if again is not None:
            loop = graph.loop_of(again.source)
            routes = [again, *inside.way(again.target, again.source)]
            yield _cycle(graph, _turned(graph, routes), again.at, loop=loop, everywhere=False)


def free_cycles(graph: LoadoutGraph) -> Iterator[Cycle]:
    """Cycles outside of loops that are bounded by nothing at all, one for each component."""
    free = _free(graph)

    def keep(route: Route) -> bool:
        return free(route) and graph.loop_of(route.source) is None and graph.loop_of(route.target) is None

    for part in graph.components(keep):
        routes = _Inside(graph, frozenset(part), keep).back_to(part[0])
        yield _cycle(graph, routes, routes[-1].at)


def item_cycles(graph: LoadoutGraph) -> Iterator[Cycle]:
    """Cycles through a member of a loop on which neither item nor list ever changes."""
    keep = _free(graph)
    for part in graph.components(keep):
        inside = frozenset(part)
        loops = [loop for node in part if (loop := graph.loop_of(node)) is not None]
        # With the generator of the loop in it, the list does change: `growing_lists` shows that one.
        if loops and not any(loop.source in inside for loop in loops):
            member = next(node for node in part if graph.loop_of(node) is not None)
            routes = _Inside(graph, inside, keep).back_to(member)
            yield _cycle(graph, _turned(graph, routes), routes[-1].at)


def growing_lists(graph: LoadoutGraph) -> Iterator[Cycle]:
    """Cycles on which the list of a loop may be replaced while the loop is under way."""
    lasting = _lasting(graph)

    def keep(route: Route) -> bool:
        return lasting(route) and not route.used_up

    found = [_Inside(graph, frozenset(part), keep) for part in graph.components(keep)]
    parts = {id_: inside for inside in found for id_ in inside.nodes if id_ in graph.sockets}
    writers = _writers(graph, parts.keys())
    for loop in graph.loops.values():
        for inside in dict.fromkeys(parts[id_] for id_ in loop.sockets if id_ in parts):
            routes = _resent(loop, inside) or _regrown(loop, inside, writers)
            if routes:
                culprit = routes[0].source
                at = (*graph.socket_at(culprit), KEY)
                yield _cycle(graph, routes, at, loop=loop, culprit=culprit, everywhere=False)


def late_limits(graph: LoadoutGraph, cycles: int) -> Iterator[Cycle]:
    """Cycles that a limit of visits bounds, where the stall guard may end the cast before.

    The guard lets `cycles` pass. Between two visits that have limits a cast closes at most one cycle, and
    none before the first of them in a component: so many visits as they allow together are at least as many
    as the cycles that are closed.
    """
    lasting, capped = _lasting(graph, capped=False), _capped(graph)
    closed = 0

    def keep(route: Route) -> bool:
        return lasting(route) and route.budget is None and not route.progress

    for part in graph.components(keep) if capped else ():
        limited = [node for node in part if node in capped]
        closed += sum(capped[node] for node in limited)
        closed -= bool(limited) and _entries(graph, part) <= capped.keys()
        if limited and closed > cycles:
            routes = _Inside(graph, frozenset(part), keep).back_to(limited[0])
            at = (*graph.socket_at(limited[0]), "limits", "maxVisits", KEY)
            turned = _turned(graph, routes)
            yield _cycle(graph, turned, at, culprit=limited[0])._replace(at=at)


def _entries(graph: LoadoutGraph, part: Sequence[str]) -> set[str]:
    """The nodes of a component that a cast may come to first."""
    inside = frozenset(part)
    return {
        node
        for node in part
        if node in graph.starts or any(source not in inside for source in graph.before.get(node, ()))
    }


def _capped(graph: LoadoutGraph) -> dict[str, int]:
    """The sockets that have a limit of visits, and these."""
    limits = {id_: socket.written.limits for id_, socket in graph.sockets.items()}
    return {
        id_: limit.max_visits
        for id_, limit in limits.items()
        if limit is not None and limit.max_visits is not None
    }


def _resent(loop: LoopView, inside: _Inside) -> list[Route]:
    """A cycle on which the generator that feeds a loop sends a new list."""
    if loop.source is None or loop.source not in inside.nodes:
        return []
    there = inside.way(loop.source, *loop.sockets)
    return [*there, *inside.way(there[-1].target, loop.source)] if there else []


def _regrown(loop: LoopView, inside: _Inside, writers: Writers) -> list[Route]:
    """A cycle on which the cursor of a loop is stepped and its list may get longer."""
    members = (id_ for id_ in loop.sockets if id_ in inside.nodes)
    progress = next((route for route in inside.routes(members) if route.progress), None)
    culprit = inside.first_writer(loop, writers)
    if progress is None or culprit is None:
        return []
    return [*inside.way(culprit, progress.source), progress, *inside.way(progress.target, culprit)]


def _writers(graph: LoadoutGraph, sockets: Iterable[str]) -> Writers:
    """The sockets that write the state, by the first segments of what they write."""
    found: Writers = {}
    for id_ in sorted(sockets, key=graph.reached.__getitem__):
        for key in dict.fromkeys(path[0] for path in graph.sockets[id_].writes):
            found.setdefault(key, []).append(id_)
    return found


def _lasting(graph: LoadoutGraph, *, capped: bool = True) -> Callable[[Route], bool]:
    """The routes that no budget of the cast bounds, and with `capped` no visit limit; `end` is in reach."""
    limits = _capped(graph) if capped else {}

    def keep(route: Route) -> bool:
        bounded = route.budget is not None and graph.loop_of(route.source) is None
        return not bounded and route.target not in limits and route.source in graph.ending

    return keep


def _free(graph: LoadoutGraph) -> Callable[[Route], bool]:
    lasting = _lasting(graph)

    def keep(route: Route) -> bool:
        return lasting(route) and route.budget is None and not route.progress and not route.used_up

    return keep


@dataclass(frozen=True, eq=False)
class _Inside:
    """A component, and the routes that connect it."""

    graph: LoadoutGraph
    nodes: frozenset[str]
    keep: Callable[[Route], bool]

    def routes(self, sources: Iterable[str]) -> Iterator[Route]:
        for node in sources:
            for route in self.graph.routes[node]:
                if route.target in self.nodes and self.keep(route):
                    yield route

    def way(self, start: str, *goals: str) -> list[Route]:
        """A shortest way within the component; none where `start` is a goal."""
        return self._along(shortest([start], frozenset(goals), self._after))

    def back_to(self, node: str) -> list[Route]:
        """A shortest cycle through a node."""
        return self._along([node, *shortest(self._after(node), {node}, self._after)])

    def first_writer(self, loop: LoopView, writers: Writers) -> str | None:
        """The first socket that is known to replace the list of a loop."""
        if loop.path is None:
            return None
        of_state = loop.path.root == "state" and bool(loop.path.segments)
        candidates = writers.get(loop.path.segments[0], []) if of_state else sorted(self.nodes)
        sockets = (
            self.graph.sockets[id_] for id_ in candidates if id_ in self.nodes and id_ in self.graph.sockets
        )
        return next((socket.id for socket in sockets if socket.replaces(loop.path)), None)

    def _after(self, node: str) -> list[str]:
        return [route.target for route in self.routes([node])]

    def _along(self, nodes: Sequence[str]) -> list[Route]:
        steps = pairwise(nodes)
        return [next(route for route in self.routes([a]) if route.target == b) for a, b in steps]


def _turned(graph: LoadoutGraph, routes: Sequence[Route]) -> list[Route]:
    """A cycle from the node on that a cast comes to first."""
    first = min(range(len(routes)), key=lambda i: graph.reached[routes[i].source])
    return [*routes[first:], *routes[:first]]


def _cycle(
    graph: LoadoutGraph,
    routes: Sequence[Route],
    at: Pointer,
    *,
    loop: LoopView | None = None,
    culprit: str | None = None,
    everywhere: bool = True,
) -> Cycle:
    """A cycle with the edge that would bound it: one outside of loops, or `everywhere` any of its edges."""
    edges = [r for r in routes if r.edge is not None and (everywhere or graph.loop_of(r.source) is None)]
    # An edge that sends work back is the one to bound, else the one that closes the cycle.
    edges.sort(key=lambda r: (r.when != "not_satisfied", graph.reached[r.target] > graph.reached[r.source]))
    bound = _bound(graph, edges[0]) if edges else None
    nodes = (*(route.source for route in routes), routes[0].source)
    return Cycle(nodes, bound.at if bound else at, bound, loop, culprit)


def _bound(graph: LoadoutGraph, route: Route) -> Bound:
    index = route.edge or 0
    edge = graph.sockets[route.source].written.edges[index]
    return Bound(route.source, edge.to, (*graph.socket_at(route.source), "edges", index))
