"""Limits of visits that come before the stall guard ends a cast, and those that come too late."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from random_casts import Sample, made, sample

from materiac.flow.termination import (
    Cycle,
    free_cycles,
    growing_lists,
    item_cycles,
    late_limits,
    repeated_runs,
    traps,
)
from materiac.graph import LoadoutGraph
from materiac.scenario.walk import Ground, Walker

KINDS: tuple[Callable[[LoadoutGraph], Iterator[Cycle]], ...] = (
    repeated_runs,
    free_cycles,
    item_cycles,
    growing_lists,
)
MOST_STATES = 4_000
SEEDS = 2_000


def review(most: int, **edge: Any) -> dict[str, Any]:
    """`write → review → write`, where `review` may be visited so often."""
    edges = [{"when": "satisfied", "to": "end"}, {"when": "not_satisfied", "to": "write", **edge}]
    return {
        "entry": "write",
        "sockets": {
            "write": {"materia": "Plain", "edges": [{"to": "review"}]},
            "review": {"materia": "Judge", "limits": {"maxVisits": most}, "edges": edges},
        },
    }


def twice(first: int, second: int) -> dict[str, Any]:
    """Two sockets, one behind the other, that may come to themselves again."""
    edges = [{"when": "not_satisfied", "to": "a"}, {"when": "satisfied", "to": "b"}]
    again = [{"when": "not_satisfied", "to": "b"}, {"when": "satisfied", "to": "end"}]
    return {
        "entry": "a",
        "sockets": {
            "a": {"materia": "Judge", "limits": {"maxVisits": first}, "edges": edges},
            "b": {"materia": "Judge", "limits": {"maxVisits": second}, "edges": again},
        },
    }


@pytest.mark.parametrize(
    ("loadout", "cycles", "late"),
    [
        (review(3), 3, []),
        (review(4), 3, ["review"]),
        (review(1), 0, ["review"]),
        (review(10, maxTraversals=9), 3, []),
        (twice(2, 3), 3, []),
        (twice(3, 3), 3, ["b"]),
        (twice(5, 1), 3, ["a", "b"]),
    ],
)
def test_limits_that_come_too_late(loadout: dict[str, Any], cycles: int, late: list[str]) -> None:
    built = made(loadout, cycles)
    assert [cycle.culprit for cycle in late_limits(built.graph, cycles)] == late
    assert bool(late) == stalls(built)


def stalls(built: Sample) -> bool | None:
    """Whether the stall guard ends some cast; None where there are too many to look at."""
    ground = Ground(built.program)
    unguarded = Ground(replace(built.program, max_no_advance_cycles=10**9))
    start = Walker.start(ground)
    waiting, seen = [start], {start.standing(ground.bounded, guard=True)}
    while waiting:
        walker = waiting.pop()
        for step, after in walker.steps():
            if step.status == "failed" and step.choice is None:
                if replace(walker, ground=unguarded).fork().come() is None:
                    return True
            elif step.status is None and (key := after.standing(ground.bounded, guard=True)) not in seen:
                if len(seen) >= MOST_STATES:
                    return None
                seen.add(key)
                waiting.append(after)
    return False


def test_what_is_bounded_never_stalls() -> None:
    """Loops are left out: coming to one for the second time counts as a cycle, be it on one or not."""
    looked_at = 0
    for seed in range(SEEDS):
        built = sample(seed)
        if built.graph.loops or any(True for _ in traps(built.graph)):
            continue
        if any(list(kind(built.graph)) for kind in KINDS) or list(late_limits(built.graph, built.cycles)):
            continue
        ends = stalls(built)
        assert not ends, seed
        looked_at += ends is not None
    assert looked_at > 0.05 * SEEDS
