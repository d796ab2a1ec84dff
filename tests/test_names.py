from __future__ import annotations

import itertools
import time

import pytest

from materiac.names import fault, is_slip, suggestion


@pytest.mark.parametrize(
    "name", ["a", "Build", "v1.2_x-y", "日本", "q\u0323\u0307", "٣", "-", "a" * 64, "End"]
)
def test_good_names(name: str) -> None:
    assert fault(name, spaces=False) is None


@pytest.mark.parametrize("name", ["Full Auto", "a  b", "a b c"])
def test_inner_spaces(name: str) -> None:
    assert fault(name, spaces=True) is None
    assert fault(name, spaces=False) == "has ' ' in it: letters, digits, '.', '_' and '-' are allowed"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        pytest.param("", "is empty", id="empty"),
        pytest.param("a" * 65, "65 characters long, 64 are allowed", id="long"),
        pytest.param("end", "means the end of a cast", id="end"),
        pytest.param(".", "starts with a dot", id="dot"),
        pytest.param("..", "starts with a dot", id="parent"),
        pytest.param(" a", "starts or ends with a space", id="leading-space"),
        pytest.param("a ", "starts or ends with a space", id="trailing-space"),
        pytest.param("a/b", "has '/' in it", id="slash"),
        pytest.param("a\nb", r"has '\n' in it", id="line-break"),
        pytest.param("a\u00a0b", r"has '\xa0' in it", id="no-break-space"),
        pytest.param("a²", "has '²' in it", id="superscript"),
        pytest.param("a\ud800", r"has '\ud800' in it", id="surrogate"),
        pytest.param("\U0001f469", "in it", id="emoji"),
        pytest.param("e\u0301", "is not in Unicode normal form C", id="nfd"),
    ],
)
def test_bad_names(name: str, words: str) -> None:
    assert words in (fault(name, spaces=True) or "")


@pytest.mark.parametrize(
    ("wrong", "known", "right"),
    [
        pytest.param("Bulid", ["Plan", "Build", "Eval"], "Build", id="transposed"),
        pytest.param("BUILD", ["Plan", "Build"], "Build", id="case"),
        pytest.param("maxVisit", ["maxVisits", "maxOutputBytes"], "maxVisits", id="missing-letter"),
        pytest.param("x", ["Plan", "Build"], None, id="nothing-near"),
        pytest.param("x", [], None, id="nothing-known"),
        pytest.param("", ["a"], None, id="empty"),
        pytest.param("buil", ["build", "BUILD", "Build"], "BUILD", id="names-that-differ-in-case"),
    ],
)
def test_suggestion(wrong: str, known: list[str], right: str | None) -> None:
    assert suggestion(wrong, known) == (right and f"did you mean '{right}'?")


def test_suggestion_does_not_depend_on_order() -> None:
    known = ["abcd1", "ABCD2", "Abcd2", "abcd2"]
    assert len({suggestion("abcdx", order) for order in itertools.permutations(known)}) == 1


MANY = [f"socket-{number:05}" for number in range(10_000)]


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        pytest.param("sacket-00123", "socket-00123", id="replaced"),
        pytest.param("scoket-00123", "socket-00123", id="transposed"),
        pytest.param("ocket-00123", "socket-00123", id="missing-letter"),
        pytest.param("socket-001234x", None, id="two-letters-away"),
        pytest.param("sockett-00123", "socket-00123", id="letter-too-many"),
        pytest.param("Build", None, id="nothing-near"),
    ],
)
def test_suggestion_among_many(wrong: str, right: str | None) -> None:
    assert suggestion(wrong, MANY) == (right and f"did you mean '{right}'?")


def test_suggestions_among_many_are_quick() -> None:
    started = time.perf_counter()
    for number in range(100):
        suggestion(f"socket-x{number:04}", MANY)
    assert time.perf_counter() - started < 4


@pytest.mark.parametrize(
    ("one", "other", "slip"),
    [
        ("requst", "request", True),
        ("requesst", "request", True),
        ("reqvest", "request", True),
        ("reuqest", "request", True),
        ("Request", "request", True),
        ("request", "request", False),
        ("rqust", "request", False),
        ("eruqest", "request", False),
        ("", "a", True),
        ("", "ab", False),
    ],
)
def test_slips_are_of_one_letter(one: str, other: str, slip: bool) -> None:
    assert (is_slip(one, other), is_slip(other, one)) == (slip, slip)
