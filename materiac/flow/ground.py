"""The routes of a loadout as casts take them, and what may hold a cast up on them.

The graph has every route that anything could take. A few of those lead nowhere in a cast: out of a stream
before its list is used up, and round and round past empty loops. And a plan without streams leads from its
generator straight to what follows the streams.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Final

from materiac import model, shipped
from materiac.digraph import breadth_first
from materiac.flow.regions import RegionView, regions
from materiac.path import WORK_ITEMS, Path, parse_source
from materiac.program import FAN_IN
from materiac.routes import Route, past

if TYPE_CHECKING:
    from materiac.graph import LoadoutGraph, LoopView, SocketView

Fact = tuple[str, Hashable]
"""What holds a cast up: ("list", where), ("edge", (socket, index)), ("visits", socket), ("guard", what)."""

_PLAN: Final = parse_source(WORK_ITEMS)


class Ground:
    """What the moves of a cast stand on.

    `cycles` is how many cycles the stall guard allows, `longest` how long lists are at most. With
    `streams`, those of a region are run one after another; else one stream has all items.
    """

    def __init__(
        self, graph: LoadoutGraph, cycles: int, *, longest: float = inf, streams: bool = False
    ) -> None:
        self.graph, self.cycles, self.longest, self._streams = graph, cycles, longest, streams
        whole = [region for region in regions(graph) if region.loop is not None and not region.obstacles]
        self.regions = {region.generator.id: region for region in whole}
        self._region_of = {id_: region for region in whole for id_ in region.members}

    @cached_property
    def starts(self) -> tuple[Route, ...]:
        """The steps that begin a cast."""
        return tuple(Route("", node, "start", self.graph.base) for node in self.graph.starts)

    @cached_property
    def routes(self) -> Mapping[str, tuple[Route, ...]]:
        """The steps from each node; those of kind jump pass a region without streams."""
        found = {
            node: tuple(route for route in routes if not self._is_astray(route))
            for node, routes in self.graph.routes.items()
        }
        for region in self.regions.values():
            self._rewrite(found, region)
        return found

    def list_of(self, loop: LoopView) -> Fact:
        """The list that a loop goes through, which it may share with others."""
        return "list", (loop.path.root, loop.path.segments) if loop.path else loop.id

    def loop_of_edge(self, fact: Fact) -> LoopView | None:
        """The loop whose items an edge is counted for; None where it is counted for the cast."""
        return self.graph.loop_of(fact[1][0]) if isinstance(fact[1], tuple) else None

    def loop_of_stream(self, socket: str) -> str | None:
        """The loop of the stream that a socket runs in."""
        region = self._region_of.get(socket)
        return region.loop.id if region is not None and region.loop is not None else None

    def sends(self, socket: SocketView, path: Path | None) -> bool:
        """Whether a visit may put a list of any length where a path leads."""
        if path is None or socket.replaces(path):
            return True
        if path.root != "state" or not path.segments:
            return False
        if path.segments[0] == FAN_IN:
            return socket.id in self._region_of
        return socket.parse == "json" and (path.segments[0] == "envelope" or _patches(socket))

    def offers(self, socket: SocketView, path: Path | None) -> bool:
        """Whether a visit may send the list where nobody has sent one yet."""
        return socket.parse == "json" and path is not None and path.segments == _PLAN.segments

    def with_what_they_need(self, facts: Iterable[Fact]) -> Iterator[Fact]:
        """Facts, and the lists on which it depends for what they are counted."""
        for fact in facts:
            yield fact
            if fact[0] == "guard":
                yield from map(self.list_of, self.graph.loops.values())
            loop = self.loop_of_edge(fact) if fact[0] == "edge" else None
            if loop is not None:
                yield self.list_of(loop)

    def readers(self, fact: Fact) -> frozenset[str]:
        """The nodes from which a list may be read before it is sent anew: elsewhere it does not matter."""
        loops = [loop for loop in self.graph.loops.values() if self.list_of(loop) == fact]
        near = [node for loop in loops for node in (*loop.sockets, past(loop))]

        def back(node: str) -> Iterator[str]:
            for source in self._before.get(node, ()):
                socket = self.graph.sockets.get(source)
                if socket is None or not self.sends(socket, loops[0].path):
                    yield source

        return frozenset(breadth_first(near, back))

    @cached_property
    def _before(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = {}
        for node, routes in self.routes.items():
            for route in routes:
                found.setdefault(route.target, []).append(node)
        return found

    def _is_astray(self, route: Route) -> bool:
        passed = self.graph.ways_past.get(route.source)
        if passed is not None:
            # Past a loop whose empty list leads back to it, a cast goes until the stall guard ends it.
            return self.graph.loop_of(passed.empty) is passed
        region = self._region_of.get(route.source)
        if region is None or route.used_up:
            return False
        return route.kind == "empty" or route.target not in region.members

    def _rewrite(self, routes: dict[str, tuple[Route, ...]], region: RegionView) -> None:
        loop, generator = region.loop, region.generator.id
        if loop is None:
            return
        edges = tuple(route for route in routes[generator] if route.kind == "edge")
        jumps = tuple(route._replace(target=past(loop), kind="jump", budget=None) for route in edges)
        routes[generator] = edges + jumps
        after = self.graph.loop_of(region.after)
        targets = [region.after] if after is None else [region.after, past(after)]
        routes[past(loop)] = tuple(Route(past(loop), target, "past", loop.at) for target in targets)
        if self._streams:
            first = region.prelude[0] if region.prelude else region.door
            for id_ in loop.sockets:
                again = (
                    route._replace(target=first, kind="stream") for route in routes[id_] if route.used_up
                )
                routes[id_] += tuple(again)


def _patches(socket: SocketView) -> bool:
    """Whether a utility may send keys of the state that nothing tells of."""
    materia = socket.materia
    if not isinstance(materia, model.UtilityMateria) or "writes" in materia.model_fields_set:
        return False
    builtin = shipped.SCRIPTS.get(materia.script.name) if materia.script else materia.utility
    if builtin != "echo":
        return builtin not in shipped.BUILTIN_WRITES
    params = materia.params or {}
    output = params.get("output", params)
    return isinstance(output, dict) and "state" in output
