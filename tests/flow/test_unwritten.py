"""A read is told of exactly where some cast comes to it before anything has been written there."""

from __future__ import annotations

from collections import Counter

import pytest
from all_casts import Casts
from random_flows import flow

from materiac.flow.unwritten import _Search, gaps

CASES = 2_400
SAMPLE = 200


class Searched(_Search):
    """Gaps whose ways are all searched for, be they near or not."""

    def _is_near(self, *_: object) -> bool:
        return False


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
        assert [len(gap.way) for gap in found] == [
            len(gap.way) for gap in Searched(graph, drawn.cycles).gaps()
        ]
        met["told"] += bool(told)
        met["cut"] += not casts.complete
    assert met["told"] > len(seeds) // 4
    assert met["cut"] < len(seeds) // 50
