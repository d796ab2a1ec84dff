"""No cast of random loadouts exceeds their bounds, and nearly always one reaches them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import pytest
from longest_casts import TooManyError, longest
from random_casts import Sample, sample
from work_loadouts import work

from materiac.flow.bounds import bound, visits_of
from materiac.flow.termination import free_cycles, growing_lists, item_cycles, repeated_runs
from materiac.graph import LoadoutGraph

MOST_ITEMS = 2
FEW = 60


@dataclass
class Compared:
    """Bounds set against the longest casts; `reached` are the loadouts whose bound is exact however many
    items there are."""

    loadouts: int = 0
    reached: int = 0


def compare(make: Callable[[int], Sample], seeds: Iterable[int]) -> Compared:
    compared = Compared()
    for seed in seeds:
        made = make(seed)
        if made.graph.loops and not _sends_lists(made):
            continue
        turns = {id_: 1 + (socket.parse == "json") for id_, socket in made.program.sockets.items()}
        try:
            found = [
                longest(made.program, items, turns.__getitem__, 6_000) for items in range(MOST_ITEMS + 1)
            ]
        except TooManyError:
            continue
        most = bound(made.graph, made.cycles).turns
        told = [most.at(items) for items in range(MOST_ITEMS + 1)]
        assert all(a <= b for a, b in zip(found, told, strict=True)), (seed, found, told)
        compared.loadouts += 1
        compared.reached += found == told
    return compared


def _sends_lists(made: Sample) -> bool:
    """Whether somebody sends work items; else walkers let every answer replace them, and casts do not."""
    return any(materia.generator for materia in made.program.materia.values())


def test_bounds_of_work() -> None:
    compared = compare(work, range(FEW))
    assert compared.loadouts == FEW
    assert compared.reached >= 0.9 * compared.loadouts


@pytest.mark.slow
@pytest.mark.parametrize("start", [FEW, FEW + 1_000])
def test_bounds_of_much_work(start: int) -> None:
    compared = compare(work, range(start, start + 1_000))
    assert compared.loadouts >= 990
    assert compared.reached >= 0.95 * compared.loadouts


def test_bounds_of_wild_loadouts() -> None:
    assert compare(sample, range(FEW)).loadouts > 0.5 * FEW


@pytest.mark.slow
@pytest.mark.parametrize("start", range(FEW, FEW + 600, 300))
def test_bounds_of_many_wild_loadouts(start: int) -> None:
    assert compare(sample, range(start, start + 300)).loadouts > 150


def test_visits_of_one_socket_are_bounded_too() -> None:
    reached, total = 0, 0
    for seed in range(30):
        made = work(seed)
        for id_ in made.program.sockets:
            found = longest(made.program, 2, lambda socket, id_=id_: int(socket == id_))  # type: ignore[misc]
            told = visits_of(made.graph, id_, made.cycles).at(2)
            assert found <= told, (seed, id_)
            reached, total = reached + (found == told), total + 1
    assert reached >= 0.9 * total


def is_bounded(graph: LoadoutGraph) -> bool:
    kinds = (repeated_runs, free_cycles, item_cycles, growing_lists)
    return not any(list(kind(graph)) for kind in kinds)


@pytest.mark.parametrize(
    "seeds", [range(FEW), pytest.param(range(FEW, 600), marks=pytest.mark.slow)], ids=["some", "many"]
)
def test_what_is_bounded_ends_without_the_stall_guard(seeds: range) -> None:
    """The search raises an error where a cast goes on for ever."""
    seen = 0
    for seed in seeds:
        made = work(seed)
        if is_bounded(made.graph):
            without = replace(made.program, max_no_advance_cycles=10**9)
            try:
                longest(without, MOST_ITEMS, lambda _: 1, 6_000)
            except TooManyError:
                continue
            seen += 1
    assert seen > 0.4 * len(seeds)
