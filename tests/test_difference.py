from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from materiac.difference import NOTHING, differences, same

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def told(old: Any, new: Any) -> list[tuple[str | None, ...]]:
    return [tuple(part) for part in differences(old, new, "it")]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param("a", "b", [("it", "'a'", "'b'")], id="texts"),
        pytest.param(1, 1.0, [("it", "1", "1.0")], id="numbers"),
        pytest.param(1, True, [("it", "1", "true")], id="types"),
        pytest.param(NOTHING, None, [("it", None, "null")], id="null-is-new"),
        pytest.param({"a": None}, {}, [("it.a", "null", None)], id="key-is-gone"),
        pytest.param({"a": 1, "b": 2}, {"b": 2, "a": 1}, [], id="order-of-keys"),
        pytest.param({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, [("it.a[1].b", "2", "3")], id="inside"),
        pytest.param([1, 2], [2], [("it", "[1, 2]", "[2]")], id="lengths"),
        pytest.param({"a b": 1}, {"a b": 2}, [("it.'a b'", "1", "2")], id="odd-key"),
        pytest.param("a\u202eb", "a\x1b[2J", [("it", "'a\\u202eb'", "'a\\x1b[2J'")], id="no-plain-text"),
        pytest.param(["\u202e"], [], [("it", '["\\u202e"]', "[]")], id="no-plain-text-inside"),
        pytest.param(
            "x" * 100 + "a",
            "x" * 100 + "b",
            [("it differs at line 1, column 101:", f"…'{'x' * 20}a'", f"…'{'x' * 20}b'")],
            id="far-along",
        ),
        pytest.param(
            "one\ntwo\nthree",
            "one\ntwo\nfour",
            [("it differs at line 3, column 1:", "'three'", "'four'")],
            id="third-line",
        ),
        pytest.param(
            "one", "one\ntwo", [("it differs at line 1, column 4:", "'one'", "'one\\ntwo'")], id="a-line-more"
        ),
        pytest.param(
            "a\nb" + "c" * 99,
            "a\nd" + "c" * 99,
            [("it differs at line 2, column 1:", f"'b{'c' * 79}'…", f"'d{'c' * 79}'…")],
            id="long-rest",
        ),
        pytest.param(
            ["x" * 90, 1],
            ["x" * 90],
            [("it", f'…{"x" * 19}", 1]', f'…{"x" * 19}"]')],
            id="long-list",
        ),
    ],
)
def test_a_difference_is_told(old: Any, new: Any, expected: list[tuple[str, str, str]]) -> None:
    assert told(old, new) == expected


def test_deep_down_the_whole_rest_is_one_value() -> None:
    old, new = [1], [2]
    for _ in range(20):
        old, new = [old], [new]  # type: ignore[list-item]
    [(at, one, other)] = told(old, new)
    assert (at, one) == ("it" + "[0]" * 8, "[" * 13 + "1" + "]" * 13)
    assert other == "[" * 13 + "2" + "]" * 13


@given(VALUES, VALUES)
def test_what_differs_is_told_in_short_plain_lines(old: Any, new: Any) -> None:
    found = list(differences(old, new))
    assert (found == []) is same(old, new)
    for part in found:
        assert part.old != part.new
        assert all(text is None or (text.isprintable() and len(text) < 900) for text in part)


@given(VALUES)
def test_equal_values_do_not_differ(value: Any) -> None:
    assert list(differences(value, value)) == []
