"""Where casts may go, as bounds see it: streams are folded away, and of each step it is known what limits it.

The terrain of a cast has all that is reached; that of an item has the sockets of its loop, and steps alone
that stay with the item.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from materiac.digraph import breadth_first, strong_components
from materiac.flow.regions import RegionView, regions
from materiac.names import END
from materiac.routes import Route, past

if TYPE_CHECKING:
    from materiac.graph import LoadoutGraph, LoopView


@dataclass(frozen=True, eq=False)
class Terrain:
    """Nodes in the order in which they are reached, and the routes between them.

    `rounds` is how many cycles the stall guard lets pass; `visits` are the limits of sockets;
    `loops` are those that sockets are in, which for an item do not matter any more.
    """

    routes: Mapping[str, tuple[Route, ...]]
    starts: tuple[str, ...]
    rounds: int
    visits: Mapping[str, int]
    loops: Mapping[str, LoopView] = field(default_factory=dict)
    regions: tuple[RegionView, ...] = ()

    @cached_property
    def order(self) -> Mapping[str, int]:
        return {node: i for i, node in enumerate(breadth_first(self.starts, self._after))}

    def _after(self, node: str) -> Iterator[str]:
        return (route.target for route in self.routes[node] if route.target != END)

    @cached_property
    def parts(self) -> list[tuple[str, ...]]:
        """The strongly connected components, each after all that it leads to."""
        after = {node: list(self._after(node)) for node in self.order}
        return [tuple(sorted(part, key=self.order.__getitem__)) for part in strong_components(after)]

    @cached_property
    def outside(self) -> frozenset[str]:
        """What can be come to while a loop that has been left is under way, and its items are counted for."""
        left = (
            route.target
            for node, loop in self.loops.items()
            for route in self.routes.get(node, ())
            if node in self.order and route.target != END and not route.used_up
            if self.loops.get(route.target) is not loop
            and not (route.kind == "empty" and route.at == loop.at)
        )
        return frozenset(breadth_first(left, self._after))

    @cached_property
    def before(self) -> Mapping[str, tuple[Route, ...]]:
        """For each node, the routes that lead to it."""
        found: dict[str, list[Route]] = {node: [] for node in self.order}
        for node in self.order:
            for route in self.routes[node]:
                if route.target != END:
                    found[route.target].append(route)
        return {node: tuple(routes) for node, routes in found.items()}

    def of_item(self, nodes: Iterable[str]) -> Terrain:
        """Some sockets of one loop, for one item."""
        inside = dict.fromkeys(nodes)
        routes = {
            node: tuple(r for r in self.routes[node] if r.target in inside and stays(r)) for node in inside
        }
        return Terrain(routes, tuple(inside), self.rounds, self.visits)

    def of_run(self, nodes: Iterable[str]) -> Terrain:
        """The sockets of one loop, for one run of it."""
        inside = dict.fromkeys(nodes)
        routes = {
            node: tuple(r for r in self.routes[node] if r.target in inside and not r.used_up)
            for node in inside
        }
        loops = {node: self.loops[node] for node in inside}
        return Terrain(routes, tuple(inside), self.rounds, self.visits, loops)

    def cyclic(self, nodes: Iterable[str], keep: Callable[[Route], bool]) -> list[tuple[str, ...]]:
        """The sets of these nodes that lead to each other, over routes that `keep` keeps."""
        inside = dict.fromkeys(nodes)
        after = {
            node: [r.target for r in self.routes[node] if r.target in inside and keep(r)] for node in inside
        }
        found = strong_components(after)
        cyclic = (part for part in found if len(part) > 1 or part[0] in after[part[0]])
        return [tuple(sorted(part, key=self.order.__getitem__)) for part in cyclic]


def stays(route: Route) -> bool:
    """Whether a step stays with the item of the visit before it."""
    return not route.progress and not route.used_up


def guarded(route: Route) -> bool:
    """Whether the stall guard looks at the visit that a step leads to."""
    return route.kind != "edge" or route.budget is None


def terrain_of(graph: LoadoutGraph, rounds: int) -> Terrain:
    """The terrain of casts of a loadout."""
    told = tuple(region for region in regions(graph) if region.loop is not None and not region.obstacles)
    routes = dict(graph.routes)
    for region in told:
        id_ = region.generator.id
        routes[id_] = tuple(_folded(graph, region, routes[id_]))
    for node, loop in graph.ways_past.items():
        routes[node] = (*routes[node], *_anew(graph, node, loop))
    same = _circles(graph)
    routes = _merged(routes, same)
    limits = {id_: socket.written.limits for id_, socket in graph.sockets.items()}
    visits = {id_: found.max_visits for id_, found in limits.items() if found and found.max_visits}
    loops = {id_: found for id_ in graph.sockets if (found := graph.loop_of(id_)) is not None}
    starts = tuple(dict.fromkeys(same.get(node, node) for node in graph.starts))
    return Terrain(routes, starts, rounds, visits, loops, told)


def _folded(graph: LoadoutGraph, region: RegionView, routes: Iterable[Route]) -> Iterator[Route]:
    """The routes of a parallel generator, with those into its streams led to where it goes on after them."""
    entry, done = (*region.prelude, region.door)[0], set()
    for route in routes:
        if route.kind not in ("edge", "empty"):
            yield route
        elif route.target == entry and route.progress not in done:
            done.add(route.progress)
            joined = route._replace(target=region.after, kind="joined")
            yield joined
            loop = graph.loop_of(region.after)
            if loop is not None:
                yield joined._replace(target=past(loop), kind="empty")


def _anew(graph: LoadoutGraph, node: str, loop: LoopView) -> Iterator[Route]:
    """A list that has become too short for its cursor is found empty, and then begun anew."""
    if graph.loop_of(loop.empty) is loop:
        yield Route(node, loop.empty, "past", loop.at)


def _circles(graph: LoadoutGraph) -> dict[str, str]:
    """Ways past empty loops that lead to each other are one place: there are no visits between them."""
    after = {
        node: [route.target for route in graph.routes[node] if route.target in graph.ways_past]
        for node in graph.ways_past
    }
    parts = (sorted(part) for part in strong_components(after))
    return {node: part[0] for part in parts for node in part[1:]}


def _merged(routes: Mapping[str, Iterable[Route]], same: Mapping[str, str]) -> dict[str, tuple[Route, ...]]:
    found: dict[str, list[Route]] = {node: [] for node in routes if node not in same}
    for node, steps in routes.items():
        source = same.get(node, node)
        for route in steps:
            target = same.get(route.target, route.target)
            if route.kind != "past" or target != source:
                found[source].append(route._replace(source=source, target=target))
    return {node: tuple(steps) for node, steps in found.items()}
