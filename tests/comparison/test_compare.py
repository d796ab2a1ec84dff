"""What a comparison says: one edit, and exactly these lines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from samples import FEATURES, GENERATOR, Json, compiled, loadout, socket, working

from materiac.comparison import Comparison, Reaching, as_json, compare, compare_all, text
from materiac.flow.bounds import totals
from materiac.formatting import converted
from materiac.graph import LoadoutGraph
from materiac.pipeline import Text, compile_all, compile_loadout
from materiac.program import Edge, Program

LONG = "\n".join(f"Line {number} of what is asked." for number in range(1, 300))


def base() -> Json:
    """A plan, its items, and a command that is told to before the end."""
    config = working(
        materia={
            "Planner": {**GENERATOR, "prompt": LONG},
            "Keep": {"command": ["git", "commit", "-m", "done"]},
        }
    )
    spec = config["loadouts"]["L"]
    spec["sockets"]["tell"]["edges"] = [{"to": "keep"}]
    spec["sockets"]["keep"] = {"materia": "Keep"}
    spec["properties"] = [{"never": "check", "before": "plan"}]
    return config


def edited(*path: str | int, to: Any) -> Json:
    """The base with another value at a path; with nothing there, where it is None."""
    config = base()
    part: Any = config
    for key in path[:-1]:
        part = part[key]
    if to is None:
        del part[path[-1]]
    else:
        part[path[-1]] = to
    return config


SPEC = ("loadouts", "L")
SOCKETS = (*SPEC, "sockets")
EDGES = (*SOCKETS, "check", "edges")
SATISFIED, NOT_SATISFIED = base()["loadouts"]["L"]["sockets"]["check"]["edges"]


def moved() -> Json:
    """The base with its keys in another order."""

    def turned(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: turned(part) for key, part in reversed(value.items())}
        return [turned(part) for part in value] if isinstance(value, list) else value

    config: Json = turned(base())
    return config


def without_build() -> Json:
    """The base, whose loop has one socket less."""
    config = json.loads(json.dumps(base()).replace('"to": "build"', '"to": "check"'))
    spec = config["loadouts"]["L"]
    del spec["sockets"]["build"]
    spec["loops"]["work"]["sockets"] = ["check"]
    return dict(config)


def program(config: Json) -> Program:
    return compiled(config).program


def lines(old: Json, new: Json) -> list[str]:
    return text.render([compare(program(old), program(new))], colour=False).splitlines()


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        pytest.param(moved(), [], id="moved-keys"),
        pytest.param(
            edited("materia", "Planner", "prompt", to=LONG.replace("Line 200 of what", "Line 200 of all")),
            [
                (
                    "~ materia 'Planner': the prompt differs at line 200, column 13: 'Line 200 of what "
                    "is asked.\\nLine 201 of what is asked.\\nLine 202 of what is asked.'… → 'Line 200 of "
                    "all is asked.\\nLine 201 of what is asked.\\nLine 202 of what is asked.\\n'…"
                )
            ],
            id="prompt",
        ),
        pytest.param(
            edited("materia", "Keep", "command", to=["git", "commit", "-am", "done"]),
            ["~ materia 'Keep': command[2] '-m' → '-am'"],
            id="command",
        ),
        pytest.param(
            edited("budget", to={"maxTokens": 5000}), ["+ budget: maxTokens 5000 is new"], id="budget"
        ),
        pytest.param(
            edited(*EDGES, to=[NOT_SATISFIED, SATISFIED]),
            ["~ socket 'check': edges are in another order"],
            id="order-of-guards",
        ),
        pytest.param(
            edited(*EDGES, 1, "maxTraversals", to=9),
            [
                (
                    "~ socket 'check': edge 2 'not_satisfied' to 'build' (maxTraversals 2) → "
                    "'not_satisfied' to 'build' (maxTraversals 9)"
                )
            ],
            id="budget-of-an-edge",
        ),
        pytest.param(
            edited(*SOCKETS, "tell", "edges", to=None),
            [
                "- socket 'tell': edge 1 'always' to 'keep' is gone",
                "- reach: no cast comes to 'keep' any more",
            ],
            id="out-of-reach",
        ),
        pytest.param(
            edited(*SPEC, "loops", "work", "exits", 0, "targetSocketId", to="keep"),
            [
                "~ loop 'work': empty 'tell' → 'keep'",
                (
                    "~ loop 'work': exit 1 'always' from 'check' to 'tell' (id 'out') → 'always' from "
                    "'check' to 'keep' (id 'out')"
                ),
                "- reach: no cast comes to 'tell' any more",
            ],
            id="exit",
        ),
        pytest.param(
            edited(*SPEC, "properties", to=[{"never": "keep", "before": "plan"}]),
            [
                "- properties: property never 'check' before 'plan' is gone",
                "+ properties: property never 'keep' before 'plan' is new",
            ],
            id="properties",
        ),
        pytest.param(
            edited(*SPEC, "entry", to="tell"),
            [
                "~ entry: 'plan' → 'tell'",
                "- reach: no cast comes to 'plan' any more",
                "- reach: no cast comes to 'build' any more",
                "- reach: no cast comes to 'check' any more",
            ],
            id="entry",
        ),
        pytest.param(
            without_build(),
            [
                "~ socket 'plan': edge 1 'always' to 'build' → 'always' to 'check'",
                "- sockets: 'build' is gone",
                "~ socket 'check': edge 1 'satisfied' to 'build' → 'satisfied' to 'check'",
                (
                    "~ socket 'check': edge 2 'not_satisfied' to 'build' (maxTraversals 2) → "
                    "'not_satisfied' to 'check' (maxTraversals 2)"
                ),
                "- loop 'work': socket 'build' is gone",
                "! resume: the cast stands at 'build', which its new definition does not have",
            ],
            id="socket-gone",
        ),
    ],
)
def test_one_edit(new: Json, expected: list[str]) -> None:
    found = lines(base(), new)
    head = ["loadout 'L'"] if expected else []
    assert found == [*head, *expected]


def test_what_may_be_reached_now() -> None:
    old = edited(*SOCKETS, "tell", "edges", to=None)
    assert lines(old, base()) == [
        "loadout 'L'",
        "+ socket 'tell': edge 1 'always' to 'keep' is new",
        "+ reach: a cast may come to 'keep' now",
    ]


def test_the_end_that_is_out_of_reach() -> None:
    """A machine that was made by hand may go round for ever, a loadout that is sound may not."""
    ways = {"edges": [{"to": "b"}]}
    old = program(loadout({"a": socket(**ways), "b": socket()}))
    sockets = {**old.sockets, "b": replace(old.sockets["b"], edges=(Edge("always", "a"),))}
    new = replace(old, sockets=sockets)
    assert compare(old, new).reach == Reaching(endless=("a", "b"))
    assert compare(new, old).reach == Reaching(ending=("a", "b"))
    assert text.render([compare(old, new)], colour=False).splitlines()[2:] == [
        "- reach: no cast comes from 'a' to its end any more",
        "- reach: no cast comes from 'b' to its end any more",
    ]


@pytest.mark.parametrize("name", FEATURES)
def test_in_the_other_language_it_is_the_same(name: str) -> None:
    written = converted(FEATURES[name], "dsl").encode()
    image = compile_loadout([Text("loadout.materia", written)]).image
    assert image is not None
    compared = compare_all({name: program(FEATURES[name])}, {name: image.program})
    assert [part.same for part in compared] == [True]
    assert text.render(compared, colour=False) == ""


def test_loadouts_are_matched_by_their_names() -> None:
    one, other = program(loadout({"a": socket()})), program(loadout({"b": socket()}))
    compared = compare_all({"x": one, "y": one, "z": one}, {"z": one, "y": other, "w": one})
    assert [(bool(part.old), bool(part.new), part.same) for part in compared] == [
        (True, False, False),
        (True, True, False),
        (True, True, True),
        (False, True, False),
    ]
    assert [part.breaks[0].why for part in compared if part.breaks] == [
        "the loadout is gone",
        "the cast stands at 'a', which its new definition does not have",
    ]


def test_two_that_are_alone_are_compared_whatever_their_names() -> None:
    old = program(loadout({"a": socket()}))
    compared = compare_all({"L": old}, {"M": replace(old, name="M")})
    assert text.render(compared, colour=False).splitlines() == ["loadout 'M'", "~ loadout: 'L' → 'M'"]


def test_what_there_is_in_one_alone() -> None:
    old = program(loadout({"a": socket()}))
    assert text.render([compare(old, None), compare(None, old)], colour=False).splitlines() == [
        "- loadout 'L' is gone",
        "! resume: the loadout is gone",
        "",
        "+ loadout 'L' is new",
    ]


def test_colours_are_those_of_the_marks() -> None:
    shown = text.render([compare(program(base()), program(without_build()))], colour=True).splitlines()
    codes = {line.split("m", 1)[1][0]: line.split("m", 1)[0] for line in shown}
    assert codes == {"l": "\x1b[1", "~": "\x1b[33", "-": "\x1b[31", "!": "\x1b[1;31"}


def test_as_json() -> None:
    old, new = program(base()), program(without_build())
    told = json.loads(as_json.render([compare(old, new)]))
    assert {key: told[key] for key in ("version", "same", "breaking")} == {
        "version": 1,
        "same": False,
        "breaking": True,
    }
    [part] = told["loadouts"]
    assert (part["name"], part["oldHash"], part["newHash"]) == ("L", old.digest(), new.digest())
    assert part["changes"][0] == {
        "section": "sockets",
        "id": "plan",
        "where": "socket 'plan'",
        "what": "edge 1",
        "old": "'always' to 'build'",
        "new": "'always' to 'check'",
        "message": "socket 'plan': edge 1 'always' to 'build' → 'always' to 'check'",
    }
    assert part["breaks"] == [
        {
            "why": "the cast stands at 'build', which its new definition does not have",
            "socket": "build",
            "inStreams": False,
            "streamAt": None,
        }
    ]
    alone = json.loads(as_json.render([compare(old, None)]))["loadouts"][0]
    assert (alone["newHash"], alone["same"], alone["breaks"][0]["socket"]) == (None, False, None)


# Bounds


def checked(config: Json) -> tuple[dict[str, Program], Mapping[str, LoadoutGraph]]:
    done = compile_all([Text("loadout.json", json.dumps(config).encode())])
    return {name: image.program for name, image in done.images.items()}, done.graphs


def with_graphs(old: Json, new: Json) -> Comparison:
    (was, graphs), (now, others) = checked(old), checked(new)
    [compared] = compare_all(was, now, (graphs, others))
    return compared


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        pytest.param(
            edited(*EDGES, 1, "maxTraversals", to=9), ["bound: at most {} → {} agent turns"], id="turns"
        ),
        pytest.param(
            edited(*SOCKETS, "tell", "edges", to=None), ["bound: at most 1 → 0 utility runs"], id="runs"
        ),
        pytest.param(edited("materia", "Planner", "prompt", to="Plan."), [], id="prompt"),
        pytest.param(edited("budget", to={"maxTokens": 5000}), [], id="budget"),
        pytest.param(edited("materia", "Planner", "tools", to="coding"), [], id="the-same-bound"),
    ],
)
def test_bounds(new: Json, expected: list[str]) -> None:
    compared = with_graphs(base(), new)
    turns = [totals(checked(config)[1]["L"]).turns for config in (base(), new)]
    shown = [line for line in text.render([compared], colour=False).splitlines() if "bound:" in line]
    assert shown == [f"~ {line.format(*turns)}" for line in expected]


def test_bounds_as_json() -> None:
    compared = with_graphs(base(), edited(*EDGES, 1, "maxTraversals", to=9))
    told = json.loads(as_json.render([compared]))["loadouts"][0]["bound"]
    assert told["agentTurns"]["old"] != told["agentTurns"]["new"]
    assert told["utilityRuns"]["old"] == told["utilityRuns"]["new"]
    assert told["utilityRuns"]["old"]["text"] == "1"
    prompt = with_graphs(base(), edited("materia", "Planner", "prompt", to="Plan."))
    assert prompt.bounds is None
    assert compare(program(base()), program(edited(*EDGES, 1, "maxTraversals", to=9))).bounds is None


def test_more_cycles_are_a_higher_bound() -> None:
    """The limit of the stall guard is in the file, and not in the graph."""
    edges = [{"when": "satisfied", "to": "end"}, {"when": "not_satisfied", "to": "a"}]
    old, new = (
        loadout({"a": socket(parse="json", edges=edges)}, limits={"maxNoAdvanceCycles": most})
        for most in (1, 2)
    )
    [line] = [
        part for part in text.render([with_graphs(old, new)], colour=False).splitlines() if "bound" in part
    ]
    assert line == "~ bound: at most 4 → 6 agent turns"
