"""Bounds of loadouts that are small enough to be told by hand."""

from __future__ import annotations

from typing import Any

import pytest

from materiac import model
from materiac.flow.bounds import Bound, bound, spending, totals, visits_of
from materiac.graph import LoadoutGraph

Json = dict[str, Any]

MATERIA: Json = {
    "Plain": {"prompt": "p", "cost": {"inputTokens": 100, "outputTokens": 10, "usd": 0.1}},
    "Judge": {"prompt": "p", "parse": "json", "cost": {"usd": 0.05}},
    "Planner": {"prompt": "p", "generator": True},
    "Talker": {"prompt": "p", "multiTurn": True},
    "Streams": {"prompt": "p", "generator": True, "parallel": True, "parallelSafe": True},
}
UTILITIES: Json = {"Tool": {"utility": "noop"}}
ADVANCE = {"cursor": "workItemIndex", "items": "state.workItems"}
BACK = {"when": "not_satisfied", "to": "make", "maxTraversals": 3}


def graph_of(sockets: Json, loops: Json | None = None) -> LoadoutGraph:
    materia: dict[str, model.Materia] = {
        name: model.AgentMateria.model_validate(it) for name, it in MATERIA.items()
    }
    materia |= {name: model.UtilityMateria.model_validate(it) for name, it in UTILITIES.items()}
    data = {"entry": next(iter(sockets)), "sockets": sockets, "loops": loops or {}}
    return LoadoutGraph("L", model.Loadout.model_validate(data), materia)


def to(*targets: str) -> list[Json]:
    return [{"to": target} for target in targets]


def member(back: Json, when: str = "satisfied") -> Json:
    edges = [{"when": "satisfied", "to": "make"}, back]
    return {"materia": "Judge", "advance": {**ADVANCE, "when": when}, "edges": edges}


SHED: Json = {
    "plan": {"materia": "Planner", "edges": to("make")},
    "make": {"materia": "Plain", "edges": to("check")},
    "check": member(BACK),
    "tell": {"materia": "Plain"},
}
WORK: Json = {
    "work": {
        "sockets": ["make", "check"],
        "consumes": {"from": "plan"},
        "exits": [{"from": "check", "targetSocketId": "tell"}],
    }
}


@pytest.mark.parametrize(
    ("sockets", "loops", "turns"),
    [
        pytest.param({"a": {"materia": "Plain"}}, {}, "1", id="one agent"),
        pytest.param({"a": {"materia": "Judge"}}, {}, "2", id="a repair turn"),
        pytest.param({"a": {"materia": "Talker"}}, {}, "2", id="a talk has a final form"),
        pytest.param({"a": {"materia": "Tool"}}, {}, "0", id="a utility"),
        pytest.param(SHED, WORK, "3 + 12·N", id="a loop with retries"),
        pytest.param({"a": {"materia": "Plain", "edges": to("a")}}, {}, "4", id="the stall guard"),
        pytest.param(
            {"a": {"materia": "Plain", "edges": to("a"), "limits": {"maxVisits": 2}}}, {}, "2", id="visits"
        ),
        pytest.param(
            {
                "a": {
                    "materia": "Judge",
                    "edges": [{"when": "satisfied", "to": "b"}, {"when": "not_satisfied", "to": "c"}],
                },
                "b": {"materia": "Plain", "edges": [{"to": "b", "maxTraversals": 9}]},
                "c": {"materia": "Plain", "edges": [{"to": "c", "maxTraversals": 5}]},
            },
            {},
            "12",
            id="one of two branches",
        ),
        pytest.param(
            {
                "each": {
                    "materia": "Plain",
                    "foreach": {"items": "state.xs", "done": "tell"},
                    "advance": {"cursor": "eachIndex", "items": "state.xs"},
                    "edges": to("each"),
                },
                "tell": {"materia": "Plain"},
            },
            {},
            "1 + N",
            id="foreach",
        ),
        pytest.param(
            {
                **SHED,
                "tell": {
                    "materia": "Judge",
                    "edges": [
                        {"when": "satisfied", "to": "end"},
                        {"when": "not_satisfied", "to": "plan", "maxTraversals": 2},
                    ],
                },
            },
            WORK,
            "12 + 36·N",
            id="plans that are sent back",
        ),
        pytest.param(
            {
                "plan": {"materia": "Streams", "edges": to("ready")},
                "ready": {"materia": "Plain", "edges": to("make")},
                "make": {"materia": "Plain", "edges": to("check")},
                "check": member(BACK),
                "tell": {"materia": "Plain"},
            },
            WORK,
            "3 + 13·N",
            id="streams",
        ),
    ],
)
def test_turns(sockets: Json, loops: Json, turns: str) -> None:
    assert str(bound(graph_of(sockets, loops)).turns) == turns


def test_streams_within_a_loop_grow_with_the_square() -> None:
    sockets = {
        "first": {"materia": "Planner", "edges": to("plan")},
        "plan": {"materia": "Streams", "edges": to("make")},
        "make": {"materia": "Plain", "advance": {**ADVANCE, "cursor": "k"}, "edges": to("make")},
        "next": {"materia": "Plain", "advance": ADVANCE, "edges": to("plan")},
    }
    loops = {
        "inner": {
            "sockets": ["make"],
            "consumes": {"from": "plan", "cursor": "k"},
            "exits": [{"from": "make", "targetSocketId": "next"}],
        },
        "outer": {"sockets": ["plan", "next"], "iterator": {"items": "state.workItems"}},
    }
    assert str(bound(graph_of(sockets, loops)).turns) == "2 + 3·N + N²"


def shed() -> Bound:
    return bound(graph_of(SHED, WORK))


def test_what_each_materia_has_of_it() -> None:
    found = {part.name: (str(part.count), str(part.repairs), part.sockets) for part in shed().materia}
    assert found == {
        "Planner": ("2", "1", ("plan",)),
        "Plain": ("1 + 4·N", "0", ("make", "tell")),
        "Judge": ("8·N", "4·N", ("check",)),
    }
    assert str(shed().repairs) == "1 + 4·N"


def test_what_it_comes_from() -> None:
    assert [term.words for term in shed().terms] == [
        "loop 'work' goes through N items",
        "the edge of 'check' to 'make' is taken at most 3 times for each item",
    ]
    assert shed().terms[1].at == ("loadouts", "L", "sockets", "check", "edges", 1)


def test_the_stall_guard_is_named() -> None:
    told = bound(graph_of({"a": {"materia": "Plain", "edges": to("a")}}), 2)
    words = "only the stall guard ends the cycle 'a' → 'a': after 2 rounds"
    assert (str(told.turns), [term.words for term in told.terms]) == ("3", [words])


def test_talks_are_named() -> None:
    assert bound(graph_of({"a": {"materia": "Talker"}})).talks == ("a",)


def test_runs_of_utilities() -> None:
    told = bound(graph_of({"a": {"materia": "Tool", "edges": [{"to": "a", "maxTraversals": 4}]}}))
    assert (str(told.runs), str(told.turns)) == ("5", "0")


def test_what_it_costs() -> None:
    dollars = shed().spending("usd")
    assert dollars is not None
    assert (str(dollars.most), dollars.unknown) == ("0.1 + 0.8·N", ("Planner",))
    tokens = {spent.unit: str(spent.most) for spent in spending(graph_of(SHED, WORK))}
    assert tokens["inputTokens"] == "100 + 400·N"
    assert tokens["tokens"] == "110 + 440·N"


def test_visits_of_a_socket() -> None:
    graph = graph_of(SHED, WORK)
    visits = {id_: str(visits_of(graph, id_)) for id_ in SHED}
    assert visits == {"plan": "1", "make": "4·N", "check": "4·N", "tell": "1"}


def test_bounds_can_be_compared() -> None:
    assert shed() == shed()
    assert totals(graph_of(SHED, WORK)).turns == shed().turns
    other = bound(graph_of({**SHED, "check": member({**BACK, "maxTraversals": 2})}, WORK))
    assert (other == shed(), str(other.turns)) == (False, "3 + 9·N")


def test_the_order_in_which_sockets_are_written_does_not_matter() -> None:
    turned = dict(reversed(SHED.items()))
    data = {"entry": "plan", "sockets": turned, "loops": WORK}
    graph = LoadoutGraph("L", model.Loadout.model_validate(data), graph_of_materia())
    assert bound(graph).as_data() == shed().as_data()


def graph_of_materia() -> dict[str, model.Materia]:
    return {name: model.AgentMateria.model_validate(it) for name, it in MATERIA.items()}


def test_a_socket_that_no_cast_comes_to_takes_nothing() -> None:
    assert str(bound(graph_of({"a": {"materia": "Plain"}, "b": {"materia": "Plain"}})).turns) == "1"
