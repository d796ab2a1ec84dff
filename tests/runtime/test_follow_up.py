from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from materiac.runtime.contract import Accepted
from materiac.runtime.follow_up import MAX_REASON, MAX_SECTION, TITLE, Note, reason_of, section


def accepted(output: dict[str, object], *, shown: dict[str, object] | None = None) -> Accepted:
    fields: dict[str, Any] = {name: output[name] for name in ("context", "satisfied") if name in output}
    return Accepted(output=output, fields=fields, shown=output if shown is None else shown)


def note(reason: str, source: str = "check") -> Note:
    return Note(source, "build", 1, reason)


def test_the_context_is_the_reason() -> None:
    assert reason_of(accepted({"satisfied": False, "context": " the roof leaks\n"})) == "the roof leaks"


def test_without_a_context_the_output_is() -> None:
    output: dict[str, object] = {"satisfied": False, "context": " ", "detail": "é"}
    assert reason_of(accepted(output)) == '{"satisfied":false,"context":" ","detail":"é"}'


def test_unassigned_text_is_no_reason() -> None:
    output: dict[str, object] = {"satisfied": False, "text": "t", "v": 1}
    assert json.loads(reason_of(accepted(output, shown={"satisfied": False}))) == {"satisfied": False, "v": 1}
    assert json.loads(reason_of(accepted(output))) == output


@pytest.mark.parametrize(
    "output", [{"context": "x" * 2000}, {"detail": "x" * 2000}], ids=["context", "output"]
)
def test_a_long_reason_is_cut(output: dict[str, object]) -> None:
    reason = reason_of(accepted(output))
    assert len(reason) == MAX_REASON
    assert reason.endswith("x…")


def test_nothing_to_tell_is_nothing() -> None:
    assert section([]) == ""


def test_tells_source_and_reason_of_the_last_five_in_order() -> None:
    text = section([note(f"fault {number}", f"check{number}") for number in range(7)])
    assert text.startswith(f"## {TITLE}\n\nThis visit is rework of the current item")
    told = [line for line in text.splitlines() if line.startswith("From")]
    assert told == [f"From 'check{number}': fault {number}" for number in range(2, 7)]


def test_whole_reasons_go_from_the_oldest_on() -> None:
    text = section([note(f"mark{number} " + "w" * 890) for number in range(4)])
    assert "mark1" not in text
    assert "mark2 " + "w" * 890 in text
    assert "mark3 " + "w" * 890 in text


@given(st.lists(st.text(min_size=1, max_size=3000), min_size=1, max_size=8))
def test_the_newest_is_always_told_within_the_bound(reasons: list[str]) -> None:
    text = section([note(reason, "s" * 64) for reason in reasons])
    assert len(text) <= MAX_SECTION
    assert reasons[-1][: MAX_REASON - 1] in text
