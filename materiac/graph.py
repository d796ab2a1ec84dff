"""Questions about a loadout, in the words of loadouts: where control may go, what leads where.

Parts that lead nowhere (unknown targets, unknown materia) are passed over: the rules have reported them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

from materiac import model
from materiac.digraph import breadth_first, strong_components
from materiac.names import END
from materiac.routes import Route, routes_of
from materiac.source import Pointer
from materiac.views import (
    WORK_ITEM,
    WORK_ITEM_INDEX,
    WORK_ITEMS,
    Assignment,
    ExitRoute,
    LoopView,
    SocketView,
    Step,
    Verdict,
    assignments,
    foreach_view,
    holds,
    loop_view,
    step,
)

__all__ = [
    "WORK_ITEM",
    "WORK_ITEMS",
    "WORK_ITEM_INDEX",
    "Assignment",
    "ExitRoute",
    "LoadoutGraph",
    "LoopView",
    "Route",
    "SocketView",
    "Step",
    "Verdict",
    "holds",
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

    @cached_property
    def routes(self) -> Mapping[str, tuple[Route, ...]]:
        """For each socket, the steps that control may take after a visit of it."""
        return {
            id_: routes_of(socket, self._loop_of, self.sockets.keys()) for id_, socket in self.sockets.items()
        }

    @cached_property
    def starts(self) -> tuple[str, ...]:
        """Where a cast may begin: at the entry, or past loops that it finds empty."""
        found: dict[str, None] = {}
        at = self.entry
        while at in self.sockets and at not in found:
            found[at] = None
            loop = self._loop_of.get(at)
            at = loop.empty if loop else at
        return tuple(found)

    def after(self, id_: str) -> Iterator[str]:
        """The sockets that control may go to after a visit, `end` left out."""
        return (route.target for route in self.routes.get(id_, ()) if route.target != END)

    @cached_property
    def reached(self) -> Mapping[str, int]:
        """The sockets that some cast may come to, and their places in a walk from the start.

        The walk follows the routes as they are written, so the places do not depend on the order in
        which the sockets are.
        """
        return {id_: i for i, id_ in enumerate(breadth_first(self.starts, self.after))}

    @cached_property
    def ending(self) -> frozenset[str]:
        """The sockets from which `end` can be reached."""
        return frozenset(breadth_first([END], lambda id_: self.before.get(id_, ()))) - {END}

    @cached_property
    def before(self) -> Mapping[str, tuple[str, ...]]:
        """For each socket and for `end`, the sockets from which control may come to it."""
        found: dict[str, list[str]] = {}
        for id_, routes in self.routes.items():
            for route in routes:
                found.setdefault(route.target, []).append(id_)
        return {id_: tuple(dict.fromkeys(sources)) for id_, sources in found.items()}

    def components(self, keep: Callable[[Route], bool]) -> list[tuple[str, ...]]:
        """The sets of reached sockets that lead to each other over the routes that `keep` keeps.

        Each in the order of `reached`, and the sets in the order of their first sockets; a single
        socket is one only if it leads to itself.
        """
        after = {
            id_: [route.target for route in self.routes[id_] if route.target != END and keep(route)]
            for id_ in self.reached
        }
        found = [tuple(sorted(part, key=self.reached.__getitem__)) for part in strong_components(after)]
        cyclic = [part for part in found if len(part) > 1 or part[0] in after[part[0]]]
        return sorted(cyclic, key=lambda part: self.reached[part[0]])
