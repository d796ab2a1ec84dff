"""The shortest way that a cast can really go.

A way is looked for breadth first, in the product of the loadout with a small automaton. At first every
route may be taken. The way that is found is then gone by the exact rules; where one of these holds the cast
up, the search is told to keep that fact, and is run again. Keeping little is what makes the search fast, and
it loses nothing: what cannot be come to with few facts kept cannot be come to at all.

Of two standings that differ in nothing but facts, one may be as good as the other in each of them: an edge
taken less often, a list less known, a stall guard that has closed fewer cycles, or as many and remembers
less. Whatever the worse one comes to the better one comes to as well, so the worse one is not looked at.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from math import inf
from typing import Final, NamedTuple, TypeVar

from materiac.flow.ground import GUARD, Fact, Ground
from materiac.flow.moves import Held, Kept, Rules, Scope, Standing


class Outcome(enum.Enum):
    """What an automaton says of a node that is no mode: this is what is looked for, or is to be avoided."""

    GOAL = enum.auto()
    AVOID = enum.auto()


class Cut(enum.Enum):
    """That a search was given up: nothing is known."""

    CUT = enum.auto()


CUT: Final = Cut.CUT

Way = tuple[str, ...]
"""Nodes of a graph: sockets, ways past loops, and `end`, from the first that a cast comes to."""

Mode = TypeVar("Mode")
Step = Callable[[Mode, str], Mode | Outcome]

MOST: Final = 30_000
"""How many standings a search looks at, and as many more as the loadout has routes, `_TIMES` over."""
_TIMES: Final = 8
_ROUNDS: Final = 60
_CAP: Final = 2
_GREATEST_CAP: Final = 64


def feasible_way(ground: Ground, start: Mode, step: Step[Mode], most: int = MOST) -> Way | Cut | None:
    """The shortest way of a cast to a goal; None where no cast comes to one, `CUT` if that was not found out.

    `step(mode, node)` gives the mode behind a node that a cast comes to, or an `Outcome`. It is asked for
    every socket whose visit begins, for the way past each loop that is found empty (`graph.ways_past`), and
    for `end`, which is come to by casts that are complete; never for where a cast fails. It has to be pure;
    modes have to be hashable, and few.

    Near linear in the loadout for each time that it is run, which is once if no limit is in the way.
    """
    facts: dict[Fact, None] = {}
    cap, left = _CAP, most + _TIMES * sum(map(len, ground.routes.values()))
    for _ in range(_ROUNDS):
        found, seen = _shortest(Rules(ground, facts, cap), start, step, left)
        if not isinstance(found, tuple):
            return found
        held = _held(ground, found)
        if not held:
            return found
        left -= seen
        if held.keys() <= facts.keys():
            cap *= 2
        facts |= held
        if left <= 0 or cap > _GREATEST_CAP:
            break
    return CUT


def _shortest(rules: Rules, start: Mode, step: Step[Mode], most: int) -> tuple[Way | Cut | None, int]:
    """The shortest way by some rules, and how many standings were looked at."""
    seen = _Seen()
    came: list[tuple[Standing, Mode, int]] = []
    at, waiting = -1, rules.starts()
    while True:
        mode = came[at][1] if came else start
        for move in waiting:
            if isinstance(move, Held):
                continue
            after = step(mode, move.node)
            if after is Outcome.GOAL:
                return _trace(came, at, move.node), len(came)
            if not isinstance(after, Outcome) and seen.adds(move, after):
                came.append((move, after, at))
        at += 1
        if at == len(came):
            return None, len(came)
        if len(came) > most:
            return CUT, len(came)
        waiting = rules.moves(came[at][0])


def _trace(came: Sequence[tuple[Standing, object, int]], at: int, goal: str) -> Way:
    way = [goal]
    while at >= 0:
        standing, _, at = came[at]
        way.append(standing.node)
    return tuple(reversed(way))


class _Seen:
    """The standings that were come to, without those that are no better than another one."""

    def __init__(self) -> None:
        self._found: dict[object, list[_Worth]] = {}

    def adds(self, standing: Standing, mode: object) -> bool:
        """Keep a standing, unless another one is as good."""
        layers = list(_layers(standing.kept))
        runs = [tuple((run.loop, run.cursor) for run in kept.runs) for kept in layers]
        worth, others = _worth(standing, layers), self._found.setdefault((standing.node, mode, *runs), [])
        if any(other.is_as_good_as(worth) for other in others):
            return False
        others.append(worth)
        return True


class _Worth(NamedTuple):
    """The facts of a standing; less is better."""

    counts: tuple[float, ...]
    scopes: tuple[Scope, ...]

    def is_as_good_as(self, other: _Worth) -> bool:
        return all(mine <= its for mine, its in zip(self.counts, other.counts, strict=True)) and all(
            mine.cycles < its.cycles or (mine.cycles == its.cycles and mine.remembered <= its.remembered)
            for mine, its in zip(self.scopes, other.scopes, strict=True)
        )


def _worth(standing: Standing, layers: Iterable[Kept]) -> _Worth:
    counts: list[float] = [*standing.visits]
    scopes: list[Scope] = []
    for kept in layers:
        scopes += (kept.cast, *(run.scope for run in kept.runs))
        for known in kept.lists:
            counts += (known.least, -known.most, not known.missing)
    for scope in scopes:
        counts += scope.counts
    return _Worth(tuple(counts), tuple(scopes))


def _layers(kept: Kept | None) -> Iterator[Kept]:
    """What is kept of a stream, and of the cast around it."""
    while kept is not None:
        yield kept
        kept = kept.outer


def _held(ground: Ground, way: Way) -> dict[Fact, None]:
    """What keeps casts from going a way, by the exact rules; nothing where one can go it."""
    rules = Rules(ground, dict.fromkeys(_concerned(ground, way)), inf)
    found: dict[Fact, None] = {}
    standings: list[Standing] = []
    for place, node in enumerate(way):
        moves = (
            rules.starts(node) if not place else (move for at in standings for move in rules.moves(at, node))
        )
        seen, standings = _Seen(), []
        for move in moves:
            if isinstance(move, Held):
                found[move.fact] = None
            elif seen.adds(move, None):
                standings.append(move)
        if not standings:
            return dict.fromkeys(ground.with_what_they_need(found))
    return {}


def _concerned(ground: Ground, way: Way) -> Iterator[Fact]:
    """The facts that may hold up a cast on a way; those that it cannot run into are left out."""
    graph = ground.graph
    visits = Counter(way)
    loops = (graph.loop_of(node) or graph.ways_past.get(node) for node in visits)
    yield from (ground.list_of(loop) for loop in loops if loop is not None)
    for node, times in visits.items():
        limits = graph.sockets[node].written.limits if node in graph.sockets else None
        if limits is not None and limits.max_visits is not None and limits.max_visits < times:
            yield "visits", node
    taken: Counter[tuple[str, int | None, int]] = Counter()
    for (source, target), times in Counter(pairwise(way)).items():
        for route in ground.routes[source]:
            if route.target == target and route.budget is not None:
                taken[source, route.edge, route.budget] += times
    yield from (("edge", (source, edge)) for (source, edge, budget), times in taken.items() if times > budget)
    if _repeats(ground, way):
        yield GUARD


def _repeats(ground: Ground, way: Way) -> bool:
    """Whether the stall guard may know something on a way: a node that comes again, a loop entered again."""
    if len(set(way)) < len(way):
        return True
    graph, entered = ground.graph, set[str]()
    for source, target in pairwise(("", *way)):
        loop = graph.loop_of(target) or graph.ways_past.get(target)
        if loop is None or (
            graph.loop_of(source) is loop and source != loop.source and not _anew(ground, source)
        ):
            continue
        if loop.id in entered:
            return True
        entered.add(loop.id)
    return False


def _anew(ground: Ground, source: str) -> bool:
    return any(route.used_up for route in ground.routes.get(source, ()))
