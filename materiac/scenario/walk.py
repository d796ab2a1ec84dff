"""Casts without their work: what the machine would do for every answer that a socket may give.

Loops, scopes and the stall guard are those of the runtime, so that a walk goes where a cast goes. Of an
output only the verdict counts, and how long the list is that it sends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Self

from materiac.path import parse_source
from materiac.program import END, Loop, Program, Socket
from materiac.runtime.items import ItemId, Loops
from materiac.runtime.scopes import Landmark, Scopes
from materiac.scenario.answers import List, Writers
from materiac.scenario.elements import Element, Key, after, verdicts
from materiac.verdict import holds

LENGTHS: Final = (1, 2, 0)
"""How long lists are, in the order in which that is tried."""

EdgeId = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Choice:
    """An answer of a socket: its verdict, and the lengths of the lists that it sends."""

    socket: str
    verdict: bool | None
    lengths: tuple[tuple[List, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a walk: the answer that it takes, where there is a visit, and what it covers.

    `status` is how the cast ends with it, None where it goes on.
    """

    choice: Choice | None
    covers: tuple[Key, ...]
    status: str | None = None


@dataclass(frozen=True, slots=True)
class Arrival:
    """How a walker came to where it is: by an edge with a budget or not, and the item of the visit before."""

    budgeted: bool = False
    item: ItemId | None = None


class Ground:
    """A program as walks need it: looked through once."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.writers = Writers(program)
        self.bounded = [
            (socket.id, index)
            for socket in program.sockets.values()
            for index, edge in enumerate(socket.edges)
            if edge.max_traversals is not None
        ]
        self.limited = [socket.id for socket in program.sockets.values() if socket.max_visits is not None]

    @cached_property
    def choices(self) -> Mapping[str, tuple[Choice, ...]]:
        """For each socket, the answers that it may give."""
        return {id_: tuple(self._choices(socket)) for id_, socket in self.program.sockets.items()}

    def _choices(self, socket: Socket) -> Iterator[Choice]:
        combinations: list[tuple[tuple[List, int], ...]] = [()]
        for list_ in self.writers.lists_of(socket):
            combinations = [(*rest, (list_, n)) for rest in combinations for n in LENGTHS]
        for verdict in verdicts(self.program, socket):
            for lengths in combinations:
                yield Choice(socket.id, verdict, lengths)


@dataclass
class Walker:
    """A cast in thought, about to come to the socket `at`; `item` is that of the visit under way."""

    ground: Ground
    at: str
    loops: Loops
    scopes: Scopes
    lengths: dict[List, int] = field(default_factory=dict)
    visits: Counter[str] = field(default_factory=Counter)
    arrival: Arrival | None = None
    item: ItemId | None = None

    @classmethod
    def start(cls, ground: Ground) -> Self:
        """A cast that has not begun."""
        return cls(ground, ground.program.entry, Loops(ground.program), Scopes())

    def standing(self, edges: Collection[EdgeId], *, guard: bool = False) -> object:
        """What tells this walker from others: of budgets those of `edges`, the stall guard if wanted."""
        scopes = self.scopes.standing(self.loops.places(), edges, guard=guard)
        visits = tuple(self.visits[socket] for socket in self.ground.limited)
        arrival = self.arrival if guard else None
        return self.at, self.loops.standing(), scopes, tuple(sorted(self.lengths.items())), visits, arrival

    def steps(self) -> Iterator[tuple[Step, Walker]]:
        """Every step from here, with the walker that has taken it."""
        here = self.fork()
        step = here.come()
        if step is not None:
            yield step, here
            return
        for choice in self.ground.choices[self.at]:
            walker = here.fork()
            yield walker.answer(choice), walker

    def fork(self) -> Walker:
        """A copy that goes its own way."""
        return replace(
            self,
            loops=self.loops.fork(),
            scopes=self.scopes.fork(),
            lengths=self.lengths.copy(),
            visits=self.visits.copy(),
        )

    def come(self) -> Step | None:
        """Come to the socket; a step where there is no visit: past an empty loop, or no further."""
        socket, loop = self._here()
        self.item = None
        if loop is not None:
            if self._enter(loop):
                return Step(None, (), "failed")
            item = self.loops.item(loop, self._read)
            if item is None:
                self.loops.leave(loop)
                return self._go(Element("empty", loop.id, loop.empty), Arrival(), ())
            self.item = item.id
        if self._refused(socket):
            return Step(None, (), "failed")
        if loop is not None:
            self.loops.visit(loop)
        self.visits[socket.id] += 1
        return None

    def answer(self, choice: Choice) -> Step:
        """Take the step that follows from an answer."""
        socket, loop = self._here()
        program = self.ground.program
        self.lengths.update(choice.lengths)
        used_up = False
        if loop is not None and socket.advance is not None and holds(socket.advance.when, choice.verdict):
            used_up = self.loops.advance(loop, self._read)
        if program.materia[socket.materia].generator:
            self.loops.renewed_by(socket.id)
        way = after(program, socket, choice.verdict, used_up=used_up)
        visited = ("socket", socket.id, "")
        if way.kind != "edge" or way.index is None:
            return self._go(way, Arrival(item=self.item), (visited,), choice)
        edge = socket.edges[way.index]
        if self.scopes.spent(self.item, socket.id, way.index, edge):
            return Step(choice, (visited, replace(way, kind="exhaustion").key), "failed")
        self.scopes.take(self.item, socket.id, way.index, edge)
        region = program.regions.get(socket.id)
        if region is not None and not self._read(program.loops[region.loop].items):
            # A plan without streams goes straight to what follows them.
            past = Element("empty", region.loop, region.after)
            return self._go(past, Arrival(), (visited, way.key), choice)
        return self._go(way, Arrival(edge.max_traversals is not None, self.item), (visited,), choice)

    def _here(self) -> tuple[Socket, Loop | None]:
        socket = self.ground.program.sockets[self.at]
        return socket, self.ground.program.loops[socket.loop] if socket.loop is not None else None

    def _enter(self, loop: Loop) -> bool:
        """Put an idle loop under way; true where the stall guard ends the cast."""
        if not self.loops.enter(loop):
            return False
        self.scopes.drop_finished(self.loops.live())
        arrival = self.arrival
        if arrival is not None and arrival.budgeted and arrival.item is None:
            return False
        return self._stalls(None, ("loop", loop.id))

    def _stalls(self, item: ItemId | None, landmark: Landmark) -> bool:
        scope = self.scopes.of(item)
        return bool(scope.come(landmark)) and scope.cycles > self.ground.program.max_no_advance_cycles

    def _refused(self, socket: Socket) -> bool:
        """Whether the stall guard, or the socket's own limit, keeps the cast from a visit."""
        guarded = self.arrival is None or not self.arrival.budgeted
        if guarded and self._stalls(self.item or self.loops.current(), ("socket", socket.id)):
            return True
        return socket.max_visits is not None and self.visits[socket.id] >= socket.max_visits

    def _go(
        self, way: Element, arrival: Arrival, covers: tuple[Key, ...], choice: Choice | None = None
    ) -> Step:
        self.at, self.arrival = way.to, arrival
        return Step(choice, (*covers, way.key), "complete" if way.to == END else None)

    def _read(self, source: str) -> Any:
        path = parse_source(source)
        return [{}] * self.lengths.get(path.segments, 0) if path.root == "state" else None
