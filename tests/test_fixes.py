"""What is written in the place of a limit that is none."""

from __future__ import annotations

from typing import Any

import pytest

from materiac import fixes
from materiac.diagnostic import Removal, Replacement

COUNT = "a whole number of at least 1"
PERCENT = "a number above 0 and at most 100"
GONE = object()
NONE = object()


@pytest.mark.parametrize(
    ("value", "expected", "key", "fixed"),
    [
        pytest.param(0, COUNT, "maxVisits", 1, id="too low"),
        pytest.param(-3, COUNT, "maxVisits", 1, id="negative"),
        pytest.param("3", COUNT, "maxVisits", 3, id="a number in a string"),
        pytest.param("03", COUNT, "maxVisits", NONE, id="not quite a number"),
        pytest.param("many", COUNT, "maxVisits", NONE, id="a word"),
        pytest.param(2.5, COUNT, "maxVisits", 2, id="a fraction"),
        pytest.param(None, COUNT, "maxVisits", GONE, id="null"),
        pytest.param(True, COUNT, "maxVisits", NONE, id="true"),
        pytest.param([3], COUNT, "maxVisits", NONE, id="a list"),
        pytest.param(0, COUNT, "timeoutMs", GONE, id="no time"),
        pytest.param(0.5, COUNT, "timeoutMs", GONE, id="hardly a time"),
        pytest.param(1500.5, COUNT, "timeoutMs", 1500, id="a time with a fraction"),
        pytest.param(120, PERCENT, "warnAtPercent", 100, id="above 100"),
        pytest.param(0, PERCENT, "warnAtPercent", GONE, id="0 percent"),
        pytest.param("75", PERCENT, "warnAtPercent", 75, id="percent in a string"),
        pytest.param(-1, "a number above 0", "maxCostUsd", GONE, id="no amount"),
        pytest.param(-1, "a number of at least 0", "firstPauseMs", 0, id="0 is allowed"),
    ],
)
def test_limit(value: Any, expected: str, key: str, fixed: Any) -> None:
    fix = fixes.limit(value, expected, ("a", key))
    if fixed is NONE:
        assert fix is None
    elif fixed is GONE:
        assert fix is not None
        assert fix.edits == (Removal(("a", key)),)
    else:
        assert fix is not None
        assert fix.edits == (Replacement(("a", key), fixed),)
