"""A read is told of exactly where some cast comes to it before anything has been written there."""

from __future__ import annotations

from collections import Counter

import pytest
from all_casts import Casts
from random_flows import flow

from materiac.flow.unwritten import gaps

CASES = 4_000
SAMPLE = 300


@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(range(SAMPLE), id="sample"),
        pytest.param(range(SAMPLE, CASES), id="all", marks=pytest.mark.slow),
    ],
)
def test_gaps_are_those_of_all_casts(seeds: range) -> None:
    met: Counter[str] = Counter()
    for seed in seeds:
        drawn = flow(seed)
        graph, materia = drawn.models()
        casts = Casts(graph, materia, drawn.cycles)
        found = gaps(graph, drawn.cycles)
        told = {(gap.node, gap.read.place) for gap in found if not gap.undefined}
        undefined = {(gap.node, gap.read.place) for gap in found if gap.undefined}
        assert told <= casts.unwritten or not casts.complete, seed
        assert casts.unwritten <= told | undefined, seed
        assert all(gap.way[-1] == gap.node for gap in found if not gap.undefined), seed
        met["told"] += bool(told)
        met["cut"] += not casts.complete
    assert met["told"] > len(seeds) // 4
    assert met["cut"] < len(seeds) // 50
