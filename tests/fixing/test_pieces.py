"""Edits made one after the other are edits of the first text."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from materiac.fixing.pieces import Pieces, TextEdit, edited


@pytest.mark.parametrize(
    ("steps", "edits"),
    [
        pytest.param([], [], id="none"),
        pytest.param([[(1, 2, "x")]], [(1, 2, "x")], id="one"),
        pytest.param([[(1, 2, "xy")], [(2, 3, "")]], [(1, 2, "x")], id="within what is new"),
        pytest.param([[(1, 2, "")], [(1, 2, "")]], [(1, 3, "")], id="side by side"),
        pytest.param([[(0, 0, "a"), (6, 6, "z")]], [(0, 0, "a"), (6, 6, "z")], id="at both ends"),
        pytest.param([[(2, 2, "x")], [(2, 3, "")]], [], id="made and taken back"),
    ],
)
def test_edits_of_the_first_text(steps: list[list[TextEdit]], edits: list[TextEdit]) -> None:
    pieces = Pieces("012345")
    for step in steps:
        pieces.apply(step)
    assert pieces.edits() == edits


@given(st.data())
def test_the_same_text_comes_out(data: st.DataObject) -> None:
    first = text = data.draw(st.text("abc", max_size=12))
    pieces = Pieces(first)
    for _ in range(data.draw(st.integers(0, 4))):
        cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
        pairs = zip(cuts[::2], cuts[1::2], strict=False)
        step = [(start, end, data.draw(st.text("xyz", max_size=3))) for start, end in pairs]
        pieces.apply(step)
        text = edited(text, step)
    edits = pieces.edits()
    assert edited(first, edits) == text
    assert all(one[1] < other[0] for one, other in pairwise(edits))
