"""An assignment is told of only where nothing in any cast sees it, and mostly where that is so."""

from __future__ import annotations

from collections import Counter

import pytest
from all_casts import Casts
from random_flows import flow

from materiac.flow.unused import unused

CASES = 2_400
SAMPLE = 200


@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(range(SAMPLE), id="sample"),
        pytest.param(range(SAMPLE, CASES), id="all", marks=pytest.mark.slow),
    ],
)
def test_unused_assignments_are_seen_by_no_cast(seeds: range) -> None:
    met: Counter[str] = Counter()
    for seed in seeds:
        drawn = flow(seed)
        graph, materia = drawn.models()
        casts = Casts(graph, materia, drawn.cycles)
        told = {(found.write.place[1:], found.socket) for found in unused(graph)}
        assert not told & casts.seen, seed
        unseen = casts.made - casts.seen
        met["unseen"] += len(unseen)
        met["told"] += len(unseen & told)
    assert met["unseen"] > len(seeds) // 4
    # The rest would be seen on ways that no cast can go, or after copies of what has no value.
    assert met["told"] > 0.7 * met["unseen"]
