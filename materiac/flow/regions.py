"""What runs once for each stream of a parallel generator, and what keeps it from being told.

A region is the one way from the generator to the one loop that consumes its work items, with that loop.
Nobody but the generator leads into it, and it leads to one place when its streams are done.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from materiac.diagnostic import Bilingual
from materiac.names import END
from materiac.path import WORK_ITEMS
from materiac.source import KEY, Pointer

if TYPE_CHECKING:
    from materiac.graph import LoadoutGraph, LoopView, Route, SocketView


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why something is no region: in words, where, and what it has to do with."""

    message: str
    at: Pointer
    related: tuple[tuple[Pointer, str], ...] = ()
    help: str | Bilingual | None = None


@dataclass
class RegionView:
    """A region as far as it can be told; it is whole where there are no `obstacles`."""

    generator: SocketView
    prelude: list[str] = field(default_factory=list)
    loop: LoopView | None = None
    door: str = ""
    after: str = END
    obstacles: list[Obstacle] = field(default_factory=list)

    @property
    def members(self) -> tuple[str, ...]:
        """The sockets that run in streams."""
        return (*self.prelude, *(self.loop.sockets if self.loop else ()))


def regions(graph: LoadoutGraph) -> Iterator[RegionView]:
    """The region of each parallel generator, in written order."""
    for socket in graph.sockets.values():
        if socket.generator and socket.materia is not None and socket.materia.parallel:
            yield _region(graph, socket)


def _region(graph: LoadoutGraph, generator: SocketView) -> RegionView:
    region = RegionView(generator)
    consuming = [loop for loop in graph.loops.values() if loop.source == generator.id]
    if len(consuming) != 1:
        region.obstacles.append(_loops(generator, consuming))
        return region
    region.loop = loop = consuming[0]
    for found in (
        _way(graph, region, loop),
        _list(region, loop),
        _strays(graph, region),
        _ends(graph, region),
    ):
        region.obstacles += found
    return region


def _loops(generator: SocketView, consuming: list[LoopView]) -> Obstacle:
    at = (*generator.at, KEY)
    if not consuming:
        words = f"no loop consumes the work items of the parallel generator '{generator.id}'"
        in_json = f'add a loop with "consumes": {{"from": "{generator.id}"}}'
        return Obstacle(words, at, help=Bilingual(in_json, f"add a loop 'over {generator.id}'"))
    first, second, *_ = consuming
    words = f"loops '{first.id}' and '{second.id}' both consume the work items of '{generator.id}'"
    related = tuple(((*loop.at, KEY), f"loop '{loop.id}'") for loop in consuming)
    return Obstacle(f"{words}, whose streams run one", at, related)


def _way(graph: LoadoutGraph, region: RegionView, loop: LoopView) -> Iterator[Obstacle]:
    """Walk from the generator to the loop; what is passed is the prelude."""
    at = region.generator
    while True:
        if len(at.written.edges) != 1 or at.written.edges[0].when != "always":
            yield _fork(at, loop)
            return
        edge_at = (*at.at, "edges", 0, "to")
        target = at.written.edges[0].to
        if target in loop.sockets:
            region.door = target
            return
        following = graph.sockets.get(target)
        fault = _misplaced(region, following)
        if following is None or fault:
            words = f"the way from '{region.generator.id}' to loop '{loop.id}' leads to '{target}'{fault}"
            yield Obstacle(words, edge_at, _marked(loop))
            return
        region.prelude.append(target)
        at = following


def _fork(at: SocketView, loop: LoopView) -> Obstacle:
    edges = at.written.edges
    many = f"{len(edges)} edges" if len(edges) != 1 else f"an edge that is taken when '{edges[0].when}'"
    found = many if edges else "no edge"
    words = f"on the way of streams to loop '{loop.id}', '{at.id}' has {found}"
    place = (*at.at, "edges", KEY) if edges else (*at.at, KEY)
    return Obstacle(f"{words}, expected one that is always taken", place, _marked(loop))


def _misplaced(region: RegionView, socket: SocketView | None) -> str:
    """Why a socket cannot be on the way; empty where it can."""
    if socket is None:
        return ""
    if socket.generator:
        return ", which is a generator"
    if socket.loop is not None:
        return ", which goes through a list of its own"
    return ", for the second time" if socket.id in region.prelude else ""


def _list(region: RegionView, loop: LoopView) -> Iterator[Obstacle]:
    if not loop.is_list(WORK_ITEMS):
        words = f"loop '{loop.id}' goes through '{loop.items}', the streams of '{region.generator.id}'"
        yield Obstacle(f"{words} are of '{WORK_ITEMS}'", (*loop.at, "iterator", "items"))


def _strays(graph: LoadoutGraph, region: RegionView) -> Iterator[Obstacle]:
    """Ways into the region that no stream goes; within the loop every way is one."""
    loop, chain = region.loop, [region.generator.id, *region.prelude]
    if loop is None or not region.door:
        return
    if graph.entry in region.members:
        words = f"'{graph.entry}' runs in the streams of '{region.generator.id}', a cast cannot begin there"
        yield Obstacle(words, (*graph.socket_at(graph.entry), KEY), _marked(loop))
    allowed = {target: {source} for source, target in zip(chain, region.prelude, strict=False)}
    allowed |= {id_: set(loop.sockets) for id_ in loop.sockets}
    allowed[region.door].add(chain[-1])
    for target, sources in allowed.items():
        strays = (node for node in graph.before.get(target, ()) if node not in sources)
        for node in sorted((node for node in strays if node in graph.reached), key=graph.reached.__getitem__):
            route = next(route for route in graph.routes[node] if route.target == target)
            yield _stray(graph, region, route)


def _stray(graph: LoadoutGraph, region: RegionView, route: Route) -> Obstacle:
    source = f"'{route.source}'" if route.source in graph.sockets else "an empty loop"
    words = f"'{route.target}' runs in the streams of '{region.generator.id}', but {source} leads to it too"
    return Obstacle(words, route.at, help=f"lead to '{region.generator.id}': it sends a new plan")


def _ends(graph: LoadoutGraph, region: RegionView) -> Iterator[Obstacle]:
    """Where the region leads to, which has to be one place outside of it."""
    loop = region.loop
    if loop is None:
        return
    ends: dict[str, Route] = {}
    for route in (route for id_ in loop.sockets for route in graph.routes[id_]):
        if route.used_up and route.kind != "empty":
            ends.setdefault(route.target, route)
    region.after = next(iter(ends), loop.empty)
    if len(ends) > 1:
        first, second, *_ = ends.values()
        words = f"loop '{loop.id}' leads to '{first.target}' and to '{second.target}' when it is used up"
        related = ((first.at, f"to '{first.target}'"), (second.at, f"to '{second.target}'"))
        yield Obstacle(f"{words}, expected one way on from its streams", (*loop.at, KEY), related)
    elif region.after in region.members:
        words = f"the streams of '{region.generator.id}' would go on at '{region.after}', which runs in them"
        yield Obstacle(words, (*loop.at, KEY))


def _marked(loop: LoopView) -> tuple[tuple[Pointer, str], ...]:
    return (((*loop.at, KEY), f"loop '{loop.id}'"),)
