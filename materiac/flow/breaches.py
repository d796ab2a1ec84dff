"""How a cast may break the properties of its loadout, before one has run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from materiac.flow.ground import Ground
from materiac.flow.ways import MOST, Cut, Outcome, Way, feasible_way
from materiac.properties import BROKEN, AtMost, Mode, Property

if TYPE_CHECKING:
    from materiac.graph import LoadoutGraph


class Breaches:
    """The properties of a loadout, looked at one by one; `cycles` is what the stall guard allows."""

    def __init__(self, graph: LoadoutGraph, cycles: int) -> None:
        self._alone = Ground(graph, cycles)
        # What runs once in a stream runs as often as there are streams, which only counting can tell.
        self._counting = Ground(graph, cycles, streams=True) if self._alone.regions else self._alone

    def of(self, rule: Property, most: int = MOST) -> Way | Cut | None:
        """The shortest way that breaks a property; None where it holds, `CUT` where nothing was found out."""

        def step(mode: Mode, node: str) -> Mode | Outcome:
            after = rule.step(mode, node)
            return Outcome.GOAL if after == BROKEN else after

        ground = self._counting if isinstance(rule, AtMost) else self._alone
        return feasible_way(ground, rule.start, step, most)
