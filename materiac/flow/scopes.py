"""How often steps and visits are possible within sockets that lead to each other.

What is counted for an item is possible so often for each item of each run of its loop. The stall guard lets
a socket be come to once between two cycles that it counts, and begins anew where an edge with a budget is
taken; it does not look at visits that such an edge leads to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from materiac.digraph import breadth_first
from materiac.flow.sketch import Among, Limit
from materiac.flow.terrain import Terrain, guarded, stays

if TYPE_CHECKING:
    from materiac.graph import LoopView
    from materiac.routes import Route
    from materiac.source import Pointer

_MOST_LOOPS: Final = 16
"""Of more loops that are left and come back to, it is not asked which sockets that concerns."""


class Guard(NamedTuple):
    """How often the stall guard lets a socket be visited.

    `among` are the nodes that it is one of; where it `tells`, their cycles are told by its visits.
    """

    most: Limit
    among: Among
    tells: bool


class Scopes:
    """The limits of one component of a terrain.

    `closed` are the loops that are entered idle and left idle, `runs` says how often each of the others
    can be run here.
    """

    def __init__(self, terrain: Terrain, nodes: tuple[str, ...]) -> None:
        self._terrain, self.nodes = terrain, nodes
        self.inside = frozenset(nodes)
        self._lasting: dict[str, dict[str, tuple[Route, ...]]] = {}
        found = {terrain.loops[node].id: terrain.loops[node] for node in nodes if node in terrain.loops}
        self.closed = {id_: loop for id_, loop in found.items() if self._is_closed(loop)}
        self.loops = {id_: loop for id_, loop in found.items() if id_ not in self.closed}
        self.runs = {
            id_: self._most_runs(loop) if self.again(loop) else 1 for id_, loop in self.loops.items()
        }

    def _is_closed(self, loop: LoopView) -> bool:
        """Whether a loop is all here, is not all that is here, and is left only when it is idle then."""
        if not self._is_whole(loop) or loop.source in loop.sockets:
            return False
        steps = self._after[loop.id]
        if all(self.loop(node) is loop for node in self.nodes) and not any(r.used_up for r in steps):
            return False
        return all(self.loop(r.target) is loop or self._leaves_idle(loop, r) for r in steps)

    def closed_members(self) -> list[tuple[str, ...]]:
        """For each closed loop its sockets."""
        found: dict[str, list[str]] = {id_: [] for id_ in self.closed}
        for node in self.nodes:
            loop = self.loop(node)
            if loop is not None and loop.id in found:
                found[loop.id].append(node)
        return [tuple(nodes) for nodes in found.values()]

    def _leaves_idle(self, loop: LoopView, route: Route) -> bool:
        return route.used_up or (route.kind == "empty" and route.at == loop.at)

    @cached_property
    def _after(self) -> dict[str, list[Route]]:
        """For each loop, the steps after its sockets."""
        found: dict[str, list[Route]] = {}
        for node in self.nodes:
            loop = self.loop(node)
            if loop is not None:
                steps = (r for r in self._terrain.routes[node] if r.target in self.inside)
                found.setdefault(loop.id, []).extend(steps)
        return found

    @cached_property
    def routes(self) -> tuple[Route, ...]:
        """The steps within the component."""
        inside = self.inside
        return tuple(r for node in self.nodes for r in self._terrain.routes[node] if r.target in inside)

    def loop(self, node: str) -> LoopView | None:
        """The loop that a node is in."""
        return self._terrain.loops.get(node)

    def open_loop(self, node: str) -> LoopView | None:
        """The loop that a node is in, if it is not closed."""
        loop = self.loop(node)
        return loop if loop is not None and loop.id in self.loops else None

    def items(self, loop: LoopView) -> Limit:
        """How many items a loop comes to here."""
        runs = self.runs[loop.id]
        return Limit(0, runs) if loop.id in self._advancing else Limit(runs)

    @cached_property
    def _advancing(self) -> frozenset[str]:
        return frozenset(loop.id for r in self.routes if r.progress and (loop := self.loop(r.source)))

    def budget(self, route: Route) -> Limit | None:
        """How often an edge can be taken; None where nothing but what is before it limits that."""
        loop = self.loop(route.source)
        if route.budget is None or (loop is not None and loop.id in self.closed):
            return None
        return Limit(route.budget) if loop is None else self.items(loop).times(route.budget)

    def enters(self, route: Route) -> str | None:
        """The loop that a step leads into from outside, or that it begins again."""
        loop = self._found_empty.get(route.at) if route.kind == "empty" else self.loop(route.target)
        if loop is None:
            return None
        begins = route.used_up or loop.source == route.source or self.loop(route.source) is not loop
        return loop.id if begins else None

    @cached_property
    def _found_empty(self) -> dict[Pointer, LoopView]:
        return {loop.at: loop for loop in (*self.loops.values(), *self.closed.values())}

    def again(self, loop: LoopView) -> bool:
        """Whether a loop can be begun anew within the component."""
        return loop.source in self.inside or any(
            (route.used_up and self.loop(route.source) is loop)
            or (route.kind == "empty" and route.at == loop.at)
            or (route.kind == "past" and route.target in self._empty)
            for route in self.routes
        )

    @cached_property
    def _empty(self) -> frozenset[str]:
        """Ways past empty loops."""
        return frozenset(r.target for r in self.routes if r.kind == "empty") | {
            r.source for r in self.routes if r.kind == "past"
        }

    def _most_runs(self, loop: LoopView) -> int:
        """What the stall guard leaves of runs: it does not look at those that a budget of the cast begins."""
        into = [r for node in self.nodes if self.loop(node) is loop for r in self._terrain.before[node]]
        into = [r for r in into if self.loop(r.source) is None and not guarded(r)]
        exempt = self._budgets(None, (r for r in into if r.source in self.inside))
        # A run that was begun before, in another component, may be one that it did not look at either.
        first = not self._is_whole(loop) or any(r.source not in self.inside for r in into)
        return 1 + self._terrain.rounds + self._of_cast + exempt + first

    @cached_property
    def _of_cast(self) -> int:
        return self._budgets(None, self.routes)

    def _budgets(self, loop: LoopView | None, routes: Iterable[Route]) -> int:
        """What the budgets of edges from the sockets of a loop, or from outside of all, come to."""
        found = {(r.source, r.edge): r.budget for r in routes if self.loop(r.source) is loop}
        return sum(budget for budget in found.values() if budget is not None)

    def guards(self) -> dict[str, Guard]:
        """How often the stall guard lets sockets be visited, of those that need it to have a limit."""
        found: dict[str, Guard] = {}
        for part, among in self._circles:
            sockets = [node for node in part if node not in self._empty and not self._is_folded(node)]
            found |= {node: Guard(self._guard(node), among, node == among.teller) for node in sockets}
        return found

    def circle(self, node: str) -> Among | None:
        """The nodes that lead to this one and back with nothing that limits it but the stall guard."""
        return self._circle_of.get(node)

    @cached_property
    def _circle_of(self) -> dict[str, Among]:
        return {node: among for part, among in self._circles for node in part}

    @cached_property
    def _circles(self) -> list[tuple[tuple[str, ...], Among]]:
        return [(part, self._among(part)) for part in self._terrain.cyclic(self.nodes, self._is_unlimited)]

    def _among(self, part: tuple[str, ...]) -> Among:
        inside = frozenset(part)
        into = {
            node: self._count_into(node, inside)
            for node in part
            if node not in self._empty and not self._is_folded(node)
        }
        steps = (r for r in self.routes if r.source in inside and r.target in inside)
        forgets = self._budgets(None, steps)
        simple = bool(into) and not self._stopped and not self.loops
        return Among(max(into, key=into.__getitem__, default=""), forgets, told=simple)

    def _is_folded(self, node: str) -> bool:
        loop = self.loop(node)
        return loop is not None and loop.id in self.closed

    def _is_unlimited(self, route: Route) -> bool:
        if self._is_folded(route.source):
            return route.budget is None or self.loop(route.target) is self.loop(route.source)
        return route.budget is None and stays(route)

    def _count_into(self, node: str, inside: frozenset[str]) -> int:
        steps = (r for r in self._terrain.before[node] if r.source in inside)
        return len({r.source for r in steps if self._is_unlimited(r)})

    def _guard(self, node: str) -> Limit:
        rounds, loop = 1 + self._terrain.rounds, self.open_loop(node)
        if loop is not None:
            near = self._near(loop, node)
            own = self.items(loop).times(rounds + self._budgets(loop, near))
            return own.plus(Limit(self._budgets(None, near)))
        total = Limit((1 + self._stopped) * rounds + self._of_cast)
        for id_, reached in self._under_way.items():
            if node in reached:
                other = self.loops[id_]
                visits = rounds + self._budgets(other, self._near(other, node))
                total = total.plus(self.items(other).times(visits)).plus(Limit(self._of_cast))
        return total

    @cached_property
    def _stopped(self) -> int:
        """How many loops before the component may be under way at first and then not any more."""
        known = {loop.id: loop for loop in self._terrain.loops.values()}
        here = self.loops.keys() | self.closed.keys()
        renewed = sum(loop.source in self.inside for id_, loop in known.items() if id_ not in here)
        return renewed + sum(not self._is_whole(loop) for loop in self.loops.values())

    def _near(self, loop: LoopView, node: str) -> tuple[Route, ...]:
        """The steps between nodes that a node is connected with while an item of a loop lasts."""
        if loop.id not in self._lasting:
            self._lasting[loop.id] = self._connected(loop)
        return self._lasting[loop.id].get(node, ())

    def _connected(self, loop: LoopView) -> dict[str, tuple[Route, ...]]:
        def lasts(route: Route) -> bool:
            return stays(route) or self.loop(route.source) is not loop

        if len(self._lasting) > _MOST_LOOPS:
            return dict.fromkeys(self.nodes, self.routes)
        found: dict[str, tuple[Route, ...]] = {}
        for part in self._terrain.cyclic(self.nodes, lasts):
            inside = frozenset(part)
            steps = (r for n in part for r in self._terrain.routes[n] if r.target in inside and lasts(r))
            found |= dict.fromkeys(part, tuple(steps))
        return found

    @cached_property
    def _under_way(self) -> dict[str, frozenset[str]]:
        """For each loop that can be left before it is used up, what can be come to meanwhile."""
        left: dict[str, list[str]] = {}
        for route in self.routes:
            loop = self.open_loop(route.source)
            if loop is not None and not route.used_up and self.loop(route.target) is not loop:
                left.setdefault(loop.id, []).append(route.target)
        if len(left) > _MOST_LOOPS:
            return dict.fromkeys(left, self.inside)
        return {id_: frozenset(self._beyond(self.loops[id_], starts)) for id_, starts in left.items()}

    def _beyond(self, loop: LoopView, starts: list[str]) -> list[str]:
        def after(node: str) -> Iterator[str]:
            if self.loop(node) is not loop:
                yield from (r.target for r in self._terrain.routes[node] if r.target in self.inside)

        return breadth_first(starts, after)

    def idle_steps(self) -> frozenset[Route]:
        """The steps into loops that are idle then for certain, of those that can be begun anew.

        They lead to an item, or past the loop where its list is empty.
        """
        routes = [r for node in self.nodes for r in self._terrain.routes[node] if r.budget is None]
        found = {r for r in routes if self.enters(r) in self.turning}
        asked = [loop for loop in self.loops.values() if self.again(loop) and self._is_whole(loop)]
        for loop in asked[:_MOST_LOOPS]:
            doubtful = self._doubtful(loop)
            into = (r for r in routes if self.enters(r) == loop.id)
            found.update(r for r in into if self._makes_idle(loop, r) or r.source not in doubtful)
        return frozenset(found)

    @cached_property
    def turning(self) -> frozenset[str]:
        """The closed loops that only the stall guard keeps from being begun for ever."""
        loops = (self.loop(node) for node in self._circle_of)
        return frozenset(loop.id for loop in loops if loop is not None and loop.id in self.closed)

    def begun(self, loop: str) -> Limit:
        """How often a loop can be begun."""
        return Limit(self.runs.get(loop, 1 + self._terrain.rounds + self._of_cast))

    def _is_whole(self, loop: LoopView) -> bool:
        return all(node in self.inside for node in loop.sockets if node in self._terrain.order)

    def _makes_idle(self, loop: LoopView, route: Route) -> bool:
        if self.loop(route.source) is loop:
            return route.used_up or loop.source == route.source
        return loop.source == route.source

    def _doubtful(self, loop: LoopView) -> frozenset[str]:
        """The nodes after a visit of which a loop may be under way."""

        def after(node: str) -> Iterator[str]:
            for route in self._terrain.routes[node]:
                if route.target in self.inside and not self._makes_idle(loop, route):
                    yield route.target

        members = [node for node in self.nodes if self.loop(node) is loop]
        return frozenset(breadth_first(members, after))
