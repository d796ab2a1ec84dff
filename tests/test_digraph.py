from __future__ import annotations

import random

import networkx as nx
import pytest

from materiac.digraph import breadth_first, shortest, strong_components

DIAMOND = {"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": ["a"], "e": ["a"]}


def test_breadth_first_goes_nearest_first_and_keeps_the_order_of_targets() -> None:
    assert breadth_first(["e"], DIAMOND.__getitem__) == ["e", "a", "b", "c", "d"]


def test_shortest_way_takes_the_first_of_equal_ones() -> None:
    assert shortest(["e"], {"d"}, DIAMOND.__getitem__) == ["e", "a", "b", "d"]


@pytest.mark.parametrize(
    ("starts", "goals", "way"),
    [(["a"], {"a"}, ["a"]), (["a"], {"e"}, []), ([], {"a"}, [])],
    ids=["at the goal", "no way", "no start"],
)
def test_shortest_way_at_its_limits(starts: list[str], goals: set[str], way: list[str]) -> None:
    assert shortest(starts, goals, DIAMOND.__getitem__) == way


@pytest.mark.parametrize("seed", range(40))
def test_components_are_those_of_networkx(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 (graphs, no secrets)
    nodes = [str(i) for i in range(chance.randint(1, 30))]
    after = {node: chance.choices(nodes, k=chance.randint(0, 3)) for node in nodes}
    theirs = nx.strongly_connected_components(nx.DiGraph(after))
    assert {frozenset(part) for part in strong_components(after)} == {frozenset(part) for part in theirs}


def test_components_of_a_long_chain_need_no_recursion() -> None:
    names = [str(i) for i in range(50_000)]
    after = {name: [next_] for name, next_ in zip(names, [*names[1:], "0"], strict=True)}
    assert len(strong_components(after)) == 1
