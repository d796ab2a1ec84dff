"""Texts broken into lines lose nothing."""

from __future__ import annotations

import pytest
from drawn_programs import NASTY
from hypothesis import given
from hypothesis import strategies as st

from materiac.render.colors import hex_color
from materiac.render.lettering import columns, pad, visible, wrap


@pytest.mark.parametrize("text", NASTY, ids=[label[:12] for label in NASTY])
@pytest.mark.parametrize("width", [8, 40])
def test_lines_fit_and_lose_nothing(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert "".join(lines) == text
    assert max(map(columns, lines)) <= width


@given(st.text(), st.integers(4, 30))
def test_any_text(text: str, width: int) -> None:
    shown = visible(text)
    lines = wrap(shown, width)
    assert "".join(lines) == shown.replace("\n", "")
    assert all(columns(line) <= width for line in lines)
    assert visible(shown) == shown
    assert shown.encode().decode() == shown


def test_padding_counts_cells() -> None:
    assert pad("设", 4) == "设  "
    assert pad("long", 2) == "long"


COLORS = {
    "materia-color-cyan": "#0e8fa3",
    "materia-color-black-gray": "#555555",
    " Red ": "#c0392b",
    "#0aF": "#00aaff",
    "#a0B1c2": "#a0b1c2",
    "#12": None,
    '"; evil': None,
    "": None,
}


@pytest.mark.parametrize(("written", "expected"), COLORS.items(), ids=COLORS)
def test_colours(written: str, expected: str | None) -> None:
    assert hex_color(written) == expected
