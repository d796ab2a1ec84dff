"""From a program to a `transitions` machine whose callbacks perform the sockets.

One state a socket, with those for the start, the end, a failure and a wait beside them; one trigger,
`step`. What a socket may do next are its transitions, in order, and the library takes the first whose
conditions pass: that is the rule of the language. Exits, used-up lists and empty loops are transitions
like the edges are, so the machine that is drawn is the machine that runs.

A parallel region is one state too: entering it runs all its streams. Each stream is driven by a machine
of its own, of the region alone.

States and the trigger have generated names: a socket may be called `state` or `trigger`. A callback
never fires the trigger; the runtime's loop does, or a long cast would overflow the stack.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from transitions import EventData, Machine, State, Transition

from materiac import collector
from materiac.program import END, Edge, Loop, Program, Region, Socket

START, FAILED, WAITING = "<start>", "<failed>", "<waiting>"
"""States that are no sockets; no socket can have such a name."""
_TRIGGER = "step"

logging.getLogger("transitions").setLevel(logging.WARNING)  # its debug records cost ten times a step


@dataclass(frozen=True, slots=True)
class Way:
    """One step out of a socket.

    `kind` is start, edge, exit, done, empty, joined or end; or failed, waiting, budget, limit or property,
    where the cast goes no further: then `blocked` is the step that it did not take.
    """

    kind: str
    source: str
    to: str
    when: str = "always"
    edge: Edge | None = None
    index: int | None = None
    blocked: Way | None = None


class Driver(Protocol):
    """What performs the sockets and knows what came of the visit that the machine is at.

    The questions are pure: they are asked in any number. `enter` and `leave` do things: `enter` the
    visit, `leave` what has to be on the disk before the machine moves.
    """

    def enter(self, socket: Socket) -> None: ...
    def leave(self, way: Way) -> None: ...
    def failed(self) -> bool: ...
    def waiting(self) -> bool: ...
    def skipped(self) -> bool: ...
    def used_up(self) -> bool: ...
    def verdict(self) -> bool | None: ...
    def over_budget(self, to: str) -> bool: ...
    def spent(self, source: str, index: int, edge: Edge) -> bool: ...
    def unfinished(self) -> bool: ...


class _Position:
    """The model of the machine: where it is, and nothing else that a name could clash with."""

    __slots__ = ("state",)

    state: str


Condition = Callable[[EventData], bool | None] | str


class _Transition(Transition):
    """A transition whose callbacks are callables: none is looked for by name and nothing is logged.

    That halves the price of a step.
    """

    def execute(self, event_data: EventData) -> bool:
        """Take the step if all conditions hold."""
        for condition in self.conditions:
            if not condition.func(event_data):  # type: ignore[operator]
                return False
        for callback in self.before:
            callback(event_data)  # type: ignore[operator]
        self._change_state(event_data)
        return True


class _Machine(Machine):
    transition_cls = _Transition


Streams = Callable[[Region], None]
"""Runs the streams of a region; then the driver says what came of it, as of a visit."""


class Grid:
    """A program as a running machine.

    Without `streams`, regions are sockets like all others. With `region` it is the machine of one stream,
    for which every way out of the region leads to the end. `gated` says whether steps are held to a
    budget, by default where the program has one.
    """

    def __init__(
        self,
        program: Program,
        driver: Driver,
        streams: Streams | None = None,
        region: Region | None = None,
        *,
        gated: bool | None = None,
    ) -> None:
        self._program, self._driver, self._streams = program, driver, streams
        self._region = region
        limited = program.budget.max_tokens is not None or program.budget.max_cost_usd is not None
        self._is_gated = limited if gated is None else gated
        self._is_watched = bool(program.properties) and region is None
        inside = region.sockets(program) if region else program.sockets
        self._ids = {id_: f"s{i}" for i, id_ in enumerate(inside)}
        self._regions = program.regions if streams and region is None else {}
        self._joins = {id_: f"r{i}" for i, id_ in enumerate(self._regions)}
        self._position = _Position()
        with collector.paused():
            self._machine = self._build()
        self._event = self._machine.events[_TRIGGER]
        self._names = {state: id_ for ids in (self._ids, self._joins) for id_, state in ids.items()}
        self._before = START

    @property
    def program(self) -> Program:
        """The program that the machine was made from."""
        return self._program

    @property
    def at(self) -> str:
        """The socket that the machine is at, or whose streams run; or `START`, `END`, `FAILED`, `WAITING`."""
        return self._names.get(self._position.state, self._position.state)

    @property
    def over(self) -> bool:
        """Whether there is no further step."""
        return self._position.state in (END, FAILED, WAITING)

    def step(self) -> None:
        """Take one step: leave where the machine is, enter what comes next."""
        self._before = self._position.state
        self._event.trigger(self._position)

    def back(self) -> Region | None:
        """Stand again where the last step was taken from, entering nothing; gives the region if it is one."""
        self._position.state = self._before
        return self._regions.get(self.at) if self._before in self._joins.values() else None

    def remade(self, program: Program) -> Grid:
        """A machine of another program that stands where this one does. Raises `KeyError` if it cannot."""
        region = None if self._region is None else program.regions[self._region.generator]
        other = Grid(program, self._driver, self._streams, region, gated=self._is_gated)
        other._position.state = self._matching(other, self._position.state)
        if self._position.state in (FAILED, WAITING):
            other._before = self._matching(other, self._before)
        return other

    def _matching(self, other: Grid, state: str) -> str:
        if state not in self._names:
            return state
        return (other._joins if state in self._joins.values() else other._ids)[self._names[state]]

    def _build(self) -> Machine:
        states = [START, END, FAILED, WAITING]
        sockets = [self._program.sockets[id_] for id_ in self._ids]
        performed = [State(self._ids[s.id], on_enter=[self._performing(s)]) for s in sockets]
        joined = [State(self._joins[id_], on_enter=[self._running(r)]) for id_, r in self._regions.items()]
        machine = _Machine(
            model=None,
            states=[*states, *performed, *joined],
            initial=START,
            auto_transitions=False,
            send_event=True,
            queued=False,
        )
        machine.set_state(START, self._position)
        for way, conditions in self._beginning():
            self._add(machine, START, way, conditions)
        for socket in sockets:
            for way, conditions in self._steps(socket):
                self._add(machine, self._ids[socket.id], way, conditions)
        for region in self._regions.values():
            for way, conditions in self._joining(region):
                self._add(machine, self._joins[region.generator], way, conditions)
        return machine

    def _beginning(self) -> Iterator[tuple[Way, list[Condition]]]:
        if self._region is None:
            yield Way("start", START, self._program.entry), []
        else:
            yield from self._gated(Way("start", START, self._region.entry), [])

    def _performing(self, socket: Socket) -> Callable[[EventData], None]:
        return lambda _: self._driver.enter(socket)

    def _running(self, region: Region) -> Callable[[EventData], None]:
        streams = self._streams
        return lambda _: streams(region) if streams else None

    def _target(self, way: Way) -> str:
        """The state that a step leads to."""
        if way.kind == "edge" and way.source in self._joins:
            return self._joins[way.source]
        out = END if self._region is not None and way.to in self._program.sockets else way.to
        return self._ids.get(way.to, out)

    def _add(self, machine: Machine, source: str, way: Way, conditions: list[Condition]) -> None:
        target = self._target(way)

        def leave(_: EventData) -> None:
            self._driver.leave(way)

        machine.add_transition(_TRIGGER, source, target, conditions=conditions, before=[leave])

    def _steps(self, socket: Socket) -> Iterator[tuple[Way, list[Condition]]]:
        driver = self._driver
        yield Way("failed", socket.id, FAILED), [lambda _: driver.failed()]
        yield Way("waiting", socket.id, WAITING), [lambda _: driver.waiting()]
        if socket.loop is not None:
            loop = self._program.loops[socket.loop]
            yield from self._watched(Way("empty", socket.id, loop.empty), [lambda _: driver.skipped()])
            if socket.advance is not None:
                for way, conditions in self._exits(socket, loop):
                    yield from self._gated(way, [lambda _: driver.used_up(), *conditions])
        for index, edge in enumerate(socket.edges):
            way = Way("edge", socket.id, edge.to, edge.when, edge, index)
            yield from self._gated(way, self._verdict(edge.when))
        yield from self._watched(Way("end", socket.id, END), [])

    def _joining(self, region: Region) -> Iterator[tuple[Way, list[Condition]]]:
        driver, generator = self._driver, region.generator
        yield Way("failed", generator, FAILED), [lambda _: driver.failed()]
        yield Way("waiting", generator, WAITING), [lambda _: driver.waiting()]
        yield from self._gated(Way("joined", generator, region.after), [])

    def _exits(self, socket: Socket, loop: Loop) -> Iterator[tuple[Way, list[Condition]]]:
        """The verdict's own exit goes before the unconditional one, however they are written."""
        mine = [route for route in loop.exits if route.source == socket.id]
        for route in sorted(mine, key=lambda route: route.condition == "always"):
            way = Way("exit", socket.id, route.to, route.condition)
            yield way, self._verdict(route.condition)
        done = socket.advance.done if socket.advance else None
        yield Way("done", socket.id, done or loop.done), []

    def _verdict(self, when: str) -> list[Condition]:
        if when == "always":
            return []
        wanted = when == "satisfied"
        return [lambda _: self._driver.verdict() is wanted]

    def _gated(self, way: Way, conditions: list[Condition]) -> Iterator[tuple[Way, list[Condition]]]:
        """A step, and before it what keeps a cast from taking it: the cast's budget, the edge's own."""
        driver = self._driver
        if self._is_gated and self._target(way) != END:
            target = FAILED if self._program.budget.stop_at_limit else WAITING
            gate = Way("budget", way.source, target, blocked=way)
            yield gate, [*conditions, lambda _: driver.over_budget(way.to)]
        edge, index = way.edge, way.index
        if edge is not None and index is not None and edge.max_traversals is not None:
            gate = Way("limit", way.source, FAILED, blocked=way)
            yield gate, [*conditions, _spent(driver, way.source, index, edge)]
        yield from self._watched(way, conditions)

    def _watched(self, way: Way, conditions: list[Condition]) -> Iterator[tuple[Way, list[Condition]]]:
        """A step; one to the end of a cast is not taken where something that was to be is still to come."""
        if self._is_watched and way.to == END:
            gate = Way("property", way.source, FAILED, blocked=way)
            yield gate, [*conditions, lambda _: self._driver.unfinished()]
        yield way, conditions


def _spent(driver: Driver, source: str, index: int, edge: Edge) -> Condition:
    return lambda _: driver.spent(source, index, edge)
