from __future__ import annotations

import copy
import dataclasses
import random
from typing import Any

import pytest
from samples import AGENT, FEATURES, GENERATOR, Json, compiled, loadout, socket, working

from materiac import program
from materiac.change import Change, changes
from materiac.program import Advance, Edge, Exit, Loop, Materia, Program, Region, Socket, from_data, to_data


def told(old: Json, new: Json) -> list[str]:
    """What changes from one file to another, and as much the other way."""
    was, now = compiled(old).program, compiled(new).program
    assert len(changes(now, was)) == len(changes(was, now))
    return [str(change) for change in changes(was, now)]


def edited(*path: str | int, to: Any, config: Json | None = None) -> Json:
    """The loadout of `working`, or another, with another value at a path."""
    changed = copy.deepcopy(config or working())
    part: Any = changed["loadouts"]["L"]
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = to
    return changed


CHECK = working()["loadouts"]["L"]["sockets"]["check"]["edges"]
SATISFIED, NOT_SATISFIED = CHECK
EDGES = ("sockets", "check", "edges")
LONG = "\n".join(f"Line {number} of what is asked." for number in range(1, 40))
PROPERTY: Json = {"every path": ["build", "tell"], "passes": "check"}


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        pytest.param(working(), [], id="nothing"),
        pytest.param(edited("entry", to="build"), ["entry: 'plan' → 'build'"], id="entry"),
        pytest.param(
            edited(*EDGES, to=CHECK[::-1]), ["socket 'check': edges are in another order"], id="order"
        ),
        pytest.param(
            edited(*EDGES, to=[SATISFIED]),
            ["socket 'check': edge 2 'not_satisfied' to 'build' (maxTraversals 2) is gone"],
            id="edge-gone",
        ),
        pytest.param(
            edited(*EDGES, to=[*CHECK, {"to": "tell"}]),
            ["socket 'check': edge 3 'always' to 'tell' is new"],
            id="edge-new",
        ),
        pytest.param(
            edited(*EDGES, 0, "to", to="check"),
            ["socket 'check': edge 1 'satisfied' to 'build' → 'satisfied' to 'check'"],
            id="edge-elsewhere",
        ),
        pytest.param(
            edited(*EDGES, 1, "maxTraversals", to=3),
            ["socket 'check': edge 2 'not_satisfied' to 'build' (maxTraversals 2) → 'not_satisfied' to"],
            id="traversals",
        ),
        pytest.param(
            edited("sockets", "check", "limits", to={"maxVisits": 5}),
            ["socket 'check': maxVisits 5 is new"],
            id="visits",
        ),
        pytest.param(
            edited("sockets", "check", "advance", "when", to="always"),
            ["socket 'check': advance.when 'satisfied' → 'always'"],
            id="advance",
        ),
        pytest.param(
            edited("sockets", "check", "advance", "done", to="tell"),
            ["socket 'check': advance.done 'tell' is new"],
            id="advance-done",
        ),
        pytest.param(
            edited("sockets", "tell", "assign", to={"a.b": "lastOutput"}),
            ["state: key 'a' is new", "socket 'tell': assignment 'a.b' from 'lastOutput' is new"],
            id="assign",
        ),
        pytest.param(
            edited("sockets", "more", to=socket(edges=[{"to": "tell"}])),
            ["sockets: 'more' is new"],
            id="socket",
        ),
        pytest.param(
            edited("loops", "work", "exits", 0, "condition", to="satisfied"),
            [
                "loop 'work': empty 'tell' → 'end'",
                "loop 'work': exit 1 'always' from 'check' to 'tell' (id 'out') → 'satisfied' from 'check'",
            ],
            id="exit",
        ),
        pytest.param(
            edited("loops", "work", "consumes", to={"from": "plan", "output": "workItems", "as": "job"}),
            ["loop 'work': as 'workItem' → 'job'"],
            id="alias",
        ),
        pytest.param(
            edited("properties", to=[PROPERTY]),
            ["properties: property every path from 'build' to 'tell' passes 'check' is new"],
            id="property",
        ),
        pytest.param(working(budget={"maxTokens": 5000}), ["budget: maxTokens 5000 is new"], id="budget"),
        pytest.param(
            working(limits={"maxNoAdvanceCycles": 4}), ["limits: maxNoAdvanceCycles 3 → 4"], id="cycles"
        ),
        pytest.param(
            working(parallelism={"maxConcurrency": 4}), ["parallelism: maxConcurrency"], id="concurrency"
        ),
        pytest.param(
            working(materia={"Planner": {**GENERATOR, "prompt": "Plan all."}}),
            ["materia 'Planner': the prompt differs at line 1, column 6: 'Plan it.' → 'Plan all.'"],
            id="prompt",
        ),
        pytest.param(
            working(materia={"Planner": {**GENERATOR, "tools": "coding"}}),
            ["materia 'Planner': tools 'none' → 'coding'"],
            id="tools",
        ),
        pytest.param(
            working(materia={"Planner": {**GENERATOR, "tools": {"type": "custom", "tools": ["read"]}}}),
            ["materia 'Planner': tools 'none' → [\"read\"]"],
            id="custom-tools",
        ),
        pytest.param(
            working(materia={"Planner": {"command": ["plan"], "generator": True}}),
            ["materia 'Planner': type 'agent' → 'utility'"],
            id="type",
        ),
    ],
)
def test_what_a_change_is_called(new: Json, expected: list[str]) -> None:
    found = told(working(), new)
    assert len(found) == len(expected)
    assert all(text.startswith(start) for text, start in zip(found, expected, strict=True)), found


def test_a_long_prompt_is_shown_where_it_differs() -> None:
    old = loadout({"a": socket()}, materia={"Agent": {"prompt": LONG}})
    new = loadout({"a": socket()}, materia={"Agent": {"prompt": LONG.replace("12 of what", "12 of \x1b[2J")}})
    rest = "is asked.\\nLine 13 of what is asked.\\nLine 14 of what is asked.\\nLi"
    [text] = told(old, new)
    where, _, shown = text.partition(": ")[2].partition(": ")
    assert where == "the prompt differs at line 12, column 12"
    was, now = shown.split(" → ")
    assert was == f"'Line 12 of what {rest}'…"
    assert now.startswith("'Line 12 of \\x1b[2J is asked.\\nLine 13")


def test_a_value_deep_in_the_params_is_found() -> None:
    def calling(value: Any) -> Json:
        utility = {"utility": "echo", "params": {"output": {"list": [1, {"a": value}]}}}
        return loadout({"a": {"materia": "Echo"}}, materia={"Echo": utility})

    assert told(calling("x"), calling("y")) == ["materia 'Echo': params.output.list[1].a 'x' → 'y'"]
    assert told(calling(1), calling(True)) == ["materia 'Echo': params.output.list[1].a 1 → true"]
    assert told(calling("x"), calling(None)) == ["materia 'Echo': params.output.list[1].a 'x' → null"]


def named(name: str, **fields: Any) -> Json:
    """A file whose sockets name a materia by another name, among others of the same content."""
    sockets = {
        "a": {"materia": "Agent", "edges": [{"to": "b"}]},
        "b": {"materia": name, "edges": [{"to": "c"}]},
        "c": {"materia": name},
    }
    return loadout(sockets, materia={name: {**AGENT, **fields}})


def test_a_materia_that_has_another_name_and_nothing_else() -> None:
    assert told(named("Old"), named("New")) == ["materia: renamed 'Old' → 'New'"]
    assert told(named("Old", label="L"), named("New", label="L")) == ["materia: renamed 'Old' → 'New'"]


def test_a_materia_that_has_another_name_and_more() -> None:
    assert told(named("Old"), named("New", prompt="Else.")) == [
        "socket 'b': materia 'Old' → 'New'",
        "socket 'c': materia 'Old' → 'New'",
        "materia: 'Old' is gone",
        "materia: 'New' is new",
    ]


def test_a_socket_that_leaves_a_renamed_materia() -> None:
    new = edited("sockets", "c", "materia", to="Agent", config=named("New"))
    assert told(named("Old"), new) == [
        "materia: renamed 'Old' → 'New'",
        "socket 'c': materia 'New' → 'Agent'",
    ]


def assigning(*pairs: tuple[str, str]) -> Json:
    return loadout({"a": socket(parse="json", assign=dict(pairs))})


A, B, READS_A = ("a", "$.a"), ("b", "$.b"), ("c", "state.a")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param([A, B], [B, A], [], id="apart"),
        pytest.param([A, READS_A], [READS_A, A], ["assignments are in another order"], id="in-the-way"),
        pytest.param(
            [A, READS_A], [A, B, READS_A], ["assignment 'b' from '$.b' is new"], id="one-more-in-between"
        ),
        pytest.param([A, B], [("a", "$.z"), B], ["assignment 'a' from '$.a' → 'a' from '$.z'"], id="source"),
        pytest.param(
            [A, READS_A, B],
            [READS_A, A, ("b", "$.z")],
            ["assignment 'b' from '$.b' → 'b' from '$.z'", "assignments are in another order"],
            id="both",
        ),
    ],
)
def test_assignments(old: list[tuple[str, str]], new: list[tuple[str, str]], expected: list[str]) -> None:
    found = [text for text in told(assigning(*old), assigning(*new)) if text.startswith("socket")]
    assert found == [f"socket 'a': {text}" for text in expected]


@pytest.mark.parametrize("name", FEATURES)
def test_the_order_of_parts_is_no_change(name: str) -> None:
    data = to_data(compiled(FEATURES[name]).program)
    chance = random.Random(name)  # noqa: S311 - nothing is kept secret
    moved = copy.deepcopy(data)
    for section in ("sockets", "materia", "loops", "regions", "state_keys"):
        chance.shuffle(moved[section])
    assert changes(from_data(data), from_data(moved)) == ()


def test_a_change_says_where_and_what() -> None:
    changed = changes(compiled(working()).program, compiled(working(budget={"maxTokens": 5000})).program)
    assert changed == (Change("budget", "maxTokens", None, "5000"),)


def test_a_change_says_in_which_part_it_is() -> None:
    new = edited("sockets", "more", to=socket(edges=[{"to": "tell"}]), config=edited(*EDGES, to=CHECK[::-1]))
    new["materia"]["Planner"]["prompt"] = "Plan all."
    new["limits"] = {"maxNoAdvanceCycles": 4}
    found = changes(compiled(working()).program, compiled(new).program)
    assert [change.part for change in found] == [
        None,
        ("sockets", "check"),
        ("sockets", "more"),
        ("materia", "Planner"),
    ]
    renamed = changes(compiled(named("Old")).program, compiled(named("New")).program)
    assert [change.part for change in renamed] == [("materia", "New")]


# Every field of every part

AGENT_PART = program.Agent("Do it.")
UTILITY = program.Utility(command=("a",))
SOCKET = Socket("s", "m", "text")
LOOP = Loop("l", ("s",), "state.xs", "x", "i", "end", "end")
REGION = Region("s", (), "l", "s", "end", 2)
EXIT = Exit("e", "s", "always", "end")
MATERIA = Materia("m", "M", agent=AGENT_PART)


def whole(**fields: Any) -> Program:
    return Program(
        **{
            "name": "p",
            "entry": "s",
            "sockets": {"s": SOCKET},
            "materia": {"m": MATERIA},
            "loops": {"l": LOOP},
            "regions": {"s": REGION},
            **fields,
        }
    )


def with_socket(**fields: Any) -> Program:
    return whole(sockets={"s": dataclasses.replace(SOCKET, **fields)})


def with_materia(**fields: Any) -> Program:
    return whole(materia={"m": dataclasses.replace(MATERIA, **fields)})


def with_loop(**fields: Any) -> Program:
    return whole(loops={"l": dataclasses.replace(LOOP, **fields)})


HOLDERS: dict[type, Any] = {
    Program: (whole(), lambda part: part),
    Edge: (Edge("always", "end"), lambda part: with_socket(edges=(part,))),
    Advance: (Advance(), lambda part: with_socket(advance=part)),
    Socket: (SOCKET, lambda part: whole(sockets={part.id: part})),
    Exit: (EXIT, lambda part: with_loop(exits=(part,))),
    Loop: (LOOP, lambda part: whole(loops={part.id: part})),
    Region: (REGION, lambda part: whole(regions={part.generator: part})),
    program.Agent: (AGENT_PART, lambda part: with_materia(agent=part)),
    program.Utility: (UTILITY, lambda part: with_materia(agent=None, utility=part)),
    Materia: (MATERIA, lambda part: whole(materia={part.name: part})),
    program.Budget: (program.Budget(), lambda part: whole(budget=part)),
}
"""For each dataclass of a program: a part, and how a program has it."""

OTHER: dict[type, Json] = {
    Program: {
        "name": "q",
        "entry": "t",
        "sockets": {},
        "materia": {},
        "loops": {},
        "budget": program.Budget(1),
        "max_no_advance_cycles": 4,
        "max_concurrency": 4,
        "state_keys": ("k",),
        "properties": ({"a": 1},),
        "regions": {},
    },
    Edge: {"when": "satisfied", "to": "s", "max_traversals": 2},
    Advance: {"when": "satisfied", "done": "s"},
    Socket: {
        "id": "t",
        "materia": "n",
        "parse": "json",
        "assign": (("a", "request"),),
        "edges": (Edge("always", "s"),),
        "loop": "l",
        "advance": Advance(),
        "max_visits": 2,
        "max_output_bytes": 2,
    },
    Exit: {"id": "f", "source": "t", "condition": "satisfied", "to": "s"},
    Loop: {
        "id": "k",
        "sockets": ("s", "t"),
        "items": "state.ys",
        "alias": "y",
        "cursor": "j",
        "done": "s",
        "empty": "s",
        "exits": (EXIT,),
        "source": "s",
        "max_concurrency": 2,
        "foreach": True,
    },
    Region: {
        "generator": "t",
        "prelude": ("s",),
        "loop": "k",
        "door": "t",
        "after": "t",
        "max_concurrency": 3,
    },
    program.Agent: {
        "prompt": "Do it!",
        "scope": "coding",
        "tools": ("read",),
        "model": "m",
        "thinking": "high",
        "multi_turn": True,
        "handoff": "schema",
        "env": ("KEY",),
    },
    program.Utility: {
        "command": ("b",),
        "builtin": "echo",
        "missing": "nothing",
        "params": {},
        "timeout_ms": 1,
        "idempotent": True,
    },
    Materia: {
        "name": "n",
        "label": "N",
        "agent": None,
        "utility": UTILITY,
        "generator": True,
        "parallel": True,
        "parallel_safe": True,
        "cost": {"usd": 1},
    },
    program.Budget: {
        "max_tokens": 1,
        "max_cost_usd": 1.5,
        "warn_at_percent": 75.5,
        "stop_at_limit": False,
    },
}
"""Another value for each field."""


def test_every_dataclass_of_a_program_is_here() -> None:
    """A new one, and a new field, has to be given a value; what is no part of the meaning has none."""
    known = {part for part in vars(program).values() if dataclasses.is_dataclass(part)}
    around = {program.Settings, program.Agents, program.Recovery, program.Limits, program.Image}
    assert known - around == HOLDERS.keys() == OTHER.keys()
    for part, values in OTHER.items():
        assert [field.name for field in dataclasses.fields(part)] == list(values)


@pytest.mark.parametrize(
    ("part", "field"), [(part, field) for part, values in OTHER.items() for field in values]
)
def test_every_field_is_compared(part: type, field: str) -> None:
    base, holding = HOLDERS[part]
    old, new = holding(base), holding(dataclasses.replace(base, **{field: OTHER[part][field]}))
    assert old.digest() != new.digest()
    for one, other in ((old, new), (new, old)):
        found = changes(one, other)
        assert found
        assert len(set(found)) == len(found)
        assert all(str(change).isprintable() for change in found)
    assert changes(old, old) == changes(new, new) == ()


def test_the_same_number_written_in_another_way_is_a_change() -> None:
    one, other = (whole(budget=program.Budget(warn_at_percent=percent)) for percent in (75, 75.0))
    assert one.digest() != other.digest()
    assert [str(change) for change in changes(one, other)] == ["budget: warnAtPercent 75 → 75.0"]


def test_params_are_nothing_or_empty() -> None:
    utilities = UTILITY, dataclasses.replace(UTILITY, params={})
    none, empty = (with_materia(agent=None, utility=utility) for utility in utilities)
    assert [str(change) for change in changes(none, empty)] == ["materia 'm': params {} is new"]
    assert [str(change) for change in changes(empty, none)] == ["materia 'm': params {} is gone"]
