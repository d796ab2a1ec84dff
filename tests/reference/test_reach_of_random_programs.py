"""What a program may come to is what its loadout may come to, and where it may end."""

from __future__ import annotations

import json

import pytest
from random_loadouts import play
from samples import FEATURES, loadout, socket

from materiac.graph import LoadoutGraph
from materiac.pipeline import Text, compile_loadout, examine
from materiac.program import Json, Program
from materiac.reach import reach

SEEDS = range(400)


def both(config: Json) -> tuple[LoadoutGraph, Program] | None:
    texts = [Text("loadout.json", json.dumps(config).encode())]
    image = compile_loadout(texts).image
    return None if image is None else (examine(texts).graphs[image.program.name], image.program)


def leads_back(program: Program) -> bool:
    """Whether a loop is left for itself where it is empty: the graph has no visit for that."""
    return any(loop.empty in loop.sockets for loop in program.loops.values())


def test_random_programs_and_their_graphs() -> None:
    compared = 0
    for seed in SEEDS:
        found = both(play(seed).config)
        if found is None:
            continue
        graph, program = found
        visited, came = graph.reached.keys() & graph.sockets, reach(program)
        assert visited <= set(came.sockets), seed
        if not leads_back(program):
            compared += 1
            assert visited == set(came.sockets), seed
            assert graph.ending & visited == came.ending, seed
    assert compared > 100


@pytest.mark.parametrize("name", FEATURES)
def test_samples(name: str) -> None:
    found = both(FEATURES[name])
    assert found is not None
    graph, program = found
    assert set(reach(program).sockets) == graph.reached.keys() & graph.sockets
    assert reach(program).sockets[0] == program.entry


def test_what_no_way_leads_to() -> None:
    found = both(loadout({"a": socket(edges=[{"to": "b"}]), "b": socket(), "c": socket()}))
    assert found is not None
    came = reach(found[1])
    assert came.sockets == ("a", "b")
    assert came.ending == {"a", "b"}
