"""Drawing the network of sockets that lead to each other: places, arcs, and what limits them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Protocol

from materiac.flow.scopes import Guard, Scopes
from materiac.flow.sketch import Charge, Limit, Reason, Share, Sketch
from materiac.flow.terrain import Terrain, guarded, stays
from materiac.names import END
from materiac.routes import Route

Entrance = tuple[str, bool]
"""A node, and whether the stall guard looks at the visit."""


class Folded(Protocol):
    """Nodes that are no more than ways from entrances to exits here: they have a network of their own."""

    @property
    def nodes(self) -> tuple[str, ...]: ...
    @property
    def entrances(self) -> Sequence[Entrance]: ...
    @property
    def exits(self) -> Sequence[str]: ...
    def has(self, route: Route) -> bool: ...
    def entrance(self, node: str, *, looks: bool) -> Entrance: ...


def charge_of(entrance: Entrance, exit_: str | None) -> Charge:
    """What stands for the ways of folded nodes from an entrance to an exit, or to wherever a cast stops."""
    return entrance, exit_


class Drawing:
    """The network of a component. `ends` are the steps that leave it, each with the place where it begins."""

    def __init__(
        self, terrain: Terrain, scopes: Scopes, folded: Iterable[Folded], scope: Hashable | None
    ) -> None:
        self._terrain, self._scopes, self._scope = terrain, scopes, scope
        self._folded: Mapping[str, Folded] = {node: part for part in folded for node in part.nodes}
        self._guards = scopes.guards()
        self._idle = scopes.idle_steps()
        self.sketch = Sketch()
        self.ends: list[tuple[int, Route]] = []
        self._begun: set[Entrance] = set()
        for node in scopes.nodes:
            if node not in self._folded:
                self._draw_node(node)
        for part in dict.fromkeys(self._folded.values()):
            self._draw_folded(part)
        self._draw_steps(self._steps())

    @property
    def size(self) -> int:
        return len(self.sketch.places)

    def looks(self, node: str) -> bool:
        """Whether the stall guard matters for visits of a node."""
        return node in self._guards

    def arrivals(self, entrances: Iterable[Entrance]) -> dict[Entrance, tuple[int, Charge | None]]:
        """Where a cast begins that enters so, and what is charged for that."""
        found = {entrance: self._first(entrance) for entrance in entrances}
        return {entrance: (self.sketch.place(what), charge) for entrance, (what, charge) in found.items()}

    def _first(self, entrance: Entrance) -> tuple[Hashable, Charge | None]:
        node, looks = entrance
        loop, arrival = self._scopes.loop(node), self._arrival(node, looks=looks)
        if not looks or loop is None or loop.id not in self._scopes.turning:
            return arrival
        if entrance not in self._begun:
            self._begun.add(entrance)
            self.sketch.step(("begun", loop.id), arrival[0])
        return ("idle", loop.id), None

    def exit(self, node: str) -> int:
        """The place where the steps after a node begin."""
        return self.sketch.place(self._exit(node))

    def _draw_node(self, node: str) -> None:
        guard, visits = self._guards.get(node), self._terrain.visits.get(node)
        self.sketch.place(("in", node))
        if guard is not None:
            self._draw_guard(node, guard, ("in", node), node if visits is None else None)
        if visits is not None:
            reason = Reason("visits", node)
            self.sketch.step(("in", node), ("out", node), Limit(visits), charge=node, reason=reason)

    def _draw_folded(self, part: Folded) -> None:
        for entrance in part.entrances:
            here = ("enter", *entrance)
            self.sketch.place(here)
            guard = self._guards.get(entrance[0]) if entrance[1] else None
            if guard is not None:
                self._draw_guard(entrance[0], guard, here, None)
            for exit_ in part.exits:
                self.sketch.step(here, ("leave", exit_), charge=charge_of(entrance, exit_))

    def _draw_guard(self, node: str, guard: Guard, head: Hashable, charge: Charge | None) -> None:
        """What the stall guard lets pass."""
        told = guard.tells and guard.among.told and self._scope is not None
        share = Share(self._scope, guard.among, fresh=False) if told else None
        reason = Reason("guard", node, guard.among)
        self.sketch.step(("guard", node), head, guard.most, charge=charge, reason=reason, share=share)

    def given(self, loop: str | None) -> Share | None:
        """What an item of a loop that is not closed is given for the cycles that it may close in here."""
        return Share((self._scopes.nodes[0], loop), None, fresh=True) if loop in self._scopes.loops else None

    def given_at(self, node: str, source: str | None = None) -> Share | None:
        """What is given for coming to a node from one that is not in its circle."""
        among = self._scopes.circle(node)
        if among is None or self._scope is None or not among.told:
            return None
        inside = source is not None and self._scopes.circle(source) == among
        return None if inside else Share(self._scope, among, fresh=True)

    def _arrival(self, node: str, *, looks: bool) -> tuple[Hashable, Charge | None]:
        """Where a visit begins, and what is charged for coming there."""
        part = self._folded.get(node)
        if looks and node in self._guards:
            return ("guard", node), None
        if part is not None:
            return ("enter", *part.entrance(node, looks=looks)), None
        return ("in", node), None if node in self._terrain.visits else node

    def _exit(self, node: str) -> Hashable:
        if node in self._folded:
            return ("leave", node)
        return ("out" if node in self._terrain.visits else "in", node)

    def _steps(self) -> list[tuple[Hashable, Route]]:
        """The steps within the component, and where in the network they begin; others are ends."""
        found: list[tuple[Hashable, Route]] = []
        joint: dict[tuple[str, str], list[Hashable]] = {}
        for node in self._scopes.nodes:
            tail, part, loop = self._exit(node), self._folded.get(node), self._scopes.open_loop(node)
            for route in self._terrain.routes[node]:
                if route.target == END or (part is not None and part.has(route)):
                    continue
                if route.target not in self._scopes.inside:
                    self.ends.append((self._end(tail, route), route))
                elif loop is None or stays(route):
                    found.append((tail, route))
                else:
                    kind = "runs" if route.used_up else "next"
                    joint.setdefault((kind, loop.id), []).append(tail)
                    found.append(((kind, loop.id), route))
        for (kind, id_), tails in joint.items():
            runs = self._scopes.runs[id_]
            most = Limit(runs) if kind == "runs" else Limit(-runs, runs)
            share = self.given(id_) if kind == "next" else None
            self.sketch.through(tails, (kind, id_), most, Reason(kind, id_, times=runs), share)
        return found

    def _end(self, tail: Hashable, route: Route) -> int:
        """Where a step out of the component begins; one past an empty loop may have to begin that first."""
        if route not in self._idle:
            return self.sketch.place(tail)
        loop = self._scopes.enters(route)
        self.sketch.step(tail, ("idle", loop))
        return self.sketch.place(("begun", loop))

    def _draw_steps(self, steps: Iterable[tuple[Hashable, Route]]) -> None:
        budgeted: dict[tuple[str, int | None], list[tuple[Hashable, Route]]] = {}
        begun = dict.fromkeys(sorted(self._scopes.turning))
        begun |= dict.fromkeys(
            loop for _, r in self.ends if r in self._idle and (loop := self._scopes.enters(r))
        )
        for tail, route in steps:
            loop = self._scopes.enters(route)
            if self._scopes.budget(route) is not None:
                budgeted.setdefault((route.source, route.edge), []).append((tail, route))
            elif loop is not None and route in self._idle:
                begun[loop] = None
                self.sketch.step(tail, ("idle", loop), share=self.given_at(route.target, route.source))
                self._to(("begun", loop), route)
            else:
                self._to(tail, route)
        for loop in begun:
            most = self._scopes.begun(loop)
            reason = Reason("runs", loop, times=most.constant)
            share = self.given(loop)
            self.sketch.step(("idle", loop), ("begun", loop), most, reason=reason, enters=loop, share=share)
        for edge, taken in budgeted.items():
            self._draw_edge(edge, taken)

    def _draw_edge(self, edge: Hashable, steps: Sequence[tuple[Hashable, Route]]) -> None:
        tail, route = steps[0]
        most, reason = self._scopes.budget(route), Reason("budget", edge)
        if most is None or len(steps) == 1:
            self._to(tail, route, most, reason)
            return
        self.sketch.through((tail for tail, _ in steps), ("edge", edge), most, reason)
        for route in {route.target: route for _, route in steps}.values():
            self._to(("edge", edge), route)

    def _to(
        self, tail: Hashable, route: Route, most: Limit | None = None, reason: Reason | None = None
    ) -> None:
        head, charge = self._arrival(route.target, looks=guarded(route))
        loop = self._scopes.enters(route)
        if tail == ("begun", loop):
            self.sketch.step(tail, head, charge=charge)
            return
        share = self.given(loop) or self.given_at(route.target, route.source)
        self.sketch.step(tail, head, most, charge=charge, reason=reason, enters=loop, share=share)
