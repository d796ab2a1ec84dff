"""Circulations and ways, against networkx on random networks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

import networkx as nx
import pytest

from materiac.flow.network import Arc, Circulation

MANY = 10**6


def random_network(seed: int) -> tuple[int, list[Arc]]:
    """Nodes and arcs; those without a limit lead forward in some order of the nodes."""
    chance = Random(seed)  # noqa: S311 (no secret depends on it)
    size = chance.randint(1, 8)
    order = chance.sample(range(size), size)
    arcs = []
    for _ in range(chance.randint(0, 16)):
        tail, head = chance.randrange(size), chance.randrange(size)
        endless = tail < head and chance.random() < 0.7
        gain = chance.choice((0, 0, 1, 2, 5, -1))
        arcs.append(Arc(order[tail], order[head], None if endless else chance.randint(0, 4), gain))
    return size, [arc for arc in arcs if arc.tail != arc.head or arc.gain >= 0]


def most(size: int, arcs: Sequence[Arc], start: int | None, ends: Mapping[int, int]) -> int | None:
    """The most that a circulation gains, and with `start` a way beside it that ends at one of `ends`."""
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(range(size))
    for arc in arcs:
        limit = MANY if arc.most is None else arc.most
        graph.add_edge(arc.tail, arc.head, capacity=limit, weight=-arc.gain)
    if start is not None:
        graph.add_node("end", demand=1)
        graph.add_node("start", demand=-1)
        graph.add_edge("start", start, capacity=1, weight=0)
        for node, gain in ends.items():
            graph.add_edge(node, "end", capacity=1, weight=-gain)
    try:
        return -int(nx.network_simplex(graph)[0])
    except nx.NetworkXUnfeasible:
        return None


@pytest.mark.parametrize("start", range(0, 400, 100))
def test_the_greatest_gains(start: int) -> None:
    for seed in range(start, start + 100):
        size, arcs = random_network(seed)
        circulation = Circulation(size, arcs)
        assert circulation.gain == most(size, arcs, None, {}), seed
        ends = {node: (node * 7 + seed) % 5 for node in range(0, size, 2)}
        gains, _ = circulation.ways(ends)
        for node, gain in enumerate(gains):
            found = None if gain is None else circulation.gain + gain
            assert found == most(size, arcs, node, ends), (seed, node)


@pytest.mark.parametrize("looks", [-1, 10, 30])
def test_what_is_told_where_it_is_given_up(looks: int) -> None:
    for seed in range(200):
        size, arcs = random_network(seed)
        exact, told = Circulation(size, arcs), Circulation(size, arcs, looks)
        ends = {node: (node * 7 + seed) % 5 for node in range(0, size, 2)}
        assert told.gain >= exact.gain, seed
        for gain, found in zip(exact.ways(ends)[0], told.ways(ends)[0], strict=True):
            if gain is not None:
                assert found is not None, seed
                assert told.gain + found >= exact.gain + gain, seed


def test_prices_are_a_dual_solution() -> None:
    for seed in range(200):
        size, arcs = random_network(seed)
        circulation = Circulation(size, arcs)
        gains, _ = circulation.ways(dict.fromkeys(range(size), 0))
        paid = [(arcs[i].most or 0) * price for i, price in circulation.prices(gains)]
        assert sum(paid) == circulation.gain, seed


def test_a_way_can_be_followed() -> None:
    arcs = [Arc(0, 1, None, 1), Arc(1, 2, None, 4), Arc(0, 2, None, 3), Arc(2, 0, 1, 0)]
    circulation = Circulation(3, arcs)
    assert circulation.gain == 5
    gains, by = circulation.ways({2: 0})
    node, seen = 0, [0]
    while by[node] >= 0:
        node = circulation.head(by[node])
        seen.append(node)
    assert (seen, gains[0]) == ([0, 1, 2], 5)


def test_long_networks_take_no_recursion() -> None:
    size = 5_000
    arcs = [Arc(i, i + 1, None, 1) for i in range(size - 1)] + [Arc(i, i - 1, 1, 1) for i in range(1, size)]
    assert Circulation(size, arcs).gain == 2 * (size - 1)
