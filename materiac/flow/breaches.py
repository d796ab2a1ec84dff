"""How a cast may break the properties of its loadout, before one has run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from materiac.flow.bounds import visits_of
from materiac.flow.ground import Ground
from materiac.flow.ways import CUT, Cut, Outcome, Way, effort, feasible_way
from materiac.properties import BROKEN, AtMost, Mode, Property

if TYPE_CHECKING:
    from materiac.graph import LoadoutGraph

_MANY: Final = 2_000
"""Of more sockets than this, bounds take too long to be asked for by the way."""


class Breaches:
    """The properties of a loadout, looked at one by one; `cycles` is what the stall guard allows."""

    def __init__(self, graph: LoadoutGraph, cycles: int) -> None:
        self._alone = Ground(graph, cycles)
        # What runs once in a stream runs as often as there are streams, which only counting can tell.
        self._counting = Ground(graph, cycles, streams=True) if self._alone.regions else self._alone

        self._left = effort(self._alone)

    def of(self, rule: Property) -> Way | Cut | None:
        """The shortest way that breaks a property; None where it holds, `CUT` where nothing was found out."""

        def step(mode: Mode, node: str) -> Mode | Outcome:
            after = rule.step(mode, node)
            return Outcome.GOAL if after == BROKEN else after

        ground = self._counting if isinstance(rule, AtMost) else self._alone
        found = feasible_way(ground, rule.start, step, self._left)
        if found is CUT:
            if isinstance(rule, AtMost) and self._is_within(rule):
                return None
            # Each that is given up leaves half as much for the others: together no more than twice as much.
            self._left //= 2
        return found

    def _is_within(self, rule: AtMost) -> bool:
        """Whether no cast has so many visits, wherever they are in it."""
        if len(self._alone.graph.sockets) > _MANY:
            return False
        visits = visits_of(self._alone.graph, rule.socket, self._alone.cycles)
        bounded = not visits.per_item and not visits.per_pair
        return bounded and max(visits.constant, visits.single, visits.empty) <= rule.most
