"""Bounds of loops that send work to themselves once their list is used up: as much as casts really take."""

from __future__ import annotations

from typing import Any

import pytest
from longest_casts import longest
from random_casts import made

from materiac.flow.bounds import bound

Json = dict[str, Any]

CURSOR: Json = {"cursor": "workItemIndex", "items": "state.workItems"}
PLAN: Json = {"materia": "Planner", "edges": [{"to": "make", "maxTraversals": 1}]}
VERDICTS = ("satisfied", "not_satisfied")


def back_to_the_last_socket() -> Json:
    """The first run is begun by an edge with a limit, the others by the exit for `satisfied`."""
    check = {"materia": "Judge", "advance": CURSOR, "edges": [{"when": v, "to": "check"} for v in VERDICTS]}
    exits = [
        {"from": "check", "condition": "satisfied", "targetSocketId": "check"},
        {"from": "check", "condition": "not_satisfied", "targetSocketId": "end"},
    ]
    make = {"materia": "Plain", "edges": [{"to": "check"}]}
    loop = {"sockets": ["make", "check"], "consumes": {"from": "plan"}, "exits": exits}
    return {"entry": "plan", "sockets": {"plan": PLAN, "make": make, "check": check}, "loops": {"w": loop}}


def done_where_it_began() -> Json:
    edges = [{"when": "satisfied", "to": "end"}, {"when": "not_satisfied", "to": "make"}]
    make = {"materia": "Judge", "advance": {**CURSOR, "done": "make"}, "edges": edges}
    loop = {"sockets": ["make"], "consumes": {"from": "plan"}, "iterator": {**CURSOR, "done": "make"}}
    return {"entry": "plan", "sockets": {"plan": PLAN, "make": make}, "loops": {"w": loop}}


@pytest.mark.parametrize(
    ("loadout", "taken"),
    [(back_to_the_last_socket(), [13, 23]), (done_where_it_began(), [12, 22])],
    ids=["exit", "done"],
)
def test_runs_that_begin_where_they_end(loadout: Json, taken: list[int]) -> None:
    sample = made(loadout, 3)
    turns = {id_: 1 + (socket.parse == "json") for id_, socket in sample.program.sockets.items()}
    most = bound(sample.graph, sample.cycles).turns
    assert [longest(sample.program, items, turns.__getitem__) for items in (1, 2)] == taken
    assert all(most.at(items) >= found for items, found in enumerate(taken, 1))


def test_how_often_a_loop_is_begun_is_told() -> None:
    sample = made(back_to_the_last_socket(), 3)
    most = bound(sample.graph, sample.cycles)
    assert most.turns.per_item == 10
    assert most.turns.constant >= 3
    words = [term.words for term in most.terms]
    begun = (
        "loop 'w' is begun at most 5 times: the stall guard and the limits of edges end the ways back to it"
    )
    assert begun in words
