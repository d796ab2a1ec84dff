"""Cycles that are called unbounded can be gone round for ever, where no stall guard stops that."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product

from random_casts import Sample, sample
from work_loadouts import work

from materiac.flow.termination import Cycle, free_cycles, item_cycles, repeated_runs
from materiac.path import parse_source
from materiac.scenario.walk import Ground, Walker

STEPS = 1_000
MOST_WALKERS = 20
MOST_PLACES = 2_000


def cycles_of(made: Sample) -> list[Cycle]:
    return [cycle for kind in (free_cycles, repeated_runs, item_cycles) for cycle in kind(made.graph)]


def after(walker: Walker) -> Iterator[tuple[list[str], Walker]]:
    """The next visits, each with the walker that is about to go on from it; loops found empty are passed."""
    for step, following in walker.steps():
        if step.status is None:
            yield ([walker.at] if step.choice is not None else []), following


def arrivals(ground: Ground, socket: str) -> list[Walker]:
    """Walkers that have come to a socket, in different ways."""
    starts = [replace(Walker.start(ground), lengths=dict(lengths)) for lengths in given(ground)]
    seen, waiting, found = {start.standing(()) for start in starts}, deque(starts), []
    while waiting and len(seen) < MOST_PLACES:
        walker = waiting.popleft()
        if walker.at == socket:
            found.append(walker)
        for _, following in after(walker):
            standing = following.standing(())
            if standing not in seen:
                seen.add(standing)
                waiting.append(following)
    return found


def given(ground: Ground) -> Iterator[dict[tuple[str, ...], int]]:
    """The lists that a cast may begin with."""
    paths = [parse_source(loop.items) for loop in ground.program.loops.values()]
    lists = dict.fromkeys(path.segments for path in paths if path.root == "state")
    for lengths in product((1, 2, 0), repeat=len(lists)):
        yield dict(zip(lists, lengths, strict=True))


def goes_round(ground: Ground, walkers: Sequence[Walker], sockets: Sequence[str]) -> bool:
    """Whether some walker can visit the sockets in turn for so many steps."""
    known: dict[tuple[object, str], list[tuple[object, Walker]]] = {}
    here = {standing(ground, walker): walker for walker in walkers}
    for i in range(STEPS):
        wanted = sockets[i % len(sockets)]
        following: dict[object, Walker] = {}
        for place, walker in here.items():
            if (place, wanted) not in known:
                known[place, wanted] = [(standing(ground, it), it) for it in visiting(walker, wanted)]
            following |= dict(known[place, wanted])
        here = dict(list(following.items())[:MOST_WALKERS])
        if not here:
            return False
    return True


def standing(ground: Ground, walker: Walker) -> object:
    """What tells walkers apart without a stall guard: places, lists, and what budgets have left."""
    return walker.standing(ground.bounded)


def visiting(walker: Walker, socket: str) -> Iterator[Walker]:
    """The walkers after a visit of a socket that is the next one, past loops that are empty."""
    waiting, passed = [walker], 0
    while waiting and passed < 8:
        here = waiting.pop()
        for visited, following in after(here):
            if visited == [socket]:
                yield following
            elif not visited:
                passed += 1
                waiting.append(following)


def replayed(samples: Iterable[Sample]) -> tuple[int, int]:
    """How many witnesses could be replayed, and how many there are."""
    done, total = 0, 0
    for made in samples:
        ground = Ground(replace(made.program, max_no_advance_cycles=10**9))
        for cycle in cycles_of(made):
            sockets = [node for node in cycle.nodes[:-1] if node in made.program.sockets]
            if sockets:
                total += 1
                done += goes_round(ground, arrivals(ground, sockets[0]), sockets)
    return done, total


def test_witnesses_in_work() -> None:
    done, total = replayed(map(work, range(400)))
    assert done == total > 30


def test_witnesses_in_wild_loadouts() -> None:
    """A few would have the same list empty and not empty."""
    done, total = replayed(map(sample, range(120)))
    assert done >= 0.9 * total > 40
