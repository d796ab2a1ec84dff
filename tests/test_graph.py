"""Routes and defaults of loadouts; the loadouts are written as in a file."""

from __future__ import annotations

from typing import Any

import pytest

from materiac import model
from materiac.graph import LoadoutGraph

MATERIA: dict[str, dict[str, Any]] = {
    "Plain": {"prompt": "p"},
    "Json": {"prompt": "p", "parse": "json"},
    "Gen": {"prompt": "p", "generator": True, "assign": {"plan": "$.context"}},
    "Streams": {"prompt": "p", "generator": True, "parallel": True},
    "Tool": {"type": "utility", "utility": "vcs.detect", "writes": ["seen"], "parse": "json"},
}
ADVANCE = {"cursor": "workItemIndex", "items": "state.workItems"}


def graph_of(sockets: dict[str, Any], loops: dict[str, Any] | None = None, entry: str = "a") -> LoadoutGraph:
    frame = {"entry": entry, "sockets": sockets, "loops": loops or {}}
    kinds: dict[str, model.Materia] = {
        name: (model.UtilityMateria if "type" in fields else model.AgentMateria).model_validate(fields)
        for name, fields in MATERIA.items()
    }
    return LoadoutGraph("L", model.Loadout.model_validate(frame), kinds)


def steps(graph: LoadoutGraph, socket: str) -> list[str]:
    """Routes in short: kind, target, and what bounds or follows them."""
    return [
        f"{route.kind} {route.target}"
        + (" progress" if route.progress else "")
        + (" used-up" if route.used_up else "")
        + (f" ≤{route.budget}" if route.budget else "")
        for route in graph.routes[socket]
    ]


def test_no_edge_leads_to_the_end() -> None:
    assert steps(graph_of({"a": {"materia": "Plain"}}), "a") == ["end end"]


def test_a_verdict_that_no_edge_is_for_leads_to_the_end() -> None:
    graph = graph_of({"a": {"materia": "Json", "edges": [{"when": "not_satisfied", "to": "a"}]}})
    assert steps(graph, "a") == ["edge a", "end end"]


def test_an_edge_after_one_that_is_always_taken_is_no_route() -> None:
    graph = graph_of({"a": {"materia": "Plain", "edges": [{"to": "end"}, {"to": "a"}]}})
    assert steps(graph, "a") == ["edge end"]


def test_unknown_targets_are_passed_over() -> None:
    assert steps(graph_of({"a": {"materia": "Plain", "edges": [{"to": "b"}]}}), "a") == []


def loop_of(check: dict[str, Any], **loop: Any) -> LoadoutGraph:
    sockets = {
        "a": {"materia": "Gen", "edges": [{"to": "make"}]},
        "make": {"materia": "Plain", "edges": [{"to": "check"}]},
        "check": {"materia": "Json", "edges": [{"to": "make"}], **check},
        "tell": {"materia": "Plain"},
    }
    return graph_of(sockets, {"work": {"sockets": ["make", "check"], "consumes": {"from": "a"}, **loop}})


EXITS = [{"from": "check", "targetSocketId": "tell"}]


def test_an_advance_leads_on_within_the_list_and_out_beyond_it() -> None:
    graph = loop_of({"advance": ADVANCE}, exits=EXITS)
    assert steps(graph, "check") == ["edge make progress", "exit tell used-up"]


def test_an_advance_with_a_condition_leads_on_without_it_too() -> None:
    graph = loop_of({"advance": {**ADVANCE, "when": "satisfied"}}, exits=EXITS)
    assert steps(graph, "check") == ["edge make", "edge make progress", "exit tell used-up"]


def test_an_early_exit_is_an_advance_and_an_exit() -> None:
    graph = loop_of({}, exit={"from": "check", "when": "satisfied", "to": "tell"})
    assert graph.sockets["check"].asks_verdict
    assert steps(graph, "check") == ["edge make", "edge make progress", "exit tell used-up"]


@pytest.mark.parametrize(
    ("advance", "iterator", "out"),
    [
        ({"done": "tell"}, {"done": "a"}, "tell"),
        ({}, {"done": "a"}, "a"),
        ({}, {}, "end"),
    ],
    ids=["of the advance", "of the iterator", "neither"],
)
def test_where_a_used_up_loop_without_exits_leads(
    advance: dict[str, str], iterator: dict[str, str], out: str
) -> None:
    graph = loop_of({"advance": {**ADVANCE, **advance}}, iterator={"items": "state.workItems", **iterator})
    assert steps(graph, "check")[1:] == [f"done {out} used-up"]


def test_coming_to_a_loop_may_lead_past_it() -> None:
    graph = loop_of({"advance": ADVANCE}, exits=EXITS)
    assert steps(graph, "a") == ["edge make", "empty past:work"]
    assert steps(graph, "past:work") == ["past tell"]


def test_a_way_past_a_loop_without_a_budget_is_not_hidden_by_one_with() -> None:
    sockets = {
        "a": {
            "materia": "Json",
            "edges": [
                {"when": "satisfied", "to": "b", "maxTraversals": 2},
                {"when": "not_satisfied", "to": "b"},
            ],
        },
        "b": {"materia": "Plain", "edges": [{"to": "b"}]},
    }
    graph = graph_of(sockets, {"work": {"sockets": ["b"], "iterator": {"items": "state.x", "done": "a"}}})
    assert steps(graph, "a") == ["edge b ≤2", "empty past:work ≤2", "edge b", "empty past:work"]


def test_a_way_past_several_empty_loops() -> None:
    sockets = {
        "a": {"materia": "Plain", "edges": [{"to": "b"}]},
        "b": {"materia": "Plain", "edges": [{"to": "b"}]},
        "c": {"materia": "Plain", "edges": [{"to": "c"}]},
    }
    loops = {
        "one": {"sockets": ["b"], "iterator": {"items": "state.x", "done": "c"}},
        "two": {"sockets": ["c"], "iterator": {"items": "state.y", "done": "b"}},
    }
    graph = graph_of(sockets, loops, entry="b")
    assert steps(graph, "a") == ["edge b", "empty past:one"]
    assert steps(graph, "past:one") == ["past c", "past past:two"]
    assert steps(graph, "past:two") == ["past b", "past past:one"]
    assert graph.starts == ("b", "past:one")


@pytest.mark.parametrize(("materia", "past"), [("Gen", ["past end"]), ("Streams", ["past tell"])])
def test_a_plan_without_streams_leads_to_what_comes_behind_them(materia: str, past: list[str]) -> None:
    graph = graph_of(
        {
            "a": {"materia": materia, "edges": [{"to": "b"}]},
            "b": {"materia": "Json", "advance": {**ADVANCE, "when": "satisfied"}, "edges": [{"to": "b"}]},
            "tell": {"materia": "Plain"},
        },
        {
            "w": {
                "sockets": ["b"],
                "consumes": {"from": "a"},
                "exits": [{"from": "b", "condition": "satisfied", "targetSocketId": "tell"}],
            }
        },
    )
    assert steps(graph, "past:w") == past


def test_an_empty_loop_that_leads_to_itself() -> None:
    graph = graph_of({"a": {"materia": "Plain", "foreach": {"items": "state.x", "done": "a"}}})
    assert steps(graph, "past:foreach:a") == ["past past:foreach:a", "past end"]


def test_a_member_that_may_empty_the_list_may_leave_the_loop() -> None:
    graph = loop_of({"assign": {"workItems": "$.rest"}}, exits=EXITS)
    assert steps(graph, "check") == ["edge make", "empty past:work"]


@pytest.mark.parametrize(
    ("socket", "parse"),
    [
        ({"materia": "Plain"}, "text"),
        ({"materia": "Json"}, "json"),
        ({"materia": "Json", "parse": "text"}, "text"),
        ({"materia": "Gen"}, "json"),
        ({"materia": "Nowhere"}, "json"),
    ],
    ids=["left out", "of the materia", "of the socket", "generator", "unknown materia"],
)
def test_how_an_output_is_read(socket: dict[str, Any], parse: str) -> None:
    assert graph_of({"a": socket}).sockets["a"].parse == parse


def test_the_source_of_an_exit_for_a_verdict_reads_json() -> None:
    graph = loop_of({"materia": "Plain"}, exits=[{**EXITS[0], "condition": "satisfied"}])
    assert (graph.sockets["check"].parse, graph.sockets["make"].parse) == ("json", "text")


def test_assignments_merge_in_the_place_of_the_materia_and_the_list_comes_last() -> None:
    graph = graph_of({"a": {"materia": "Gen", "assign": {"more": "$.b", "plan": "$.c"}}})
    merged = [(part.target, part.source) for part in graph.sockets["a"].assign]
    assert merged == [("plan", "$.c"), ("more", "$.b"), ("workItems", "$.workItems")]


def test_what_a_visit_is_known_to_write() -> None:
    graph = graph_of({"a": {"materia": "Tool", "assign": {"deep.down": "$.x"}}})
    assert graph.sockets["a"].writes == (("deep", "down"), ("seen",), ("vcs",))


def test_a_foreach_is_a_loop_of_one_socket() -> None:
    graph = graph_of({"a": {"materia": "Plain", "foreach": {"items": "state.x", "done": "a"}}})
    loop = graph.sockets["a"].loop
    assert loop is not None
    assert (loop.sockets, loop.cursor, loop.alias, loop.empty) == (("a",), "aIndex", "item", "a")


def test_components_come_in_the_order_of_a_walk_from_the_entry() -> None:
    sockets = {
        "c": {"materia": "Plain", "edges": [{"to": "b"}]},
        "b": {"materia": "Json", "edges": [{"when": "satisfied", "to": "c"}]},
        "x": {"materia": "Plain", "edges": [{"to": "x"}]},
        "a": {"materia": "Json", "edges": [{"when": "satisfied", "to": "a"}, {"to": "b"}]},
    }
    graph = graph_of(sockets)
    assert list(graph.reached) == ["a", "b", "c"]
    assert graph.components(lambda _: True) == [("a",), ("b", "c")]
    assert graph.ending == {"a", "b", "c"}
