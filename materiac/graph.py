"""Questions about a loadout, in the words of loadouts: where control may go, what leads where.

The nodes are the sockets, and for each loop the way past it, which is taken where the loop is found empty:
this keeps the graph as small as the loadout. Parts that lead nowhere (unknown targets, unknown materia)
are passed over: the rules have reported them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

from materiac import model
from materiac.digraph import breadth_first, strong_components
from materiac.names import END
from materiac.routes import Route, past, routes_after, routes_past
from materiac.source import Pointer
from materiac.views import (
    Assignment,
    ExitRoute,
    LoopView,
    SocketView,
    Step,
    assignments,
    foreach_view,
    loop_view,
    step,
)

__all__ = [
    "Assignment",
    "ExitRoute",
    "LoadoutGraph",
    "LoopView",
    "Route",
    "SocketView",
    "Step",
]


class LoadoutGraph:
    """A loadout whose names are looked up and whose routes can be walked."""

    def __init__(self, name: str, loadout: model.Loadout, materia: Mapping[str, model.Materia]) -> None:
        self.name = name
        self.loadout = loadout
        self.base: Pointer = ("loadouts", name)
        self.entry = loadout.entry or next(iter(loadout.sockets))
        self.loops = dict(self._loops())
        self.sockets = {id_: self._socket(id_, materia) for id_ in loadout.sockets}

    def loop_at(self, id_: str) -> Pointer:
        return (*self.base, "loops", id_)

    def socket_at(self, id_: str) -> Pointer:
        return (*self.base, "sockets", id_)

    def _loops(self) -> Iterator[tuple[str, LoopView]]:
        members: set[str] = set()
        for id_, loop in self.loadout.loops.items():
            if loop.iterates:
                members.update(loop.sockets)
                yield id_, loop_view(id_, loop, self.loop_at(id_))
        for id_, socket in self.loadout.sockets.items():
            if socket.foreach is not None and id_ not in members:
                yield f"foreach:{id_}", foreach_view(id_, socket.foreach, (*self.socket_at(id_), "foreach"))

    @cached_property
    def _loop_of(self) -> Mapping[str, LoopView]:
        return {id_: loop for loop in reversed(self.loops.values()) for id_ in loop.sockets}

    def _socket(self, id_: str, materia: Mapping[str, model.Materia]) -> SocketView:
        socket, at = self.loadout.sockets[id_], self.socket_at(id_)
        behaviour, loop = materia.get(socket.materia), self._loop_of.get(id_)
        return SocketView(
            id=id_,
            at=at,
            written=socket,
            materia=behaviour,
            parse=self._parse(id_, socket, behaviour),
            assign=assignments(at, socket, behaviour),
            advance=step(id_, at, socket, loop),
            loop=loop,
        )

    def _parse(self, id_: str, socket: model.Socket, behaviour: model.Materia | None) -> str:
        written = socket.parse or (behaviour.parse if behaviour else None)
        # A materia that is nowhere may well have said json: then nothing is said about its verdicts.
        judged = behaviour is None or behaviour.generator or id_ in self._judged
        return written or ("json" if judged else "text")

    @cached_property
    def _judged(self) -> frozenset[str]:
        """The sources of exits whose condition is a verdict."""
        loops = self.loops.values()
        exits = [(route.source, route.condition) for loop in loops for route in loop.exits]
        early = [(loop.early.source, loop.early.when) for loop in loops if loop.early]
        return frozenset(source for source, condition in [*exits, *early] if condition != "always")

    def loop_of(self, node: str) -> LoopView | None:
        """The loop, or the `foreach`, that a socket is in; None on the way past a loop."""
        return self._loop_of.get(node)

    @cached_property
    def ways_past(self) -> Mapping[str, LoopView]:
        """The nodes that are no sockets: ways past loops that are found empty."""
        return {past(loop): loop for loop in self.loops.values()}

    @cached_property
    def routes(self) -> Mapping[str, tuple[Route, ...]]:
        """For each socket, the steps after a visit of it; for each way past a loop, those from there."""
        known = self.sockets.keys()
        visits = {
            id_: tuple(routes_after(socket, self._loop_of, known)) for id_, socket in self.sockets.items()
        }
        passes = {
            id_: tuple(
                route
                for to in self._past(loop, visits)
                for route in routes_past(loop, to, self._loop_of, known)
            )
            for id_, loop in self.ways_past.items()
        }
        return {**visits, **passes}

    def _past(self, loop: LoopView, visits: Mapping[str, tuple[Route, ...]]) -> list[str]:
        """Where control goes past an empty loop: a plan without streams leads to what comes behind them."""
        generator = self.sockets.get(loop.source or "")
        if generator is None or generator.materia is None or not generator.materia.parallel:
            return [loop.empty]
        routes = (route for id_ in loop.sockets for route in visits.get(id_, ()))
        behind = dict.fromkeys(route.target for route in routes if route.used_up and route.kind != "empty")
        return [*behind] or [loop.empty]

    @cached_property
    def starts(self) -> tuple[str, ...]:
        """Where a cast may begin: at the entry, or on the way past the loop of the entry."""
        loop = self._loop_of.get(self.entry)
        return (self.entry,) if loop is None else (self.entry, past(loop))

    def after(self, node: str) -> Iterator[str]:
        """Where control may go to next, `end` left out."""
        return (route.target for route in self.routes.get(node, ()) if route.target != END)

    @cached_property
    def reached(self) -> Mapping[str, int]:
        """The nodes that some cast may come to, and their places in a walk from the start.

        The walk follows the routes as they are written, so the places do not depend on the order in
        which the sockets are.
        """
        return {node: i for i, node in enumerate(breadth_first(self.starts, self.after))}

    @cached_property
    def ending(self) -> frozenset[str]:
        """The nodes from which `end` can be reached."""
        return frozenset(breadth_first([END], lambda node: self.before.get(node, ()))) - {END}

    @cached_property
    def before(self) -> Mapping[str, tuple[str, ...]]:
        """For each node and for `end`, the nodes from which control may come to it."""
        found: dict[str, list[str]] = {}
        for node, routes in self.routes.items():
            for route in routes:
                found.setdefault(route.target, []).append(node)
        return {node: tuple(dict.fromkeys(sources)) for node, sources in found.items()}

    def components(self, keep: Callable[[Route], bool]) -> list[tuple[str, ...]]:
        """The sets of reached nodes that lead to each other over the routes that `keep` keeps.

        Each in the order of `reached`, and the sets in the order of their first nodes; a single node
        is one only if it leads to itself.
        """
        after = {
            node: [route.target for route in self.routes[node] if route.target != END and keep(route)]
            for node in self.reached
        }
        found = [tuple(sorted(part, key=self.reached.__getitem__)) for part in strong_components(after)]
        cyclic = [part for part in found if len(part) > 1 or part[0] in after[part[0]]]
        return sorted(cyclic, key=lambda part: self.reached[part[0]])
