from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from materiac.program import Advance, Agent, Edge, Materia, Program, Socket, Utility
from materiac.runtime.contract import MAX_PROBLEMS, Contract, check, contract_of, needs

ITEMS = 'a list of objects {"title": string, "context": string}, neither blank, without other keys'
EVENT_KEYS = "'type', 'severity', 'message', 'payload', 'source'"
ITEM = {"title": "Mend it", "context": "With care."}


def contract(
    *,
    assign: dict[str, str] | None = None,
    when: str = "always",
    advance: str | None = None,
    utility: bool = False,
    generator: bool = False,
    parallel: bool = False,
) -> Contract:
    materia = Materia(
        "M",
        "M",
        agent=None if utility else Agent("Go"),
        utility=Utility(("true",)) if utility else None,
        generator=generator,
        parallel=parallel,
    )
    socket = Socket(
        "s",
        "M",
        "json",
        assign=tuple((assign or {}).items()),
        edges=(Edge(when, "end"),),
        advance=Advance(advance) if advance else None,
    )
    return contract_of(Program("P", "s", {"s": socket}, {"M": materia}), socket)


PLAIN = contract()
VERDICT = contract(when="not_satisfied")
PLAN = contract(generator=True, assign={"workItems": "$.workItems"})
STREAMS = contract(generator=True, parallel=True, assign={"workItems": "$.workItems"})
TOOL = contract(utility=True)


def schedule(*streams: tuple[str, list[Any]], version: Any = 1) -> dict[str, Any]:
    told = [{"name": name, "workItemIndexes": indexes} for name, indexes in streams]
    return {"version": version, "streams": told}


PROBLEMS: list[tuple[str, Contract, dict[str, Any], list[str]]] = [
    ("no verdict", VERDICT, {}, ["'satisfied' is missing, expected true or false"]),
    (
        "verdict of an advance",
        contract(advance="satisfied"),
        {},
        ["'satisfied' is missing, expected true or false"],
    ),
    (
        "verdict in quotes",
        VERDICT,
        {"satisfied": "false"},
        ["'satisfied' is the string \"false\", expected true or false"],
    ),
    ("verdict as a number", PLAIN, {"satisfied": 1}, ["'satisfied' is a number, expected true or false"]),
    ("null is a type", PLAIN, {"context": None}, ["'context' is null, expected a string"]),
    (
        "all at once",
        VERDICT,
        {"workItems": {}, "context": [], "text": True},
        [
            "'satisfied' is missing, expected true or false",
            "'workItems' is an object, expected a list",
            "'context' is a list, expected a string",
            "'text' is true, expected a string",
        ],
    ),
    (
        "a path that is missing",
        contract(assign={"x": "$.deep.path.0.x", "y": "$.other"}),
        {"deep": {"path": []}},
        ["'other' is missing, expected any value", "'deep.path.0.x' is missing"],
    ),
    (
        "a known field that is assigned",
        contract(assign={"x": "$.context", "y": "$.workItems.1.title"}),
        {"workItems": [ITEM]},
        ["'context' is missing, expected a string", "'workItems.1.title' is missing"],
    ),
    (
        "a generator without a list",
        PLAN,
        {"tasks": []},
        [
            f"'workItems' is missing, expected {ITEMS}",
        ],
    ),
    (
        "items",
        PLAN,
        {"workItems": [ITEM, "x", {"title": " "}, {**ITEM, "context": 3, "id": 1}]},
        [
            "'workItems[1]' is the string \"x\", expected an object with 'title' and 'context'",
            "'workItems[2].title' is blank, expected words",
            "'workItems[2].context' is missing, expected a string",
            "'workItems[3].context' is a number, expected a string",
            "'workItems[3]' has the key 'id', expected no other than 'title', 'context'",
        ],
    ),
    (
        "items of any agent",
        PLAIN,
        {"workItems": [{"title": "x"}]},
        ["'workItems[0].context' is missing, expected a string"],
    ),
    (
        "items of a generating utility",
        contract(utility=True, generator=True),
        {"workItems": [7]},
        ["'workItems[0]' is a number, expected an object with 'title' and 'context'"],
    ),
    ("state that is none", TOOL, {"state": None}, ["'state' is null, expected an object"]),
    ("event null", PLAIN, {"event": None}, ["'event' is null, expected a list"]),
    (
        "events",
        PLAIN,
        {"event": [1, {"type": "a..b"}, {"type": "a", "severity": None, "message": None, "colour": 1}]},
        [
            "'event[0]' is a number, expected an object with 'type'",
            "'event[1].type' is not a name of parts with dots between, as in 'status.progress'",
            "'event[2].severity' is null, expected one of debug, info, warning, error, critical",
            "'event[2].message' is null, expected a string",
            f"'event[2]' has the key 'colour', expected no other than {EVENT_KEYS}",
        ],
    ),
    (
        "an event reaches no path",
        contract(assign={"x": "$.event"}),
        {"event": []},
        ["'event' is missing, expected any value"],
    ),
    (
        "schedule is no object",
        STREAMS,
        {"workItems": [ITEM], "parallelSchedule": []},
        ["'parallelSchedule' is a list, expected an object"],
    ),
    (
        "schedule of another version",
        STREAMS,
        {"workItems": [], "parallelSchedule": schedule(version=True)},
        ["'parallelSchedule.version' is not 1"],
    ),
    (
        "streams",
        STREAMS,
        {
            "workItems": [ITEM] * 4,
            "parallelSchedule": schedule(("a", [0, 1]), ("a", [1]), ("../b", []), ("c", [9, True])),
        },
        [
            "'parallelSchedule.streams[1].name' is 'a', the name of an earlier stream",
            "work item 1 is in more than one place of the streams",
            "'parallelSchedule.streams[2].name' starts with a dot",
            "'parallelSchedule.streams[2].workItemIndexes' is no list with an index in it",
            "'parallelSchedule.streams[3].workItemIndexes' has an entry that is no index of the 4 work items",
            "'parallelSchedule.streams[3].workItemIndexes' has an entry that is no index of the 4 work items",
            "work item 2 is in no stream",
            "work item 3 is in no stream",
        ],
    ),
    (
        "streams that are none",
        STREAMS,
        {"workItems": [], "parallelSchedule": {"version": 1, "streams": [0, {}]}},
        [
            "'parallelSchedule.streams[0]' is a number, expected an object with 'name' and 'workItemIndexes'",
            "'parallelSchedule.streams[1].name' is missing or no string",
            "'parallelSchedule.streams[1].workItemIndexes' is no list with an index in it",
        ],
    ),
]


@pytest.mark.parametrize(
    ("needed", "answer", "expected"), [pytest.param(c, a, p, id=i) for i, c, a, p in PROBLEMS]
)
def test_problems_come_all_at_once(needed: Contract, answer: dict[str, Any], expected: list[str]) -> None:
    accepted, problems = check(answer, needed)
    assert accepted is None
    assert problems == expected


def test_a_parallel_generator_needs_a_schedule() -> None:
    _, problems = check({"workItems": []}, STREAMS)
    assert [problem.split(",")[0] for problem in problems] == ["'parallelSchedule' is missing"]


def test_many_problems_are_counted() -> None:
    _, problems = check({"workItems": [0] * 1000}, PLAN)
    assert len(problems) == MAX_PROBLEMS + 1
    assert problems[-1] == "and 980 more"


ACCEPTED: list[tuple[str, Contract, dict[str, Any]]] = [
    ("nothing", PLAIN, {}),
    ("verdict", VERDICT, {"satisfied": False}),
    ("a path that is null", contract(assign={"x": "$.a.b"}), {"a": {"b": None}}),
    ("an empty plan", PLAN, {"workItems": []}),
    ("items of a plain utility", TOOL, {"workItems": [{"name": "n"}, 1, None]}),
    (
        "streams",
        STREAMS,
        {"workItems": [ITEM] * 3, "parallelSchedule": schedule(("a", [2, 0]), ("b 2", [1]))},
    ),
    ("an empty plan in streams", STREAMS, {"workItems": [], "parallelSchedule": schedule()}),
    (
        "a path of lastJson is not needed",
        contract(assign={"x": "lastJson.a", "y": "state.b", "z": "c"}),
        {},
    ),
]


@pytest.mark.parametrize(("needed", "answer"), [pytest.param(c, a, id=i) for i, c, a in ACCEPTED])
def test_accepts_whole_what_keeps_the_contract(needed: Contract, answer: dict[str, Any]) -> None:
    accepted, problems = check(answer, needed)
    assert problems == []
    assert accepted is not None
    assert accepted.output == answer
    assert accepted.shown == answer
    assert accepted.dropped == ()


def test_drops_what_nobody_asked_for() -> None:
    answer = {"context": "c", "text": "t", "summary": 1, "state": {}, "parallelSchedule": {}, "v": 1}
    accepted, _ = check(answer, contract(assign={"x": "$.v.w", "y": "$.v"}))
    assert accepted is None
    accepted, _ = check(answer, contract(assign={"y": "$.v"}))
    assert accepted is not None
    assert accepted.dropped == ("summary", "state", "parallelSchedule")
    assert accepted.fields == {"context": "c", "text": "t"}
    assert accepted.shown == {"context": "c", "v": 1}
    assert accepted.output == answer
    assert accepted.state is None


@pytest.mark.parametrize("source", ["$", "lastJson"])
def test_a_whole_assignment_keeps_all(source: str) -> None:
    answer = {"text": "t", "summary": 1, "event": [{"type": "a"}]}
    accepted, _ = check(answer, contract(assign={"all": source}))
    assert accepted is not None
    assert accepted.dropped == ()
    assert accepted.shown == accepted.output == {"text": "t", "summary": 1}


@pytest.mark.parametrize("source", ["$.text", "lastJson.text"])
def test_assigned_text_is_shown(source: str) -> None:
    accepted, _ = check({"text": "t"}, contract(assign={"x": source}))
    assert accepted is not None
    assert accepted.shown == {"text": "t"}


def test_events_are_taken_out() -> None:
    events = [
        {"type": "status.progress", "severity": "info", "message": "m", "payload": None, "source": "s"},
        {"type": "done"},
    ]
    accepted, _ = check({"context": "c", "event": events}, PLAIN)
    assert accepted is not None
    assert accepted.events == events
    assert "event" not in {*accepted.output, *accepted.shown, *accepted.fields, *accepted.dropped}


def test_a_patch_comes_from_utilities_and_without_guarded_keys() -> None:
    patch = {"a": 1, "workItems": [], "satisfied": True, "item": None}
    accepted, _ = check({"state": patch, "odd": 1}, TOOL)
    assert accepted is not None
    assert accepted.state == {"a": 1}
    assert accepted.dropped_state == ("workItems", "satisfied", "item")
    assert accepted.dropped == ("odd",)
    assert accepted.shown == {}
    accepted, _ = check({"state": {}}, TOOL)
    assert accepted is not None
    assert accepted.state == {}


NEEDS = [
    ("nothing", PLAIN, []),
    ("verdict", VERDICT, ['"satisfied": true or false']),
    (
        "paths",
        contract(assign={"a": "$.text", "b": "$.deep.0", "c": "$.v", "d": "$.v", "e": "lastJson.z"}),
        ['"text": a string', '"v": any value', '"deep.0", a path of names and list indexes: any value'],
    ),
    (
        "plan",
        PLAN,
        [
            f'"workItems": {ITEMS}',
        ],
    ),
]


@pytest.mark.parametrize(("needed", "lines"), [pytest.param(c, lines, id=i) for i, c, lines in NEEDS])
def test_says_what_is_needed_and_nothing_else(needed: Contract, lines: list[str]) -> None:
    assert needs(needed) == lines


def test_says_what_a_schedule_is() -> None:
    assert [line.split(":")[0] for line in needs(STREAMS)] == ['"workItems"', '"parallelSchedule"']


def test_knows_what_is_asked_for() -> None:
    asked = contract(assign={"a": "$.text", "b": "$.context"})
    assert (asked.asks_text, asked.asks_context, asked.needs_work_items) == (True, True, False)
    assert contract(assign={"a": "$.workItems.0"}).needs_work_items
    assert not PLAIN.needs_verdict


names = st.sampled_from(
    [
        "workItems",
        "satisfied",
        "context",
        "text",
        "event",
        "state",
        "parallelSchedule",
        "v",
        "title",
        "type",
        "severity",
        "version",
        "streams",
        "name",
        "workItemIndexes",
    ]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 3) | st.just(1.0) | st.sampled_from(["", "a", "a.b", "info"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=60)
@given(st.dictionaries(names, values), st.sampled_from([PLAIN, VERDICT, PLAN, STREAMS, TOOL]))
def test_any_object_is_accepted_or_has_problems(answer: dict[str, Any], needed: Contract) -> None:
    accepted, problems = check(answer, needed)
    assert (accepted is None) is bool(problems)
