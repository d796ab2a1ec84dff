"""The shortest way that a cast can really go.

A way is looked for breadth first, in the product of the loadout with a small automaton. At first every
route may be taken. The way that is found is then gone by the exact rules; where one of these holds the cast
up, the search is told to keep that fact, and is run again. Keeping little is what makes the search fast, and
it loses nothing: what cannot be come to with few facts kept cannot be come to at all.
"""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Final, TypeVar

from materiac.flow.ground import Fact, Ground
from materiac.flow.hindrance import holding
from materiac.flow.moves import Rules
from materiac.flow.seen import Seen
from materiac.flow.standing import Held, Standing


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
Place = tuple[str, Mode]

_MOST: Final = 60_000
_TIMES: Final = 4
_COMPARISONS: Final = 16
"""So many comparisons of standings cost as much as to look at one."""
_ROUNDS: Final = 60
_CAP: Final = 2
_GREATEST_CAP: Final = 64


def effort(ground: Ground) -> int:
    """How much a search may look at: steps without facts, of which those with facts count for several."""
    return _MOST + _TIMES * sum(map(len, ground.routes.values()))


def feasible_way(ground: Ground, start: Mode, step: Step[Mode], most: int | None = None) -> Way | Cut | None:
    """The shortest way of a cast to a goal; None where no cast comes to one, `CUT` if that was not found out.

    `step(mode, node)` gives the mode behind a node that a cast comes to, or an `Outcome`. It is asked for
    every socket whose visit begins, for the way past each loop that is found empty (`graph.ways_past`), and
    for `end`, which is come to by casts that are complete; never for where a cast fails. It has to be pure;
    modes have to be hashable, and few.

    Linear in the loadout and the modes for each time that it is run, which is once if no limit is in the
    way; `most` bounds all of it together and is `effort(ground)` if nothing is said.
    """
    facts: dict[Fact, None] = {}
    cap, left, hope = _CAP, effort(ground) if most is None else most, None
    for _ in range(_ROUNDS):
        found, work = _shortest(Rules(ground, facts, cap), start, step, left, hope)
        if not isinstance(found, tuple):
            return found
        held = holding(ground, found)
        if not held:
            return found
        if not facts:
            hope = _hopeful(ground, start, step, left)
        left -= work
        if held.keys() <= facts.keys():
            cap *= 2
        facts |= held
        if left <= 0 or cap > _GREATEST_CAP:
            break
    return CUT


def _shortest(
    rules: Rules, start: Mode, step: Step[Mode], most: int, hope: Container[Place[Mode]] | None
) -> tuple[Way | Cut | None, int]:
    """The shortest way by some rules, and how much there was to look at."""
    seen = Seen()
    came: list[tuple[Standing, Mode, int]] = []
    at, waiting = -1, rules.starts()
    while True:
        mode = came[at][1] if came else start
        for move in waiting:
            if isinstance(move, Held):
                continue
            after = step(mode, move.node)
            if after is Outcome.GOAL:
                return _trace(came, at, move.node), len(came) * rules.weight
            if isinstance(after, Outcome) or (hope is not None and (move.node, after) not in hope):
                continue
            if seen.adds(move, after):
                came.append((move, after, at))
        at += 1
        work = len(came) * rules.weight + seen.work // _COMPARISONS
        if at == len(came) or work > most:
            return (None if at == len(came) else CUT), work
        waiting = rules.moves(came[at][0])


def _trace(came: Sequence[tuple[Standing, object, int]], at: int, goal: str) -> Way:
    way = [goal]
    while at >= 0:
        standing, _, at = came[at]
        way.append(standing.node)
    return tuple(reversed(way))


def _hopeful(ground: Ground, start: Mode, step: Step[Mode], most: int) -> set[Place[Mode]] | None:
    """The nodes and modes from which routes lead to a goal; None where there are too many to look at."""
    before: dict[Place[Mode], list[Place[Mode]]] = {}
    goals: list[Place[Mode]] = []
    waiting: deque[Place[Mode]] = deque([("", start)])
    while waiting:
        at = node, mode = waiting.popleft()
        for route in ground.routes.get(node, ()) if node else ground.starts:
            after = step(mode, route.target)
            if after is Outcome.GOAL:
                goals.append(at)
            elif not isinstance(after, Outcome):
                if (route.target, after) not in before:
                    before[route.target, after] = []
                    waiting.append((route.target, after))
                before[route.target, after].append(at)
        if len(before) > most:
            return None
    return _behind(goals, before)


def _behind(
    goals: Iterable[Place[Mode]], before: Mapping[Place[Mode], Iterable[Place[Mode]]]
) -> set[Place[Mode]]:
    found = set(goals)
    waiting = list(found)
    while waiting:
        for place in before.get(waiting.pop(), ()):
            if place not in found:
                found.add(place)
                waiting.append(place)
    return found
