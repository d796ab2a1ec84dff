from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from materiac.eventing.patterns import Filter
from materiac.web_names import is_type_pattern

MATCHES = {
    "result.done": (["result.done"], ["result", "result.done.x", "xresult.done", "result.Done"]),
    "result.*": (["result.done", "result."], ["result", "result.a.b"]),
    "*": (["a", ""], ["a.b"]),
    "**": (["a", "a.b.c", ""], []),
    "lifecycle.**": (["lifecycle", "lifecycle.cast.started"], ["lifecycles.a", "a.lifecycle"]),
    "**.failed": (["failed", "a.b.failed"], ["a.failed.b"]),
    "a.**.z": (["a.z", "a.b.c.z"], ["a", "z", "a.z.b"]),
    "pr_*-x": (["pr_-x", "pr_1-x-x"], ["pr_1-xy", "pr-x"]),
    "*a*b*": (["ab", "xaxbx"], ["ba", "a.b"]),
}


@pytest.mark.parametrize(("pattern", "types"), MATCHES.items(), ids=MATCHES)
def test_what_a_pattern_stands_for(pattern: str, types: tuple[list[str], list[str]]) -> None:
    filter_ = Filter((pattern,))
    assert [type_ for type_ in types[0] if not filter_.lets_through(type_)] == []
    assert [type_ for type_ in types[1] if filter_.lets_through(type_)] == []


def test_exclude_wins_and_no_include_is_all() -> None:
    assert Filter().lets_through("a")
    assert not Filter(exclude=("a",)).lets_through("a")
    both = Filter(("a.*", "b"), ("*.x",))
    assert [type_ for type_ in ("a.y", "a.x", "b", "c") if both.lets_through(type_)] == ["a.y", "b"]


NAMES = st.text("ab*", min_size=1, max_size=5).filter(lambda name: "**" not in name) | st.just("**")


@given(st.lists(NAMES, min_size=1, max_size=4), st.text("ab.", max_size=10))
def test_patterns_are_plain_expressions(parts: list[str], type_: str) -> None:
    pattern = ".".join(parts)
    assert is_type_pattern(pattern)
    # With a dot behind each name, any number of names is a plain repetition.
    plain = "".join(r"(?:[^.]*\.)*" if part == "**" else part.replace("*", "[^.]*") + r"\." for part in parts)
    assert Filter((pattern,)).lets_through(type_) == bool(re.fullmatch(plain, f"{type_}."))


def test_no_pattern_takes_long() -> None:
    began = time.monotonic()
    assert not Filter(("*a" * 200 + "b",)).lets_through("a" * 5_000)
    assert not Filter((".".join(["**", "a"] * 40) + ".b",)).lets_through(".".join("a" * 2_000))
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("text", ["", ".", "a.", ".a", "a..b", "a**", "***", "a b", "a/b", "[a]", "a?"])
def test_what_is_no_pattern(text: str) -> None:
    assert not is_type_pattern(text)
