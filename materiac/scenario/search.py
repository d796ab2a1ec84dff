"""Which walks to take so that everything that can be covered is covered: a greedy search, without luck.

From where a walk is, the nearest thing that is not yet covered is looked for, breadth first, and the walk
goes on there; when nothing is left for it, it is led to an end, and the next one begins. So each walk is as
good as can be seen from step to step, which is not the best there is.

Places are told apart coarsely at first, without budgets, which keeps their number near that of the
sockets. The limit of an edge is looked for with the count of that edge alone. Only what is not found in
either way is looked for among places told apart by everything that matters, up to a bound.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from materiac.program import Program
from materiac.scenario.elements import Key, elements
from materiac.scenario.walk import EdgeId, Ground, Step, Walker

MOST_PLACES: Final = 20_000
"""How many places one search looks at."""
_LONG: Final = 60
"""A walk of so many steps takes on nothing new."""

Walk = list[Step]


@dataclass
class Plan:
    """Walks that together cover all but what was not found. `cut` says that a search hit the bound."""

    walks: list[Walk] = field(default_factory=list)
    missed: list[Key] = field(default_factory=list)
    cut: bool = False


def plan(program: Program, most: int = MOST_PLACES) -> Plan:
    """The walks for a program; repair turns are nobody's choice and are left out."""
    search = _Search(Ground(program), most)
    wanted = [element.key for element in elements(program) if element.kind != "repair"]
    missing = dict.fromkeys(wanted)
    walks: list[Walk] = []
    while missing:
        walk = search.walk(missing)
        if not walk:
            break
        walks.append(walk)
        for key in _covered(walk):
            missing.pop(key, None)
    return Plan(_needed(walks, wanted), list(missing), search.cut and bool(missing))


def _covered(walk: Iterable[Step]) -> set[Key]:
    return {key for step in walk for key in step.covers}


def _needed(walks: Sequence[Walk], wanted: Iterable[Key]) -> list[Walk]:
    """The walks without those whose every part another one covers too; the last ones stay."""
    kept = list(walks)
    for walk in walks:
        others = set[Key]().union(*(_covered(other) for other in kept if other is not walk))
        if _covered(walk) & set(wanted) <= others:
            kept.remove(walk)
    return kept


class _Search:
    def __init__(self, ground: Ground, most: int) -> None:
        self.cut = False
        self._ground, self._most = ground, most

    def walk(self, missing: Collection[Key]) -> Walk:
        """One walk from the start to an end, over as much of what is missing as it finds; else none."""
        walk: Walk = []
        walker, left = Walker.start(self._ground), dict.fromkeys(missing)
        while len(walk) < _LONG:
            found = self._nearest(walker, left, first=not walk)
            if found is None:
                break
            steps, walker = found
            walk += steps
            if walk[-1].status is not None:
                return walk
            for key in _covered(steps):
                left.pop(key, None)
        return [*walk, *self._way_out(walker)] if walk else []

    def _nearest(self, walker: Walker, goals: Collection[Key], *, first: bool) -> tuple[Walk, Walker] | None:
        """The way to the nearest goal: at best one that does not end the cast."""
        for may_end in (False, True):
            found = self._reach(walker, _is_goal(goals, may_end=may_end), ())
            if found is not None:
                return found
        for kind, socket, which in goals:
            if kind == "exhaustion":
                goal = _is_goal([(kind, socket, which)], may_end=True)
                found = self._reach(walker, goal, [(socket, int(which))])
                if found is not None:
                    return found
        if not first:
            return None
        return self._reach(walker, _is_goal(goals, may_end=True), self._ground.bounded, guard=True)

    def _way_out(self, walker: Walker) -> Walk:
        """The shortest way to an end: to a good one, if there is one."""
        for status in ("complete", "failed"):
            found = self._reach(walker, lambda step, end=status: step.status == end, ())  # type: ignore[misc]
            if found is not None:
                return found[0]
        return []

    def _reach(
        self,
        start: Walker,
        is_goal: Callable[[Step], bool],
        edges: Collection[EdgeId],
        *,
        guard: bool = False,
    ) -> tuple[Walk, Walker] | None:
        """Breadth first to the first step that is a goal; places are told apart by what is asked for."""
        seen = {start.standing(edges, guard=guard)}
        waiting: deque[tuple[Walker, _Trail | None]] = deque([(start, None)])
        while waiting:
            walker, trail = waiting.popleft()
            for step, after in walker.steps():
                if is_goal(step):
                    return _Trail(step, trail).steps(), after
                if step.status is not None:
                    continue
                standing = after.standing(edges, guard=guard)
                if standing in seen:
                    continue
                if len(seen) >= self._most:
                    self.cut = True
                    return None
                seen.add(standing)
                waiting.append((after, _Trail(step, trail)))
        return None


@dataclass(frozen=True, slots=True)
class _Trail:
    """The last step of a way, and those before it."""

    step: Step
    before: _Trail | None

    def steps(self) -> Walk:
        found: Walk = []
        trail: _Trail | None = self
        while trail is not None:
            found.append(trail.step)
            trail = trail.before
        return found[::-1]


def _is_goal(goals: Collection[Key], *, may_end: bool) -> Callable[[Step], bool]:
    return lambda step: (may_end or step.status is None) and any(key in goals for key in step.covers)
