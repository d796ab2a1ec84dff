"""Texts as editors count them: units, line breaks, changes of parts."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from materiac.lsp.buffers import Buffer, Change, Lines, Spot, Units
from materiac.source import Span

CODECS = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
SIZES = {"utf-8": 1, "utf-16": 2, "utf-32": 4}


def buffer(text: str, units: Units = "utf-16") -> Buffer:
    return Buffer("file:///a.json", "a.json", text, "json", 1, units)


@pytest.mark.parametrize(
    ("text", "offset", "spots"),
    [
        pytest.param("ab", 1, {"utf-8": 1, "utf-16": 1, "utf-32": 1}, id="ASCII"),
        pytest.param("é!", 1, {"utf-8": 2, "utf-16": 1, "utf-32": 1}, id="two bytes"),
        pytest.param("漢!", 1, {"utf-8": 3, "utf-16": 1, "utf-32": 1}, id="CJK"),
        pytest.param("😀!", 1, {"utf-8": 4, "utf-16": 2, "utf-32": 1}, id="emoji"),
        pytest.param("e\u0301!", 2, {"utf-8": 3, "utf-16": 2, "utf-32": 2}, id="combining"),
        pytest.param("👩\u200d🚀!", 3, {"utf-8": 11, "utf-16": 5, "utf-32": 3}, id="joined emoji"),
    ],
)
@pytest.mark.parametrize("units", ["utf-8", "utf-16", "utf-32"])
def test_columns_count_units(text: str, offset: int, spots: dict[str, int], units: Units) -> None:
    lines = Lines(f"漢😀\n{text}", units)
    spot = Spot(1, spots[units])
    assert lines.spot(3 + offset) == spot
    assert lines.offset(spot) == 3 + offset


@pytest.mark.parametrize(
    ("text", "spot", "offset"),
    [
        pytest.param("a\r\nb", Spot(1, 0), 3, id="CRLF"),
        pytest.param("a\rb", Spot(1, 0), 2, id="lone CR"),
        pytest.param("a\u2028b\x0cc\x85d", Spot(0, 6), 6, id="what is no line break"),
        pytest.param("ab\r\nc", Spot(0, 99), 2, id="beyond a line"),
        pytest.param("ab\nc", Spot(9, 0), 4, id="beyond the text"),
        pytest.param("ab\n", Spot(1, 0), 3, id="after the last line break"),
        pytest.param("", Spot(0, 0), 0, id="nothing"),
        pytest.param("😀", Spot(0, 1), 0, id="within a pair"),
    ],
)
def test_places_in_lines(text: str, spot: Spot, offset: int) -> None:
    assert Lines(text).offset(spot) == offset


def test_no_place_parts_a_line_break() -> None:
    assert Lines("a\r\nb").spot(2) == Spot(0, 1)


def test_a_byte_order_mark_is_seen_by_the_editor_alone() -> None:
    here = buffer("\ufeff{}\n[]")
    assert here.source.text == "{}\n[]"
    assert here.range(Span(0, 2)) == (Spot(0, 1), Spot(0, 3))
    assert here.spot(3) == Spot(1, 0)
    assert [here.offset(Spot(0, column)) for column in (0, 1, 2)] == [0, 0, 1]
    assert here.raw == b"{}\n[]"


def test_half_characters_keep_their_width() -> None:
    here = buffer('"\ud800" 1')
    assert here.raw.decode() == '"\ufffd" 1'
    assert here.spot(4) == Spot(0, 4)


texts = st.text(st.sampled_from("ab漢é😀\r\n\u2028 "), max_size=12)
places = st.builds(Spot, st.integers(0, 5), st.integers(0, 12))


def on_bytes(text: str, change: Change, units: Units) -> str:
    """The same change by the bytes of each line, as the protocol describes it."""
    assert change.start is not None
    assert change.end is not None
    cut = re.split(r"(\r\n|\r|\n)", text)
    lines = [(line, (*cut[1::2], "")[number]) for number, line in enumerate(cut[::2])]

    def offset(spot: Spot) -> int:
        if spot.line >= len(lines):
            return len(text)
        before = sum(len(line) + len(end) for line, end in lines[: spot.line])
        raw = lines[spot.line][0].encode(CODECS[units])[: spot.column * SIZES[units]]
        return before + len(raw.decode(CODECS[units], "ignore"))

    start, end = offset(change.start), offset(change.end)
    return text[:start] + change.text + text[max(start, end) :]


@given(texts, st.builds(Change, texts, places, places), st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_changes_of_parts(text: str, change: Change, units: Units) -> None:
    changed = buffer(text, units).changed(2, [change])
    assert (changed.text, changed.version) == (on_bytes(text, change, units), 2)


def test_changes_are_made_one_after_the_other() -> None:
    changes = [Change("xyz"), Change("", Spot(0, 0), Spot(0, 1)), Change("!", Spot(0, 2), Spot(0, 2))]
    assert buffer("a").changed(3, changes).text == "yz!"


@given(texts, st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_every_offset_has_a_place_that_leads_back(text: str, units: Units) -> None:
    lines = Lines(text, units)
    for offset in range(len(text) + 1):
        within = text[offset - 1 : offset + 1] == "\r\n"
        assert lines.offset(lines.spot(offset)) == offset - within
