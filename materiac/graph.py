"""Questions about a loadout, in the words of loadouts: what a socket really does, where control may go.

Here every default of the language is filled in, once, for the rules and for the compiler. Parts that
lead nowhere (unknown targets, unknown materia) are passed over: the rules have reported them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from materiac import model
from materiac.digraph import strong_components, walk
from materiac.names import END
from materiac.source import Pointer

WORK_ITEMS = "state.workItems"
WORK_ITEM = "workItem"
WORK_ITEM_INDEX = "workItemIndex"

Verdict = bool | None


def holds(when: str, verdict: Verdict) -> bool:
    """Whether a condition holds for a verdict; None is an output without one."""
    return when == "always" or verdict is (when == "satisfied")


@dataclass(frozen=True, slots=True)
class Assignment:
    """One merged assignment of a socket, and where it is written."""

    target: str
    source: str
    at: Pointer


@dataclass(frozen=True, slots=True)
class Step:
    """The advance of a socket, its own or the one that an early exit says."""

    when: str
    done: str | None
    at: Pointer


@dataclass(frozen=True, slots=True)
class ExitRoute:
    """A way out of a loop that is used up; `at` is the exit, `to_at` its target."""

    id: str
    source: str
    condition: str
    to: str
    at: Pointer
    to_at: Pointer


@dataclass(frozen=True)
class LoopView:
    """An iterating loop, or a lone socket with `foreach`."""

    id: str
    sockets: tuple[str, ...]
    items: str
    alias: str
    cursor: str
    done: str | None
    exits: tuple[ExitRoute, ...]
    at: Pointer
    source: str | None = None
    max_concurrency: int | None = None
    foreach: bool = False
    early: model.EarlyExit | None = None

    @cached_property
    def empty(self) -> str:
        """Where control goes when there is no item."""
        always = (route.to for route in self.exits if route.condition == "always")
        early = END if self.early is not None and self.early.when == "always" else None
        return next(always, None) or early or self.done or END

    def exit_for(self, source: str, verdict: Verdict) -> ExitRoute | None:
        """The exit that is taken when a visit of `source` has used the list up."""
        mine = [route for route in self.exits if route.source == source]
        exact = {True: "satisfied", False: "not_satisfied", None: "always"}[verdict]
        for condition in (exact, "always"):
            for route in mine:
                if route.condition == condition:
                    return route
        return None


@dataclass(frozen=True)
class SocketView:
    """A socket with its materia's defaults and those of the language filled in."""

    id: str
    at: Pointer
    written: model.Socket
    materia: model.Materia | None
    parse: str
    assign: tuple[Assignment, ...]
    advance: Step | None
    loop: LoopView | None

    @property
    def generator(self) -> bool:
        return self.materia is not None and self.materia.generator

    @property
    def utility(self) -> bool:
        return isinstance(self.materia, model.UtilityMateria)

    @cached_property
    def asks_verdict(self) -> bool:
        """Whether an edge or the advance needs `satisfied` in the output; exits alone do not."""
        guards = [edge.when for edge in self.written.edges]
        return any(when != "always" for when in [*guards, self.advance.when if self.advance else "always"])

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        """What may come as a verdict of an accepted output."""
        if self.parse == "text":
            return (None,)
        return (True, False) if self.asks_verdict else (True, False, None)


@dataclass(frozen=True, slots=True)
class Route:
    """One step that control may take. `kind` is edge, exit, done, empty or end.

    `progress` is true where the step follows an advance within the list; `edge` is the edge's index.
    """

    source: str
    target: str
    kind: str
    at: Pointer
    when: str = "always"
    budget: int | None = None
    progress: bool = False
    edge: int | None = None


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
        for id_, loop in self.loadout.loops.items():
            if loop.iterates:
                yield id_, _loop(id_, loop, self.loop_at(id_))
        for id_, socket in self.loadout.sockets.items():
            if socket.foreach is not None and not any(id_ in loop.sockets for loop in self._iterating()):
                at = (*self.socket_at(id_), "foreach")
                yield f"foreach:{id_}", _foreach(id_, socket.foreach, at)

    def _iterating(self) -> Iterable[model.Loop]:
        return (loop for loop in self.loadout.loops.values() if loop.iterates)

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
            assign=_assign(at, socket, behaviour),
            advance=_advance(id_, at, socket, loop),
            loop=loop,
        )

    def _parse(self, id_: str, socket: model.Socket, behaviour: model.Materia | None) -> str:
        written = socket.parse or (behaviour.parse if behaviour else None)
        judged = id_ in self._judged or (behaviour is not None and behaviour.generator)
        return written or ("json" if judged else "text")

    @cached_property
    def _judged(self) -> frozenset[str]:
        """The sources of exits whose condition is a verdict."""
        exits = [(e.source, e.condition) for loop in self._iterating() for e in loop.exits]
        early = [(loop.exit.source, loop.exit.when) for loop in self._iterating() if loop.exit]
        return frozenset(source for source, condition in [*exits, *early] if condition != "always")

    @cached_property
    def routes(self) -> Mapping[str, tuple[Route, ...]]:
        """For each socket, the steps that control may take after a visit of it."""
        return {id_: tuple(self._routes(socket)) for id_, socket in self.sockets.items()}

    def _routes(self, socket: SocketView) -> Iterator[Route]:
        seen: set[tuple[str, str]] = set()
        for route in [*self._edges(socket), *self._used_up(socket)]:
            if route.target == END or route.target in self.sockets:
                yield route
                yield from self._past_empty(socket, route, seen)

    def _edges(self, socket: SocketView) -> Iterator[Route]:
        taken: dict[tuple[int | None, bool], Route] = {}
        for verdict in socket.verdicts:
            stepped = socket.advance is not None and holds(socket.advance.when, verdict)
            index = next((i for i, e in enumerate(socket.written.edges) if holds(e.when, verdict)), None)
            taken.setdefault((index, stepped), self._edge(socket, index, progress=stepped))
        yield from sorted(
            taken.values(), key=lambda route: (route.edge is None, route.edge or 0, route.progress)
        )

    def _edge(self, socket: SocketView, index: int | None, *, progress: bool) -> Route:
        if index is None:
            return Route(socket.id, END, "end", socket.at, progress=progress)
        edge, at = socket.written.edges[index], (*socket.at, "edges", index)
        return Route(socket.id, edge.to, "edge", at, edge.when, edge.max_traversals, progress, index)

    def _used_up(self, socket: SocketView) -> Iterator[Route]:
        if socket.advance is None or socket.loop is None:
            return
        yielded: set[ExitRoute | None] = set()
        for verdict in socket.verdicts:
            if not holds(socket.advance.when, verdict):
                continue
            route = socket.loop.exit_for(socket.id, verdict)
            if route not in yielded:
                yielded.add(route)
                yield self._exit(socket, socket.loop, route)

    def _exit(self, socket: SocketView, loop: LoopView, route: ExitRoute | None) -> Route:
        if route is not None:
            return Route(socket.id, route.to, "exit", route.at, route.condition)
        own = socket.advance.done if socket.advance else None
        return Route(socket.id, own or loop.done or END, "done", loop.at)

    def _past_empty(self, socket: SocketView, route: Route, seen: set[tuple[str, str]]) -> Iterator[Route]:
        target, loop = route.target, self._loop_of.get(route.target)
        while loop is not None and (loop is not socket.loop or socket.generator):
            if (loop.id, loop.empty) in seen:
                return
            seen.add((loop.id, loop.empty))
            target = loop.empty
            if target != END and target not in self.sockets:
                return
            yield Route(socket.id, target, "empty", loop.at, budget=route.budget)
            loop = self._loop_of.get(target)

    @cached_property
    def starts(self) -> tuple[str, ...]:
        """Where a cast may begin: at the entry, or past loops that it finds empty."""
        found: list[str] = []
        at = self.entry
        while at in self.sockets and at not in found:
            found.append(at)
            loop = self._loop_of.get(at)
            at = loop.empty if loop else at
        return tuple(found)

    @cached_property
    def reached(self) -> frozenset[str]:
        """The sockets that some cast may come to."""
        return frozenset(walk(self.starts, lambda id_: (r.target for r in self.routes.get(id_, ()))) - {END})

    @cached_property
    def ending(self) -> frozenset[str]:
        """The sockets from which `end` can be reached."""
        before: dict[str, list[str]] = {}
        for id_, routes in self.routes.items():
            for route in routes:
                before.setdefault(route.target, []).append(id_)
        return frozenset(walk([END], lambda id_: before.get(id_, ())) - {END})

    def components(self, keep: Callable[[Route], bool]) -> list[tuple[str, ...]]:
        """The sets of sockets that lead to each other over the routes that `keep` keeps.

        Each in written order, and the sets in the order of their first sockets; a single socket is
        one only if it leads to itself.
        """
        after = {
            id_: [r.target for r in routes if r.target != END and keep(r)]
            for id_, routes in self.routes.items()
        }
        order = {id_: i for i, id_ in enumerate(self.sockets)}
        found = [tuple(sorted(part, key=order.__getitem__)) for part in strong_components(after)]
        cyclic = [part for part in found if len(part) > 1 or part[0] in after[part[0]]]
        return sorted(cyclic, key=lambda part: order[part[0]])


def _loop(id_: str, loop: model.Loop, at: Pointer) -> LoopView:
    iterator, consumes = loop.iterator, loop.consumes
    routes = [
        ExitRoute(
            e.id or "",
            e.source,
            e.condition,
            e.target_socket_id,
            (*at, "exits", i),
            (*at, "exits", i, "targetSocketId"),
        )
        for i, e in enumerate(loop.exits)
    ]
    if loop.exit is not None and loop.exit.to != END:
        early = loop.exit
        routes.append(ExitRoute("", early.source, early.when, early.to, (*at, "exit"), (*at, "exit", "to")))
    return LoopView(
        id=id_,
        sockets=tuple(loop.sockets),
        items=iterator.items if iterator else WORK_ITEMS,
        alias=(iterator and iterator.alias) or (consumes and consumes.alias) or WORK_ITEM,
        cursor=(iterator and iterator.cursor) or (consumes and consumes.cursor) or WORK_ITEM_INDEX,
        done=iterator.done if iterator else None,
        exits=tuple(routes),
        at=at,
        source=consumes.source if consumes else None,
        max_concurrency=loop.parallel.max_concurrency if loop.parallel else None,
        early=loop.exit,
    )


def _foreach(id_: str, foreach: model.Foreach, at: Pointer) -> LoopView:
    cursor = foreach.cursor or f"{id_}Index"
    return LoopView(
        f"foreach:{id_}", (id_,), foreach.items, foreach.alias, cursor, foreach.done, (), at, foreach=True
    )


def _assign(at: Pointer, socket: model.Socket, behaviour: model.Materia | None) -> tuple[Assignment, ...]:
    """The materia's first; the socket wins on a target, in its place; a generator's list comes last."""
    merged: dict[str, Assignment] = {}
    inherited = behaviour.assign if behaviour else {}
    for target, source in inherited.items():
        merged[target] = Assignment(target, source, ("materia", socket.materia, "assign", target))
    for target, source in socket.assign.items():
        merged[target] = Assignment(target, source, (*at, "assign", target))
    if behaviour is not None and behaviour.generator:
        written = merged.pop("workItems", None)
        merged["workItems"] = written or Assignment("workItems", "$.workItems", at)
    return tuple(merged.values())


def _advance(id_: str, at: Pointer, socket: model.Socket, loop: LoopView | None) -> Step | None:
    if socket.advance is not None:
        return Step(socket.advance.when, socket.advance.done, (*at, "advance"))
    if loop is not None and loop.early is not None and loop.early.source == id_:
        return Step(loop.early.when, None, (*loop.at, "exit"))
    return None
