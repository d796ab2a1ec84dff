from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from materiac.program import Loop, Program
from materiac.runtime.items import Item, Loops


def loop(
    id_: str = "l", items: str = "state.workItems", cursor: str = "i", source: str | None = None
) -> Loop:
    return Loop(id_, (), items, "job", cursor, "end", "end", source=source)


def loops(*made: Loop) -> Loops:
    return Loops(Program("L", "a", {}, {}, {one.id: one for one in made}))


def reading(values: Any) -> Callable[[str], Any]:
    return lambda _: values


ONE, TWO = loop("one"), loop("two")


def test_entering() -> None:
    places = loops(ONE)
    assert places.enter(ONE)
    assert not places.enter(ONE)
    places.leave(ONE)
    assert places.enter(ONE)


@pytest.mark.parametrize("values", [[], None, {}, {"0": 1}, "text", 5, True], ids=repr)
def test_what_is_no_list_is_empty(values: Any) -> None:
    places = loops(ONE)
    places.enter(ONE)
    assert places.item(ONE, reading(values)) is None
    assert not places.has_next(ONE, reading(values))
    assert places.advance(ONE, reading(values))


@pytest.mark.parametrize(
    ("items", "key"),
    [("state.workItems", "WI-1"), ("workItems", "WI-1"), ("state.files", "0"), ("lastJson.a", "0")],
)
def test_the_key_of_an_item(items: str, key: str) -> None:
    one = loop(items=items)
    places = loops(one)
    places.enter(one)
    assert places.item(one, reading(["v"])) == Item(("l", 1, 0), key, key, "job", "v")


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ({"title": "T", "name": "N"}, "T"),
        ({"name": "N"}, "N"),
        ({"title": "  ", "name": "N"}, "N"),
        ({"title": 5, "name": "N"}, "N"),
        ({}, "WI-1"),
        ("text", "WI-1"),
        (None, "WI-1"),
    ],
    ids=repr,
)
def test_the_label_of_an_item(value: Any, label: str) -> None:
    places = loops(ONE)
    places.enter(ONE)
    found = places.item(ONE, reading([value]))
    assert found is not None
    assert found.label == label


def test_going_through_a_list() -> None:
    places, read = loops(ONE), reading(["a", "b"])
    seen = []
    for _ in range(2):
        places.enter(ONE)
        item = places.item(ONE, read)
        assert item is not None
        seen.append((item.key, item.id, places.advance(ONE, read)))
    assert seen == [("WI-1", ("one", 1, 0), False), ("WI-2", ("one", 1, 1), True)]
    assert places.enter(ONE)
    again = places.item(ONE, read)
    assert again is not None
    assert again.id == ("one", 2, 0)


def test_leaving_and_coming_back_goes_on() -> None:
    places, read = loops(ONE, TWO), reading(["a", "b"])
    places.enter(ONE)
    places.advance(ONE, read)
    places.enter(TWO)
    assert not places.enter(ONE)
    item = places.item(ONE, read)
    assert item is not None
    assert item.id == ("one", 1, 1)
    assert places.has_next(ONE, read)
    assert not places.has_next(ONE, reading(["a"]))


def test_a_new_list_makes_its_loops_idle() -> None:
    fed, other = loop("fed", source="plan"), loop("other", source="elsewhere")
    places = loops(fed, other)
    for one in (fed, other):
        places.enter(one)
    places.renewed_by("plan")
    assert places.enter(fed)
    assert not places.enter(other)


def test_an_idle_loop_would_begin_anew() -> None:
    places, read = loops(ONE), reading(["a"])
    places.enter(ONE)
    places.advance(ONE, read)
    assert places.has_next(ONE, read)
    assert not places.has_next(ONE, reading([]))


def test_the_current_item() -> None:
    places, read = loops(ONE, TWO), reading(["a", "b"])
    assert places.current() is None
    places.enter(ONE)
    assert places.current() is None  # entered and not visited
    places.visit(ONE)
    assert places.current() == ("one", 1, 0)
    places.enter(TWO)
    assert places.current() == ("one", 1, 0)
    places.visit(TWO)
    assert places.current() == ("two", 1, 0)
    places.visit(ONE)
    places.advance(ONE, read)
    assert places.current() == ("one", 1, 1)
    places.leave(ONE)
    assert places.current() == ("two", 1, 0)


def test_cursors_by_name() -> None:
    """Inside a loop its own counts, else that of the loop under way that was entered last."""
    places, read = loops(ONE, TWO), reading(["a", "b", "c"])
    assert (places.cursor("i", None), places.cursors()) == (None, {})
    places.enter(ONE)
    places.enter(TWO)
    places.advance(TWO, read)
    places.advance(TWO, read)
    assert places.cursor("i", None) == 2
    assert places.cursor("i", ONE) == 0
    assert places.cursor("i", loop("three", cursor="other")) == 2
    assert places.cursor("nothing", ONE) is None
    assert places.cursors() == places.cursors(TWO) == {"i": 2}
    assert places.cursors(ONE) == {"i": 0}
    places.leave(TWO)
    assert places.cursor("i", None) == 0
    assert places.cursors() == {"i": 0}


def test_cursors_of_loops_that_are_over_stay() -> None:
    places, read = loops(ONE), reading(["a"])
    places.enter(ONE)
    places.advance(ONE, read)
    assert places.cursor("i", None) is None
    assert places.cursors() == {"i": 1}


def test_what_is_live() -> None:
    places: Loops = loops(ONE, TWO)
    places.enter(ONE)
    places.enter(TWO)
    places.leave(TWO)
    places.enter(TWO)
    assert set(places.live()) == {("one", 1), ("two", 2)}


def test_a_fork_goes_its_own_way() -> None:
    places, read = loops(ONE), reading(["a", "b"])
    places.enter(ONE)
    fork = places.fork()
    fork.advance(ONE, read)
    standing: Mapping[bool, Any] = {True: places.standing(), False: fork.standing()}
    assert standing[True] != standing[False]
    assert (places.cursor("i", ONE), fork.cursor("i", ONE)) == (0, 1)
