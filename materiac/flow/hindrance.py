"""What keeps casts from going a way that a search has found, by the exact rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING

from materiac.flow.ground import Fact, Ground
from materiac.flow.moves import Rules
from materiac.flow.seen import Seen
from materiac.flow.standing import Held, Standing, layers

if TYPE_CHECKING:
    from materiac.graph import LoopView


def holding(ground: Ground, way: Sequence[str]) -> dict[Fact, None]:
    """The facts that keep casts from going a way, and what they depend on; none where a cast can go it."""
    rules = Rules(ground, dict.fromkeys(_concerned(ground, way)), inf)
    found: dict[Fact, None] = {}
    standings: list[Standing] = []
    for place, node in enumerate(way):
        moves: Iterable[Standing | Held] = (
            rules.starts(node) if not place else (move for at in standings for move in rules.moves(at, node))
        )
        seen, standings = Seen(), []
        for move in moves:
            if isinstance(move, Held):
                found |= dict.fromkeys(move.facts)
            # What is told of a cast that is held up later depends on the cycles that it has closed.
            elif seen.adds(move, _closed(move)):
                standings.append(move)
        if not standings:
            return dict.fromkeys(ground.with_what_they_need(found))
    return {}


def _closed(standing: Standing) -> tuple[object, ...]:
    return tuple(
        (kept.cast.closed, *(run.scope.closed for run in kept.runs)) for kept in layers(standing.kept)
    )


def _concerned(ground: Ground, way: Sequence[str]) -> Iterator[Fact]:
    """The facts that may hold up a cast on a way; those that it cannot run into are left out."""
    graph, visits = ground.graph, Counter(way)
    loops = (graph.loop_of(node) or graph.ways_past.get(node) for node in visits)
    yield from (ground.list_of(loop) for loop in loops if loop is not None)
    for node, times in visits.items():
        limits = graph.sockets[node].written.limits if node in graph.sockets else None
        if limits is not None and limits.max_visits is not None and limits.max_visits < times:
            yield "visits", node
    yield from _spent(ground, way)
    met = Counter(("socket", node) for node in way if node in graph.sockets)
    met += Counter(("loop", loop) for loop in _entered(ground, way))
    if met.total() - len(met) > ground.cycles:
        yield from (("guard", landmark) for landmark, times in met.items() if times > 1)


def _spent(ground: Ground, way: Sequence[str]) -> Iterator[Fact]:
    """The edges that may be taken more often on a way than their budgets allow."""
    taken: Counter[tuple[str, int | None, int]] = Counter()
    for (source, target), times in Counter(pairwise(way)).items():
        for route in ground.routes[source]:
            if route.target == target and route.budget is not None:
                taken[source, route.edge, route.budget] += times
    yield from (("edge", (source, edge)) for (source, edge, budget), times in taken.items() if times > budget)


def _entered(ground: Ground, way: Sequence[str]) -> Iterator[str]:
    """The loops that may be entered on a way, as often as that may be."""
    graph = ground.graph
    for source, target in pairwise(("", *way)):
        loop = graph.loop_of(target) or graph.ways_past.get(target)
        if loop is not None and (graph.loop_of(source) is not loop or _anew(ground, source, loop)):
            yield loop.id


def _anew(ground: Ground, source: str, loop: LoopView) -> bool:
    """Whether a member of a loop may make it idle."""
    return source == loop.source or any(route.used_up for route in ground.routes[source])
