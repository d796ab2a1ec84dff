"""What casts can do at most in sockets that lead to each other, as a network whose steps have limits.

An item comes only once to sockets that lead to each other without an advance. So such a set is a network of
its own, which is solved for one item; here it is no more than ways from where an item enters it to where it
leaves it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from materiac.flow.network import Arc, Circulation
from materiac.flow.scopes import Scopes
from materiac.flow.sketch import Charge, Gains, Limit, Reason, Sketch, Step
from materiac.flow.terrain import Terrain, guarded, stays
from materiac.names import END
from materiac.routes import Route

MANY_ITEMS: Final = 1_000_000
"""More than a list may have."""
_MOST_EXITS: Final = 8
_MOST_LOOPS: Final = 16
"""Of more loops that are begun anew in one component, it is not asked how often each can be."""

Entrance = tuple[str, bool]
"""A node, and whether the stall guard looks at the visit."""


@dataclass(frozen=True)
class Solved:
    """A component, solved. `best` has the most that is gained from each entrance on.

    `slope` is what each further item adds at most; `prices` say which limits matter, how often each lets
    something happen, and what is gained each time; `last` is the step that a best way leaves by.
    """

    best: Mapping[Entrance, int]
    slope: int
    prices: tuple[tuple[Reason, Limit, int], ...]
    last: Callable[[Entrance], Route | None]


class Component:
    """Nodes of a terrain that lead to each other."""

    def __init__(self, terrain: Terrain, nodes: tuple[str, ...]) -> None:
        self.nodes = nodes
        self._terrain = terrain
        self._scopes = Scopes(terrain, nodes)
        parts = [part for part in terrain.cyclic(nodes, stays) if terrain.loops and self._is_of_items(part)]
        self.rounds = [Rounds(terrain, part) for part in parts]
        self._round_of = {node: part for part in self.rounds for node in part.nodes}
        self.entrances = tuple(self._entrances())
        self._draw()
        if self._count_runs():
            self._draw()

    def _is_of_items(self, part: tuple[str, ...]) -> bool:
        """Whether a part is passed at most once by each item of one loop, and by nothing else."""
        loops = {id(self._terrain.loops.get(node)) for node in part}
        if len(loops) > 1 or part[0] not in self._terrain.loops:
            return False
        return len(_exits(self._terrain, part)) <= _MOST_EXITS and not any(
            node in self._terrain.visits for node in part
        )

    def _entrances(self) -> Iterator[Entrance]:
        for node in self.nodes:
            steps = [r for r in self._terrain.before[node] if r.source not in self._scopes.inside]
            looked_at = {guarded(route) for route in steps}
            if node in self._terrain.starts:
                looked_at.add(True)
            yield from ((node, looks) for looks in sorted(looked_at))

    # Drawing.

    def _draw(self) -> None:
        self._sketch = Sketch()
        self._ends: list[tuple[int, Route]] = []
        self._guards = self._scopes.guards(node for node in self.nodes if node not in self._round_of)
        for node in self.nodes:
            if node not in self._round_of:
                self._draw_node(node)
        for part in self.rounds:
            for entrance in part.entrances:
                self._sketch.place(("enter", *entrance))
                for exit_ in part.exits:
                    here, there = ("enter", *entrance), ("leave", exit_)
                    self._sketch.step(here, there, charge=part.charge(entrance, exit_))
        self._draw_routes()
        self._arrivals = self._places(self.entrances)

    def _places(self, entrances: Iterable[Entrance]) -> dict[Entrance, tuple[int, Charge | None]]:
        arrivals = {entrance: self._arrival(*entrance) for entrance in entrances}
        return {entrance: (self._sketch.place(what), charge) for entrance, (what, charge) in arrivals.items()}

    def _draw_node(self, node: str) -> None:
        guard, visits = self._guards.get(node), self._terrain.visits.get(node)
        self._sketch.place(("in", node))
        if guard is not None:
            charge = node if visits is None else None
            reason = Reason("guard", node)
            self._sketch.step(("guard", node), ("in", node), guard, charge=charge, reason=reason)
        if visits is not None:
            reason = Reason("visits", node)
            self._sketch.step(("in", node), ("out", node), Limit(visits), charge=node, reason=reason)

    def _arrival(self, node: str, looks: bool) -> tuple[Hashable, Charge | None]:
        """Where a visit begins, and what is charged for coming there."""
        part = self._round_of.get(node)
        if part is not None:
            return ("enter", *part.entrance(node, looks)), None
        if looks and node in self._guards:
            return ("guard", node), None
        return ("in", node), None if node in self._terrain.visits else node

    def _exit(self, node: str) -> Hashable:
        if node in self._round_of:
            return ("leave", node)
        return ("out" if node in self._terrain.visits else "in", node)

    def _draw_routes(self) -> None:
        budgeted: dict[tuple[str, int | None], list[tuple[Hashable, Route]]] = {}
        for tail, route in self._steps():
            if route.budget is not None:
                budgeted.setdefault((route.source, route.edge), []).append((tail, route))
            elif route in self._idle:
                loop = self._scopes.enters(route)
                self._sketch.step(tail, ("idle", loop))
                self._to(("begun", loop), route)
            else:
                self._to(tail, route)
        for loop in dict.fromkeys(self._scopes.enters(route) for route in self._idle):
            runs = Limit(self._scopes.runs[str(loop)])
            self._sketch.step(("idle", loop), ("begun", loop), runs, reason=Reason("runs", loop), enters=loop)
        for edge, steps in budgeted.items():
            self._draw_edge(edge, steps)

    def _draw_edge(self, edge: Hashable, steps: list[tuple[Hashable, Route]]) -> None:
        route = steps[0][1]
        most, reason = self._scopes.budget(route), Reason("budget", edge)
        if len(steps) == 1:
            self._to(steps[0][0], route, most, reason)
            return
        self._sketch.through((tail for tail, _ in steps), ("edge", edge), most, reason)
        for route in {route.target: route for _, route in steps}.values():
            self._to(("edge", edge), route)

    def _to(
        self, tail: Hashable, route: Route, most: Limit | None = None, reason: Reason | None = None
    ) -> None:
        head, charge = self._arrival(route.target, guarded(route))
        enters = None if tail == ("begun", self._scopes.enters(route)) else self._scopes.enters(route)
        self._sketch.step(tail, head, most, charge=charge, reason=reason, enters=enters)

    def _steps(self) -> list[tuple[Hashable, Route]]:
        """The steps within the component, and where in the network they begin; others are ends."""
        self._idle = self._scopes.idle_steps()
        found: list[tuple[Hashable, Route]] = []
        joint: dict[tuple[str, str], list[Hashable]] = {}
        for node in self.nodes:
            tail, part = self._exit(node), self._round_of.get(node)
            for route in self._terrain.routes[node]:
                if route.target == END or (part is not None and part.has(route)):
                    continue
                if route.target not in self._scopes.inside:
                    self._ends.append((self._sketch.place(tail), route))
                    continue
                loop = self._scopes.loop(node)
                if loop is None or stays(route):
                    found.append((tail, route))
                    continue
                kind = "runs" if route.used_up else "next"
                joint.setdefault((kind, loop.id), []).append(tail)
                found.append(((kind, loop.id), route))
        for (kind, id_), tails in joint.items():
            runs = self._scopes.runs[id_]
            most = Limit(runs) if kind == "runs" else Limit(-runs, runs)
            self._sketch.through(tails, (kind, id_), most, Reason(kind, id_))
        return found

    def _count_runs(self) -> bool:
        """Ask how often loops can be begun; true where that is less often than was known before."""
        again = [id_ for id_, runs in self._scopes.runs.items() if runs > 1]
        counted = {id_: self._begun(id_) for id_ in again[:_MOST_LOOPS]}
        fewer = {id_: n for id_, n in counted.items() if n < self._scopes.runs[id_]}
        self._scopes.runs |= fewer
        return bool(fewer)

    def _begun(self, loop: str) -> int:
        steps = self._sketch.steps
        arcs = [_arc(step, MANY_ITEMS, int(step.enters == loop)) for step in steps]
        solved = Circulation(len(self._sketch.places), arcs)
        ways, _ = solved.ways(dict.fromkeys(range(len(self._sketch.places)), 0))
        found = []
        for entrance, (place, _) in self._arrivals.items():
            member = self._scopes.loop(entrance[0])
            found.append((ways[place] or 0) + int(member is not None and member.id == loop))
        return solved.gain + max(found, default=0)

    # Solving.

    def gains(self, weights: Gains) -> dict[Charge, int]:
        """What is gained on the ways of items, for what visits gain."""
        return {charge: gain for part in self.rounds for charge, gain in part.gains(weights)}

    def matrix(
        self, weights: Gains, entrances: Iterable[Entrance], exits: Iterable[str]
    ) -> Iterator[tuple[Entrance, str | None, int]]:
        """The most that is gained from each entrance to each exit, and with None to wherever a cast stops."""
        places = self._places(entrances)
        arcs = [_arc(step, 1, weights.get(step.charge, 0)) for step in self._sketch.steps]
        solved = Circulation(len(self._sketch.places), arcs)
        anywhere = dict.fromkeys(self._sketch.places.values(), 0)
        for exit_ in (*exits, None):
            ways, _ = solved.ways(anywhere if exit_ is None else {self._sketch.place(self._exit(exit_)): 0})
            for entrance, (place, charge) in places.items():
                yield entrance, exit_, solved.gain + weights.get(charge, 0) + (ways[place] or 0)

    def looks(self, node: str) -> bool:
        """Whether the stall guard matters for visits of a node."""
        return node in self._guards

    def solve(self, gains: Gains, items: int, beyond: Callable[[Route], int | None]) -> Solved:
        """The most that can be gained from each entrance on; `beyond` says what is gained after a step out.

        Where there are items, lists may have fewer, or none.
        """
        steps = [step for step in self._sketch.steps if items or not self._is_of_item(step.charge)]
        steps = [step for step in steps if step.most is None or step.most.at(items)]
        arcs = [_arc(step, items, gains.get(step.charge, 0)) for step in steps]
        solved = Circulation(len(self._sketch.places), arcs)
        ends, routes = self._outcomes(gains, items, beyond)
        ways, by = solved.ways(ends)
        best = {
            entrance: solved.gain + gains.get(charge, 0) + (ways[place] or 0)
            for entrance, (place, charge) in self._arrivals.items()
            if items or entrance[0] not in self._terrain.loops
        }
        prices = tuple(
            (step.reason, step.most, price)
            for i, price in solved.prices(ways)
            if (step := steps[i]).reason is not None and step.most is not None
        )

        def last(entrance: Entrance) -> Route | None:
            place = self._arrivals[entrance][0]
            while by[place] >= 0:
                place = solved.head(by[place])
            return routes.get(place)

        return Solved(best, sum(most.per_item * price for _, most, price in prices), prices, last)

    def _outcomes(
        self, gains: Gains, items: int, beyond: Callable[[Route], int | None]
    ) -> tuple[dict[int, int], dict[int, Route]]:
        """What is gained after the network is left at each place, and by which step; a cast may stop too."""
        ends, routes = dict.fromkeys(self._sketch.places.values(), 0), {}
        for part in self.rounds if items else ():
            for entrance in part.entrances:
                place = self._sketch.place(("enter", *entrance))
                ends[place] = gains.get(part.charge(entrance, None), 0)
        for place, route in self._ends:
            gain = beyond(route)
            if gain is not None and gain > ends[place]:
                ends[place], routes[place] = gain, route
        return ends, routes

    def _is_of_item(self, charge: Charge | None) -> bool:
        return isinstance(charge, tuple) or charge in self._terrain.loops


def _arc(step: Step, items: int, gain: int) -> Arc:
    return Arc(step.tail, step.head, None if step.most is None else step.most.at(items), gain)


def _exits(terrain: Terrain, part: tuple[str, ...]) -> tuple[str, ...]:
    """The nodes from which some step leads out of a part, or to another item."""
    inside = frozenset(part)
    return tuple(
        node
        for node in part
        if any(not stays(r) or r.target not in inside for r in terrain.routes[node] if r.target != END)
    )


class Rounds:
    """Sockets of a loop that lead to each other without an advance, as one item passes them."""

    def __init__(self, terrain: Terrain, nodes: tuple[str, ...]) -> None:
        self.nodes = nodes
        self._inside = frozenset(nodes)
        self._network = Component(terrain.of_item(nodes), nodes)
        self.exits = _exits(terrain, nodes)
        self.entrances = tuple(dict.fromkeys(self._from_outside(terrain)))

    def _from_outside(self, terrain: Terrain) -> Iterator[Entrance]:
        for node in self.nodes:
            steps = [r for r in terrain.before[node] if not self.has(r)]
            for looks in sorted({guarded(route) for route in steps} | {True}):
                yield self.entrance(node, looks)

    def has(self, route: Route) -> bool:
        """Whether a step stays in here, with its item."""
        return stays(route) and route.source in self._inside and route.target in self._inside

    def entrance(self, node: str, looks: bool) -> Entrance:
        """The entrance at a node; the stall guard may not matter there."""
        return node, looks or not self._network.looks(node)

    def charge(self, entrance: Entrance, exit_: str | None) -> Charge:
        """What stands for the ways from an entrance to an exit, or to wherever a cast stops."""
        return entrance, exit_

    def gains(self, weights: Gains) -> Iterator[tuple[Charge, int]]:
        """The most that is gained on each of the ways."""
        for entrance, exit_, gain in self._network.matrix(weights, self.entrances, self.exits):
            yield self.charge(entrance, exit_), gain
