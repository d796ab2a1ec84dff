"""The most that a cast can do: a longest way through the components of its terrain.

A cast never comes back to a component that it has left. So the most from each node on is told from the last
component to the first: of a single node at once, of nodes that lead to each other by their network.

How it grows with the items is told from casts with one item and with two. The limits of the networks grow
evenly, and a dual solution for two items says what each further one adds at most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Final, NamedTuple

from materiac.flow.component import MANY_ITEMS, Component, Doors, Gained, Price, doors_of
from materiac.flow.drawing import Entrance
from materiac.flow.formula import Formula
from materiac.flow.regions import RegionView
from materiac.flow.sketch import Among, Gains, Share
from materiac.flow.terrain import Terrain, guarded
from materiac.names import END
from materiac.routes import Route

_CAST: Final = "cast"
"""The scope of what happens outside of items."""

_MOST_LEVELS: Final = 3

Prices = Mapping[Hashable, Mapping[Among, int]]


class Outcome(NamedTuple):
    """The most that casts can gain with so many items; what each further item adds at most; why.

    `prices` are those of a longest way, `cycles` those of all components.
    """

    most: int
    slope: int
    prices: tuple[Price, ...]
    cycles: tuple[tuple[Price, ...], ...]


class WorstCase:
    """Casts of a terrain, asked for the most of something that visits gain."""

    def __init__(self, terrain: Terrain) -> None:
        self.terrain = terrain

    @cached_property
    def _components(self) -> Mapping[tuple[str, ...], Component]:
        """Those parts of the terrain in which something can happen again."""
        cyclic = (
            part
            for part in self.terrain.parts
            if len(part) > 1 or any(route.target == part[0] for route in self.terrain.routes[part[0]])
        )
        outer = Doors(tuple((node, True) for node in self.terrain.starts))
        return {part: Component(self.terrain, part, self._doors(part, outer), _CAST) for part in cyclic}

    def _doors(self, part: tuple[str, ...], outer: Doors) -> Doors:
        inside = frozenset(part)
        return doors_of(self.terrain, part, lambda r: r.source in inside and r.target in inside, outer)

    def most(self, weights: Gains) -> Formula:
        """The most that the visits of a cast gain, each what its socket weighs."""
        return self.told(weights)[0]

    def told(self, weights: Gains) -> tuple[Formula, Outcome]:
        """As `most`, with what it comes from where there are two items."""
        formula, outcome = self._told(weights, {})
        prices = self._prices_of_cycles(outcome)
        found = [formula, *(self._told(weights, tried)[0] for tried in _tried(prices))]
        lowest = min(found, key=lambda it: (it.at(2), it.at(1)))
        least = {"single": min(it.single for it in found), "empty": min(it.empty for it in found)}
        formula = replace(lowest, **least)
        for region in self.terrain.regions:
            formula += self._streams(region, weights)
        return formula, outcome

    def _told(self, weights: Gains, prices: Prices) -> tuple[Formula, Outcome]:
        """The most, where each cycle that the stall guard counts in a scope has a price.

        A scope is given the prices of all cycles that it may have: this is a bound whatever the prices are.
        """
        shares: dict[Share, int] = {}
        for scope, found in prices.items():
            for among, price in found.items():
                shares |= {Share(scope, among, fresh): price for fresh in (False, True)}
            shares[Share(scope, None, fresh=True)] = self._given(found)
        all_ = {**weights, **shares}
        ways = {items: list(self._ways(all_, items)) for items in (0, 1, 2)}
        slopes: Gains = {way.charge: way.slope for way in ways[2]}
        none, one, two = (self._at(all_, ways[items], items, slopes) for items in (0, 1, 2))
        given = self._given(prices.get(_CAST, {}))
        least = max(one.most, two.most - two.slope)
        single, empty = one.most + given, none.most + given
        return Formula(least - two.slope + given, two.slope, single=single, empty=empty), two

    def _given(self, prices: Mapping[Among, int]) -> int:
        """The price of all cycles that a scope may have, of the dearest, and of all that is forgotten."""
        forgotten = sum(among.forgets * price for among, price in prices.items())
        return self.terrain.rounds * max(prices.values(), default=0) + forgotten

    def _prices_of_cycles(self, outcome: Outcome) -> Prices:
        """What a cycle gains at most, for each scope and each circle."""
        folds = (fold for component in self._components.values() for fold in component.folded)
        ways = [*((_CAST, ways) for ways in outcome.cycles), *(it for fold in folds for it in fold.cycles())]
        found: dict[Hashable, dict[Among, int]] = {}
        for scope, prices in ways:
            gains: Counter[Among] = Counter()
            for price in prices:
                if price.reason.among is not None and price.reason.among.told:
                    gains[price.reason.among] += price.gain
            known = found.setdefault(scope, {})
            known |= {among: max(gain, known.get(among, 0)) for among, gain in gains.items()}
        return {scope: prices for scope, prices in found.items() if prices}

    def _ways(self, weights: Gains, items: int) -> Iterator[Gained]:
        for component in self._components.values() if items else ():
            yield from component.gains(weights, items)

    def _at(self, weights: Gains, ways: Iterable[Gained], items: int, slopes: Gains) -> Outcome:
        gains = {**weights, **{way.charge: way.gain for way in ways}}
        return _Walk(self.terrain, self._components, gains, items, slopes).outcome()

    def _streams(self, region: RegionView, weights: Gains) -> Formula:
        """What the streams of a parallel generator gain: each item is in one of them, and none is empty."""
        loop = region.loop
        if loop is None or region.generator.id not in self.terrain.order:
            return Formula()
        before = sum(weights.get(node, 0) for node in region.prelude)
        item = self._item_of(region).most(weights).at(1)
        if not before + item:
            return Formula()
        return self.most({region.generator.id: 1}).for_each_item().times(before + item)

    def _item_of(self, region: RegionView) -> WorstCase:
        return WorstCase(self.terrain.of_item(region.loop.sockets if region.loop else ()))


def _tried(prices: Prices) -> Iterator[Prices]:
    """The prices, and lower ones: the dearest cycle is what all of a scope are paid for."""
    levels = sorted({price for found in prices.values() for price in found.values()}, reverse=True)
    for level in levels[:_MOST_LEVELS]:
        yield {
            scope: {among: min(price, level) for among, price in found.items()}
            for scope, found in prices.items()
        }


class _Walk:
    """One pass from the last component to the first."""

    def __init__(
        self,
        terrain: Terrain,
        components: Mapping[tuple[str, ...], Component],
        gains: Gains,
        items: int,
        slopes: Gains,
    ) -> None:
        self._terrain, self._components = terrain, components
        self._gains, self._items, self._more = gains, items, slopes
        self._best: dict[Entrance, int] = {}
        self._slopes: dict[str, int] = {}
        self._next: dict[Entrance, Route | None] = {}
        self._prices: dict[Entrance, tuple[Price, ...]] = {}
        self._cycles: list[tuple[Price, ...]] = []

    def outcome(self) -> Outcome:
        """The outcome of casts from the start on."""
        for part in self._terrain.parts:
            component = self._components.get(part)
            if component is not None:
                self._solve(component)
            elif self._items or part[0] not in self._terrain.loops:
                self._pass(part[0])
        starts = [(node, True) for node in self._terrain.starts if (node, True) in self._best]
        first = max(starts, key=self._best.__getitem__, default=None)
        slope = max((self._slopes[node] for node, _ in starts), default=0)
        if first is None:
            return Outcome(0, slope, (), ())
        return Outcome(self._best[first], slope, tuple(self._along(first)), tuple(self._cycles))

    def _beyond(self, route: Route) -> int | None:
        """What is gained after a step; None where it cannot be taken."""
        if route.target == END or (route.progress and self._items < 2):
            return None
        return self._best.get((route.target, guarded(route)))

    def _pass(self, node: str) -> None:
        """A node that no way comes back to."""
        found = ((gain, i) for i, r in enumerate(self._terrain.routes[node]) if (gain := self._beyond(r)))
        gain, last = max(found, default=(0, -1))
        own = self._gains.get(node, 0)
        self._slopes[node] = self._slope_after([node])
        for entrance in ((node, True), (node, False)):
            self._best[entrance] = own + gain
            self._next[entrance] = self._terrain.routes[node][last] if last >= 0 else None

    def _solve(self, component: Component) -> None:
        solved = component.solve(self._gains, self._items, self._beyond)
        slope = solved.slope + self._slope_of(component) + self._slope_after(component.nodes)
        self._slopes |= dict.fromkeys(component.nodes, slope)
        self._cycles.append(solved.prices)
        for entrance, gain in solved.best.items():
            self._best[entrance] = gain
            self._next[entrance] = solved.last(entrance)
            self._prices[entrance] = solved.prices

    def _slope_of(self, component: Component) -> int:
        """What each further item adds at most to the ways of items and of runs."""
        if self._items < 2 or not component.has_gain(self._more):
            return 0
        best = component.solve(self._more, MANY_ITEMS, lambda _: None).best
        return max(best.values(), default=0)

    def _slope_after(self, nodes: Iterable[str]) -> int:
        inside = frozenset(nodes)
        targets = {r.target for node in inside for r in self._terrain.routes[node] if r.target != END}
        return max((self._slopes.get(target, 0) for target in targets - inside), default=0)

    def _along(self, entrance: Entrance) -> Iterator[Price]:
        """The prices of the components that a best way passes."""
        while True:
            yield from self._prices.get(entrance, ())
            route = self._next.get(entrance)
            if route is None:
                return
            entrance = (route.target, guarded(route))
