from __future__ import annotations

import pytest

from materiac.program import Edge
from materiac.runtime.items import ItemId
from materiac.runtime.scopes import Landmark, Scope, Scopes

FREE, BOUND = Edge("always", "a"), Edge("always", "a", max_traversals=2)
ITEM: ItemId = ("l", 1, 0)
OTHER: ItemId = ("l", 1, 1)


def at(name: str) -> Landmark:
    return ("socket", name)


def come(scope: Scope, names: str) -> list[str]:
    """Come to sockets one after the other; the cycles that were closed, as texts."""
    return ["".join(cycle) for name in names if (cycle := scope.come(at(name)))]


@pytest.mark.parametrize(
    ("names", "cycles"),
    [
        ("", []),
        ("abc", []),
        ("aa", ["aa"]),
        ("aba", ["aba"]),
        ("abcb", ["bcb"]),
        ("abab", ["aba"]),
        ("ababa", ["aba", "aba"]),
        ("abcbcb", ["bcb", "bcb"]),
        ("aaa", ["aa", "aa"]),
        ("abcab", ["abca"]),
        ("abcabca", ["abca", "abca"]),
    ],
)
def test_cycles(names: str, cycles: list[str]) -> None:
    """Closing a cycle forgets all but the place where it was closed."""
    scope = Scope()
    assert come(scope, names) == cycles
    assert scope.cycles == len(cycles)


def test_a_loop_is_another_landmark_than_a_socket_of_that_name() -> None:
    scope = Scope()
    assert scope.come(("socket", "a")) == []
    assert scope.come(("loop", "a")) == []
    assert scope.come(("loop", "a")) == ["a", "a"]


def test_forgetting_keeps_the_count() -> None:
    scope = Scope()
    come(scope, "aba")
    scope.forget()
    assert come(scope, "ab") == []
    assert scope.cycles == 1


def test_scopes_are_apart() -> None:
    scopes = Scopes()
    for item in (None, ITEM, OTHER):
        assert come(scopes.of(item), "ab") == []
    assert scopes.of(ITEM) is scopes.of(ITEM)
    assert scopes.of(ITEM) is not scopes.of(OTHER)


def test_the_budget_of_an_edge_is_one_of_each_item() -> None:
    scopes = Scopes()
    for _ in range(2):
        assert not scopes.spent(ITEM, "s", 0, BOUND)
        scopes.take(ITEM, "s", 0, BOUND)
    assert scopes.spent(ITEM, "s", 0, BOUND)
    assert not scopes.spent(OTHER, "s", 0, BOUND)
    assert not scopes.spent(None, "s", 0, BOUND)
    assert not scopes.spent(ITEM, "s", 1, BOUND)
    assert not scopes.spent(ITEM, "t", 0, BOUND)
    assert not scopes.spent(ITEM, "s", 0, FREE)


@pytest.mark.parametrize(
    ("taken_by", "edge", "forgets"),
    [
        (ITEM, BOUND, {"item"}),
        (None, BOUND, {"cast", "item", "other"}),
        (ITEM, FREE, set()),
        (None, FREE, set()),
    ],
    ids=["item", "cast", "item without a budget", "cast without a budget"],
)
def test_an_edge_with_a_budget_makes_forget(taken_by: ItemId | None, edge: Edge, forgets: set[str]) -> None:
    scopes = Scopes()
    named = {"cast": None, "item": ITEM, "other": OTHER}
    for item in named.values():
        come(scopes.of(item), "a")
    scopes.take(taken_by, "s", 0, edge)
    assert {name for name, item in named.items() if not come(scopes.of(item), "a")} == forgets


def test_finished_runs_are_let_go_of() -> None:
    scopes = Scopes()
    old, live = scopes.of(ITEM), scopes.of(("m", 3, 0))
    cast = scopes.of(None)
    scopes.drop_finished([("m", 3), ("l", 2)])
    assert scopes.of(ITEM) is not old
    assert scopes.of(("m", 3, 0)) is live
    assert scopes.of(None) is cast


def test_a_fork_goes_its_own_way() -> None:
    scopes = Scopes()
    come(scopes.of(ITEM), "a")
    fork = scopes.fork()
    fork.take(ITEM, "s", 0, BOUND)
    come(fork.of(ITEM), "b")
    assert come(scopes.of(ITEM), "b") == []
    assert scopes.of(ITEM).traversals["s", 0] == 0
    assert fork.of(ITEM).traversals["s", 0] == 1
