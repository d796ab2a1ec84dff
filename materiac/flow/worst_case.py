"""The most that a cast can do: a longest way through the components of its terrain.

A cast never comes back to a component that it has left. So the most from each node on is told from the last
component to the first: of a single node at once, of nodes that lead to each other by their network.

How it grows with the items is told from casts with one item and with two. The limits of the networks grow
evenly, and a dual solution for two items says what each further one adds at most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from math import gcd
from typing import Final, NamedTuple

from materiac.flow.component import MANY_ITEMS, Component, Doors, Price, doors_of
from materiac.flow.drawing import Entrance
from materiac.flow.formula import Formula
from materiac.flow.regions import RegionView
from materiac.flow.sketch import Among, Charge, Gains, Reason, Share
from materiac.flow.terrain import Terrain, guarded
from materiac.names import END
from materiac.routes import Route

_CAST: Final = "cast"
"""The scope of what happens outside of items."""

Parts = tuple[tuple[str, ...], ...]
_MOST_LEVELS: Final = 3
_LARGE: Final = 300
_MUCH: Final = 4_000
"""Of parts with so many nodes times shares, it is not asked what each share is."""

Prices = Mapping[Hashable, Mapping[Among, int]]


class Outcome(NamedTuple):
    """The most that casts can gain with so many items; what each further item adds at most; why.

    `reasons` are what limits the longest, `cycles` the prices of all components.
    """

    most: int
    slope: int
    reasons: tuple[Reason, ...] = ()
    cycles: tuple[tuple[Price, ...], ...] = ()


class WorstCase:
    """Casts of a terrain, asked for the most of something that visits gain."""

    def __init__(self, terrain: Terrain) -> None:
        self.terrain = terrain
        self._found: dict[object, tuple[Formula, Outcome]] = {}

    @cached_property
    def _components(self) -> Mapping[tuple[str, ...], Component]:
        """Those parts of the terrain in which something can happen again."""
        cyclic = (
            part
            for part in self.terrain.parts
            if len(part) > 1 or any(route.target == part[0] for route in self.terrain.routes[part[0]])
        )
        outer = Doors(tuple((node, True) for node in self.terrain.starts))
        return {
            part: Component(
                self.terrain,
                part,
                self._doors(part, outer),
                _CAST if self.terrain.outside.isdisjoint(part) else None,
            )
            for part in cyclic
        }

    def _doors(self, part: tuple[str, ...], outer: Doors) -> Doors:
        inside = frozenset(part)
        return doors_of(self.terrain, part, lambda r: r.source in inside and r.target in inside, outer)

    def most(self, weights: Gains) -> Formula:
        """The most that the visits of a cast gain, each what its socket weighs."""
        return self.told(weights)[0]

    def each(self, shares: Mapping[str, Gains]) -> dict[str, Formula]:
        """The most of each of several shares of a whole, for which no socket weighs in two of them.

        In large terrains, what is apart is summed up even where no cast comes to all of it.
        """
        if len(self.terrain.order) <= _LARGE:
            return {name: self.most(share) for name, share in shares.items()}
        whole = {node: weight for share in shares.values() for node, weight in share.items()}
        known = {
            part: self._known(whole, (part,))[0]
            for part in self._components
            if len(part) * len(shares) > _MUCH
        }
        return {name: self._summed(share, known) for name, share in shares.items()}

    def _summed(self, share: Gains, known: Mapping[tuple[str, ...], Formula]) -> Formula:
        """The sum over the parts; of those that are `known` it is not asked what a share of them is."""
        total, weighs = self._in_streams(share), [node for node in share if share[node]]
        for part in dict.fromkeys(self._part_of[node] for node in weighs if node in self._part_of):
            total += known[part] if part in known else self._known(share, (part,))[0]
        return total

    @cached_property
    def _part_of(self) -> Mapping[str, tuple[str, ...]]:
        return {node: part for part in self.terrain.parts for node in part}

    def told(self, weights: Gains) -> tuple[Formula, Outcome]:
        """As `most`, with what it comes from where there are two items."""
        formula, outcome = self._known(weights, None)
        inner = [
            reason
            for region in self.terrain.regions
            for reason in self._item_of(region).told(weights)[1].reasons
        ]
        outcome = outcome._replace(reasons=(*outcome.reasons, *inner))
        return formula + self._in_streams(weights), outcome

    def _known(self, weights: Gains, parts: Parts | None) -> tuple[Formula, Outcome]:
        """What casts gain that come to no other parts."""
        nodes = weights if parts is None else [node for part in parts for node in part if node in weights]
        own = {node: weights[node] for node in nodes}
        # What weighs so many times as much gains so many times as much.
        unit = gcd(*own.values())
        if not unit:
            return Formula(), Outcome(0, 0)
        own = {node: weight // unit for node, weight in own.items() if weight}
        key = frozenset(own.items()), parts
        if key not in self._found:
            self._found[key] = self._least(own, parts or tuple(self.terrain.parts))
        formula, outcome = self._found[key]
        return formula.times(unit), outcome

    def _least(self, weights: Gains, parts: Parts) -> tuple[Formula, Outcome]:
        """The least of bounds with several prices of cycles."""
        formula, outcome = self._told(weights, {}, parts)
        prices = self._prices_of_cycles(outcome)
        levels = 1 if len(self.terrain.order) > _LARGE else _MOST_LEVELS
        found = [formula, *(self._told(weights, tried, parts)[0] for tried in _tried(prices, levels))]
        lowest = min(found, key=lambda it: (it.at(2), it.at(1)))
        least = {"single": min(it.single for it in found), "empty": min(it.empty for it in found)}
        return replace(lowest, **least), outcome

    def _told(self, weights: Gains, prices: Prices, parts: Parts) -> tuple[Formula, Outcome]:
        """The most, where each cycle that the stall guard counts in a scope has a price.

        A scope is given the prices of all cycles that it may have: this is a bound whatever the prices are.
        """
        shares: dict[Share, int] = {}
        for scope, found in prices.items():
            for among, price in found.items():
                shares |= {Share(scope, among, fresh): price for fresh in (False, True)}
            shares[Share(scope, None, fresh=True)] = self._given(found)
        all_ = {**weights, **shares}
        walk = _Walk(self.terrain, self._components, parts, all_)
        two = walk.outcome(2)
        # Without loops there are no items, however many there are.
        none, one = (walk.outcome(items) if self.terrain.loops else two for items in (0, 1))
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

    def _in_streams(self, weights: Gains) -> Formula:
        total = Formula()
        for region in self.terrain.regions:
            total += self._streams(region, weights)
        return total

    def _streams(self, region: RegionView, weights: Gains) -> Formula:
        """What the streams of a parallel generator gain: each item is in one of them, and none is empty."""
        loop = region.loop
        if loop is None or region.generator.id not in self.terrain.order:
            return Formula()
        before = sum(weights.get(node, 0) for node in region.prelude)
        item = self._item_of(region).most(weights).at(1)
        if not before + item:
            return Formula()
        plans = self._known({region.generator.id: 1}, None)[0]
        return plans.for_each_item().times(before + item)

    def _item_of(self, region: RegionView) -> WorstCase:
        return WorstCase(self.terrain.of_item(region.loop.sockets if region.loop else ()))


def _tried(prices: Prices, most: int) -> Iterator[Prices]:
    """The prices, and lower ones: the dearest cycle is what all of a scope are paid for."""
    levels = sorted({price for found in prices.values() for price in found.values()}, reverse=True)
    for level in levels[:most]:
        yield {
            scope: {among: min(price, level) for among, price in found.items()}
            for scope, found in prices.items()
        }


class _Walk:
    """Passes from the last component to the first."""

    def __init__(
        self,
        terrain: Terrain,
        components: Mapping[tuple[str, ...], Component],
        parts: Parts,
        weights: Gains,
    ) -> None:
        self._terrain, self._components = terrain, components
        self._parts, self._weights = parts, weights

    def outcome(self, items: int) -> Outcome:
        """The outcome of casts with so many items, from the start, or from where they come to the parts."""
        self._items = items
        self._gains: Gains = self._weights
        self._more: dict[Charge, int] = {}
        self._best: dict[Entrance, int] = {}
        self._slopes: dict[str, int] = {}
        self._last: dict[Entrance, Callable[[Entrance], Route | None]] = {}
        self._reasons: dict[Entrance, tuple[Reason, ...]] = {}
        self._cycles: list[tuple[Price, ...]] = []
        for part in self._parts:
            component = self._components.get(part)
            if component is not None:
                self._solve(component)
            elif items or part[0] not in self._terrain.loops:
                self._pass(part[0])
        whole = len(self._parts) == len(self._terrain.parts)
        starts = [(n, True) for n in self._terrain.starts if (n, True) in self._best] if whole else self._best
        first = max(starts, key=self._best.__getitem__, default=None)
        slope = max((self._slopes[node] for node, _ in starts), default=0)
        if first is None:
            return Outcome(0, slope)
        return Outcome(
            self._best[first], slope, tuple(dict.fromkeys(self._along(first))), tuple(self._cycles)
        )

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
        route = self._terrain.routes[node][last] if last >= 0 else None
        for entrance in ((node, True), (node, False)):
            self._best[entrance] = own + gain
            self._last[entrance] = lambda _: route

    def _solve(self, component: Component) -> None:
        self._fold(component)
        solved = component.solve(self._gains, self._items, self._beyond)
        slope = solved.slope + self._slope_of(component) + self._slope_after(component.nodes)
        self._slopes |= dict.fromkeys(component.nodes, slope)
        self._cycles.append(solved.prices)
        own = [price.reason for price in solved.prices]
        inner = [reason for part in component.folded for reason in part.reasons]
        self._best |= solved.best
        self._last |= dict.fromkeys(solved.best, solved.last)
        self._reasons |= dict.fromkeys(solved.best, tuple(dict.fromkeys([*own, *inner])))

    def _fold(self, component: Component) -> None:
        ways = list(component.gains(self._weights, self._items)) if self._items else []
        self._gains = {**self._weights, **{way.charge: way.gain for way in ways}} if ways else self._weights
        self._more = {way.charge: way.slope for way in ways}

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

    def _along(self, entrance: Entrance) -> Iterator[Reason]:
        """What limits the components that a best way passes."""
        while True:
            yield from self._reasons.get(entrance, ())
            last = self._last.get(entrance)
            route = last(entrance) if last is not None else None
            if route is None:
                return
            entrance = (route.target, guarded(route))
