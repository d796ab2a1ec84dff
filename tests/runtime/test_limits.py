from __future__ import annotations

from typing import Any

import pytest

from materiac.program import Limits
from materiac.runtime.limits import check_answer, check_items, check_prompt
from materiac.runtime.visit import VisitFailed

LIMITS = Limits(max_answer_bytes=10, max_prompt_bytes=12, max_items=3)


@pytest.mark.parametrize("text", ["", "x" * 10, "é" * 5, "\ud800" * 3])
def test_texts_within_their_limits(text: str) -> None:
    check_answer(LIMITS, text)
    check_prompt(LIMITS, text)


def test_an_answer_beyond_its_limit() -> None:
    with pytest.raises(VisitFailed) as caught:
        check_answer(LIMITS, "é" * 5 + "x")
    assert caught.value.kind == "output-limit"
    assert caught.value.message == "the answer has 11 bytes, 10 are allowed by 'limits.maxAnswerBytes'"


def test_a_prompt_beyond_its_limit() -> None:
    with pytest.raises(VisitFailed) as caught:
        check_prompt(LIMITS, "\ud800" * 5)
    assert caught.value.kind == "agent"
    assert caught.value.message == "the prompt has 15 bytes, 12 are allowed by 'limits.maxPromptBytes'"


@pytest.mark.parametrize(
    "accepted",
    [
        pytest.param({"workItems": [1, 2, 3]}, id="as many as may be"),
        pytest.param({"workItems": "1234"}, id="no list"),
        pytest.param({"found": [1, 2, 3, 4]}, id="another list"),
        pytest.param({"state": [1, 2, 3, 4]}, id="state that is no object"),
        pytest.param([1, 2, 3, 4], id="no object"),
    ],
)
def test_items_within_their_limit(accepted: Any) -> None:
    check_items(LIMITS, accepted)


@pytest.mark.parametrize(
    ("accepted", "name"),
    [
        pytest.param({"workItems": [1, 2, 3, 4]}, "workItems", id="of a generator"),
        pytest.param({"state": {"workItems": [1, 2, 3, 4]}}, "state.workItems", id="of a utility"),
    ],
)
def test_items_beyond_their_limit(accepted: Any, name: str) -> None:
    with pytest.raises(VisitFailed) as caught:
        check_items(LIMITS, accepted)
    assert caught.value.kind == "output"
    assert caught.value.message == f"'{name}' has 4 entries, 3 are allowed by 'limits.maxItems'"
