from __future__ import annotations

from fractions import Fraction

import pytest

from materiac.flow.formula import Formula


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (Formula(), "0"),
        (Formula(4, 9), "4 + 9·N"),
        (Formula(0, 1), "N"),
        (Formula(-2, 9), "9·N - 2"),
        (Formula(3, 2, 1), "3 + 2·N + N²"),
        (Formula(Fraction(1, 4), Fraction(3, 2)), "0.25 + 1.5·N"),
        (Formula(7), "7"),
    ],
    ids=str,
)
def test_text(formula: Formula, text: str) -> None:
    assert str(formula) == text


@pytest.mark.parametrize(
    ("text", "constant", "per_item"),
    [
        ("20*N", 0, 20),
        ("4 + 9*N", 4, 9),
        ("9·N + 4", 4, 9),
        ("20N", 0, 20),
        ("N*3", 0, 3),
        ("N", 0, 1),
        ("12", 12, 0),
        ("0.5 + 0.25*N", Fraction(1, 2), Fraction(1, 4)),
        ("9*N - 2", -2, 9),
        ("1+1+N", 2, 1),
    ],
)
def test_reading(text: str, constant: int, per_item: int) -> None:
    formula = Formula.read(text)
    assert (formula.constant, formula.per_item) == (constant, per_item)
    assert formula.at(3) == constant + 3 * per_item


@pytest.mark.parametrize("text", ["", "x", "N*N", "4 +", "1e3", "--2", "4 9", "N2", "²"])
def test_what_is_no_formula(text: str) -> None:
    with pytest.raises(ValueError, match="is no formula such as"):
        Formula.read(text)


def test_few_items_have_numbers_of_their_own() -> None:
    formula = Formula(2, 3, single=4, empty=9)
    assert [formula.at(items) for items in range(4)] == [9, 4, 8, 11]


@pytest.mark.parametrize(
    ("most", "limit", "first"),
    [
        ("12*N", "20*N", None),
        ("4 + 12*N", "12*N", 1),
        ("3 + 12*N", "100", 9),
        ("3 + 12*N", "11 + 11*N", 9),
        ("5", "4", 1),
        ("5", "5", None),
        ("2 + N", "1000000", 999_999),
        ("3 + N", "3*N", 1),
    ],
)
def test_the_first_number_of_items_that_is_too_many(most: str, limit: str, first: int | None) -> None:
    assert Formula.read(most).first_over(Formula.read(limit)) == first


def test_sums_and_multiples() -> None:
    one, other = Formula(1, 2, single=3, empty=1), Formula(4, single=4, empty=0)
    assert one + other == Formula(5, 2, single=7, empty=1)
    assert one.times(2) == Formula(2, 4, single=6, empty=2)
    assert one.for_each_item() == Formula(0, 1, 2, single=3)
    assert one.as_data()["text"] == "1 + 2·N"


def test_how_many_items_a_limit_is_enough_for() -> None:
    assert Formula.read("10 + 90*N").most_items(1_000) == 10
    assert Formula.read("10 + 90*N").most_items(99.5) == 0
    assert Formula.read("10 + 90*N").most_items(190) == 1
    assert Formula.read("10").most_items(10) == 0
    assert Formula.read("10").most_items(10.1) is None


@pytest.mark.parametrize(
    ("most", "limit", "over"),
    [
        ("3 + 2*N", "0", True),
        ("3 + 2*N", "4", True),
        ("1 + 2*N", "4", False),
        ("3 + 2*N", "3*N", False),
        ("4*N", "3*N", True),
    ],
)
def test_what_is_more_for_any_number_of_items(most: str, limit: str, *, over: bool) -> None:
    assert Formula.read(most).is_always_over(Formula.read(limit)) == over
