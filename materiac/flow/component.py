"""What casts can do at most in sockets that lead to each other, as a network whose steps have limits.

Two kinds of nodes are folded there to ways from where they are entered to where they are left, each with
what is gained on it; for that they have a network of their own.

- An item comes only once to sockets that lead to each other without an advance.
- A run of a loop begins where the loop is entered and is over where it is left, if that is possible only
  when its list is used up or found empty.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from materiac.flow.drawing import Drawing, Entrance, charge_of
from materiac.flow.network import Arc, Circulation
from materiac.flow.scopes import Scopes
from materiac.flow.sketch import Charge, Gains, Limit, Reason, Share, Step
from materiac.flow.terrain import Terrain, guarded, stays
from materiac.names import END
from materiac.routes import Route

MANY_ITEMS: Final = 1_000_000
"""More than a list may have."""
_MOST_EXITS: Final = 8
_MOST_LOOPS: Final = 16
"""Of more loops that are begun anew in one component, it is not asked how often each can be."""


class Price(NamedTuple):
    """A limit that matters: what it is of, how often it lets something happen, what is gained each time."""

    reason: Reason
    most: Limit
    gain: int


class Gained(NamedTuple):
    """The most that is gained on a way through folded nodes, and what each further item adds at most."""

    charge: Charge
    gain: int
    slope: int
    prices: tuple[Price, ...]


@dataclass(frozen=True)
class Solved:
    """A component, solved. `best` has the most that is gained from each entrance on.

    `slope` is what each further item adds at most to what limits let happen; `last` is the step that a best
    way leaves by.
    """

    best: Mapping[Entrance, int]
    slope: int
    prices: tuple[Price, ...]
    last: Callable[[Entrance], Route | None]


class Component:
    """Nodes of a terrain that lead to each other, or that are one run of a loop."""

    def __init__(
        self, terrain: Terrain, nodes: tuple[str, ...], doors: Doors, scope: Hashable | None = None
    ) -> None:
        self.nodes = nodes
        self._terrain, self._doors, self._scope = terrain, doors, scope
        self._scopes = Scopes(terrain, nodes)
        self.folded = tuple(self._fold())
        self._draw()
        if self._count_runs():
            self._draw()

    def _fold(self) -> Iterator[Fold]:
        for members in self._scopes.closed_members():
            yield Fold(self._terrain, members, self._doors, advances=True)
        for part in self._terrain.cyclic(self.nodes, stays):
            if self._is_of_items(part):
                scope = (self.nodes[0], self._terrain.loops[part[0]].id)
                fold = Fold(self._terrain, part, self._doors, scope=scope)
                if len(fold.exits) <= _MOST_EXITS:
                    yield fold

    def _is_of_items(self, part: tuple[str, ...]) -> bool:
        """Whether a part is passed at most once by each item of one loop, and by nothing else."""
        loop = self._scopes.open_loop(part[0])
        if loop is None or loop.source in part or any(node in self._terrain.visits for node in part):
            return False
        return all(self._scopes.loop(node) is loop for node in part)

    def _draw(self) -> None:
        self._drawing = Drawing(self._terrain, self._scopes, self.folded, self._scope)
        self._arrivals = self._drawing.arrivals(self._doors.entrances)

    def _count_runs(self) -> bool:
        """Ask how often loops can be begun; true where that is less often than was known before."""
        again = [id_ for id_, runs in self._scopes.runs.items() if runs > 1]
        counted = {id_: self._begun(id_) for id_ in again[:_MOST_LOOPS]}
        fewer = {id_: n for id_, n in counted.items() if n < self._scopes.runs[id_]}
        self._scopes.runs |= fewer
        return bool(fewer)

    def _begun(self, loop: str) -> int:
        steps = self._drawing.sketch.steps
        arcs = [_arc(step, MANY_ITEMS, int(step.enters == loop)) for step in steps]
        solved = Circulation(self._drawing.size, arcs)
        ways, _ = solved.ways(dict.fromkeys(range(self._drawing.size), 0))
        found = [0]
        for (node, _), (place, _) in self._arrivals.items():
            member = self._scopes.open_loop(node)
            found.append((ways[place] or 0) + int(member is not None and member.id == loop))
        return solved.gain + max(found)

    def gains(self, weights: Gains, items: int) -> Iterator[Gained]:
        """What is gained on the ways of folded nodes, for what visits gain."""
        for part in self.folded:
            yield from part.gains(weights, items)

    def has_gain(self, gains: Gains) -> bool:
        """Whether anything is gained in here."""
        return any(gains.get(step.charge) for step in self._drawing.sketch.steps) or any(
            gains.get(charge) for _, charge in self._arrivals.values()
        )

    def solve(self, gains: Gains, items: int, beyond: Callable[[Route], int | None]) -> Solved:
        """The most that can be gained from each entrance on; `beyond` says what is gained after a step out.

        Where there are items, lists may have fewer, or none.
        """
        solved, steps = self._circulation(gains, items)
        ends, routes = self._outcomes(gains, items, beyond)
        ways, by = solved.ways(ends)
        best = {
            entrance: solved.gain + self._first(entrance, charge, gains) + (ways[place] or 0)
            for entrance, (place, charge) in self._arrivals.items()
            if items or entrance[0] not in self._terrain.loops
        }
        prices = tuple(_prices(solved, steps, ways))

        def last(entrance: Entrance) -> Route | None:
            place = self._arrivals[entrance][0]
            while by[place] >= 0:
                place = solved.head(by[place])
            return routes.get(place)

        return Solved(best, _slope(prices), prices, last)

    def matrix(
        self, gains: Gains, items: int, entrances: Iterable[Entrance], exits: Iterable[str]
    ) -> Iterator[Gained]:
        """The most that is gained from each entrance to each exit, and with None to wherever a cast stops."""
        places = self._drawing.arrivals(entrances)
        solved, steps = self._circulation(gains, items)
        anywhere, _ = self._outcomes(gains, items, lambda _: None)
        for exit_ in (*exits, None):
            ways, _ = solved.ways(anywhere if exit_ is None else {self._drawing.exit(exit_): 0})
            prices = tuple(_prices(solved, steps, ways))
            for entrance, (place, charge) in places.items():
                gain = solved.gain + self._first(entrance, charge, gains) + (ways[place] or 0)
                if ways[place] is not None:
                    yield Gained(charge_of(entrance, exit_), gain, _slope(prices), prices)

    def _circulation(self, gains: Gains, items: int) -> tuple[Circulation, list[Step]]:
        steps = [step for step in self._drawing.sketch.steps if self._is_open(step, gains, items)]
        arcs = [_arc(step, items, step.gain(gains)) for step in steps]
        return Circulation(self._drawing.size, arcs), steps

    def _first(self, entrance: Entrance, charge: Charge | None, gains: Gains) -> int:
        """What is gained for coming here."""
        loop = self._scopes.open_loop(entrance[0])
        given = self._drawing.given(loop.id if loop is not None else None)
        return gains.get(charge, 0) + gains.get(given, 0) + gains.get(self._drawing.given_at(entrance[0]), 0)

    def _outcomes(
        self, gains: Gains, items: int, beyond: Callable[[Route], int | None]
    ) -> tuple[dict[int, int], dict[int, Route]]:
        """What is gained after the network is left at each place, and by which step; a cast may stop too."""
        ends, routes = dict.fromkeys(range(self._drawing.size), 0), {}
        for part in self.folded if items else ():
            for entrance in part.entrances:
                place = self._drawing.sketch.place(("enter", *entrance))
                ends[place] = gains.get(charge_of(entrance, None), 0)
        for place, route in self._drawing.ends:
            gain = beyond(route)
            if gain is not None and gain > ends[place]:
                ends[place], routes[place] = gain, route
        return ends, routes

    def _is_open(self, step: Step, gains: Gains, items: int) -> bool:
        """Whether a step is possible with so many items: on ways that there are, within its limit."""
        if isinstance(step.charge, tuple) and step.charge not in gains:
            return False
        if not items and step.charge in self._terrain.loops:
            return False
        return step.most is None or step.most.at(items) > 0

    def shares(self) -> Iterator[Share]:
        """What is paid or given in here for cycles."""
        yield from (step.share for step in self._drawing.sketch.steps if step.share is not None)
        for entrance, _ in self._doors.entrances:
            loop = self._scopes.open_loop(entrance)
            given = self._drawing.given(loop.id if loop else None), self._drawing.given_at(entrance)
            yield from (share for share in given if share is not None)
        for part in self.folded:
            yield from part.shares()

    def looks(self, node: str) -> bool:
        """Whether the stall guard matters for visits of a node."""
        return self._drawing.looks(node)


def _arc(step: Step, items: int, gain: int) -> Arc:
    return Arc(step.tail, step.head, None if step.most is None else step.most.at(items), gain)


def _prices(solved: Circulation, steps: list[Step], ways: list[int | None]) -> Iterator[Price]:
    for i, gain in solved.prices(ways):
        reason, most = steps[i].reason, steps[i].most
        if reason is not None and most is not None:
            yield Price(reason, most, gain)


def _slope(prices: Iterable[Price]) -> int:
    return sum(price.most.per_item * price.gain for price in prices)


def _reasons(ways: Iterable[Gained], folded: Iterable[Fold]) -> Iterator[Reason]:
    """What limits ways through folded nodes, with what limits those that are folded in them."""
    yield from (price.reason for way in ways for price in way.prices)
    for part in folded:
        yield from part.reasons


class Doors(NamedTuple):
    """Where nodes are entered from outside, and the nodes after which they are left."""

    entrances: tuple[Entrance, ...]
    exits: tuple[str, ...] = ()


def doors_of(terrain: Terrain, nodes: tuple[str, ...], keeps: Callable[[Route], bool], outer: Doors) -> Doors:
    """The doors of nodes that only some steps stay in; `outer` are those of what they are in."""
    inside = frozenset(nodes)
    entered = {(r.target, guarded(r)) for node in nodes for r in terrain.before[node] if not keeps(r)}
    left = {r.source for node in nodes for r in terrain.routes[node] if r.target != END and not keeps(r)}
    entered |= {entrance for entrance in outer.entrances if entrance[0] in inside}
    left |= inside.intersection(outer.exits)
    entrances = ((node, looks) for node in nodes for looks in (False, True) if (node, looks) in entered)
    return Doors(tuple(entrances), tuple(node for node in nodes if node in left))


class Fold:
    """Nodes of one loop that are folded: as an item passes them, or with advances as a run of the loop."""

    def __init__(
        self,
        terrain: Terrain,
        nodes: tuple[str, ...],
        outer: Doors,
        *,
        advances: bool = False,
        scope: Hashable | None = None,
    ) -> None:
        self.nodes, self.scope = nodes, scope
        self._inside, self._advances = frozenset(nodes), advances
        doors = doors_of(terrain, nodes, self.has, outer)
        inner = terrain.of_run(nodes) if advances else terrain.of_item(nodes)
        self._network = Component(inner, nodes, doors, scope)
        self._known: dict[int, tuple[Gained, ...]] = {}
        self._weighed: tuple[int, ...] = ()
        self.reasons: tuple[Reason, ...] = ()
        self.exits = doors.exits
        found = (self.entrance(node, looks=looks) for node, looks in doors.entrances)
        self.entrances = tuple(dict.fromkeys(found))

    @cached_property
    def _shares(self) -> tuple[Share, ...]:
        """What is paid or given in here for cycles."""
        return tuple(dict.fromkeys(self.shares()))

    def shares(self) -> Iterator[Share]:
        """What is paid or given in here for cycles."""
        yield from self._network.shares()

    def cycles(self) -> Iterator[tuple[Hashable, tuple[Price, ...]]]:
        """The prices in the networks of items that were solved last, way by way, with their scopes."""
        for ways in self._known.values() if self.scope is not None else ():
            yield from ((self.scope, way.prices) for way in ways)
        for part in self._network.folded:
            yield from part.cycles()

    def has(self, route: Route) -> bool:
        """Whether a step stays in here."""
        kept = not route.used_up if self._advances else stays(route)
        return kept and route.source in self._inside and route.target in self._inside

    def entrance(self, node: str, *, looks: bool) -> Entrance:
        """The entrance at a node; the stall guard may not matter for it."""
        return node, looks or not self._network.looks(node)

    def gains(self, weights: Gains, items: int) -> Iterator[Gained]:
        """The most that is gained on each of the ways."""
        items = items if self._advances else 1
        own = tuple(weights.get(key, 0) for key in (*self.nodes, *self._shares))
        if own != self._weighed:
            self._weighed = own
            self._known.clear()
        if items not in self._known:
            inner = tuple(self._network.gains(weights, items))
            gains = {**weights, **{way.charge: way.gain for way in inner}}
            self._known[items] = tuple(self._network.matrix(gains, items, self.entrances, self.exits))
            self.reasons = tuple(dict.fromkeys(_reasons((*self._known[items], *inner), self._network.folded)))
        yield from self._known[items]
