"""Linked loadouts: names kept apart, ends joined, and casts that go through all parts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from samples import AGENT, FEATURES, GENERATOR, STEP, Json, answers, compiled, loadout, order, socket, working

from materiac.ends import End, ends
from materiac.link import Linked, Part, link
from materiac.modern import forms_of_today
from materiac.pipeline import Text, check, compile_loadout
from materiac.runtime.run import run

PLAN: Json = {"workItems": [{"title": "one", "context": "1"}, {"title": "two", "context": "2"}]}
JSON: Json = {"parse": "json"}
EACH: Json = {
    **JSON,
    "foreach": {"items": "state.workItems"},
    "advance": {"cursor": "aIndex", "items": "state.workItems"},
}
TO_ITSELF: Json = {"edges": [{"to": "a"}]}


def part(config: Json, called: str = "a.json") -> Part:
    done = compile_loadout([Text(called, json.dumps(config).encode())])
    assert done.image is not None, done.findings
    data, changes = forms_of_today(done.resolved)
    assert changes == []
    program = done.image.program
    frame = {key: value for key, value in data.items() if key not in ("loadouts", "materia")}
    return Part(called, program, data["loadouts"][program.name], data.get("materia", {}), frame)


def linked(*configs: Json, shipped: Json | None = None) -> Linked:
    return link([part(config, f"{n}.json") for n, config in enumerate(configs)], "All", shipped or {})


def data_of(*configs: Json, shipped: Json | None = None) -> Json:
    """The linked file, which has to check as clean as its parts."""
    outcome = linked(*configs, shipped=shipped)
    assert outcome.problems == ()
    assert outcome.data is not None
    found = check([Text("linked.json", json.dumps(outcome.data).encode())])
    before = [f for c in configs for f in check([Text("part.json", json.dumps(c).encode())])]
    allowed = {f.finding.rule for f in before} - {"legacy-form"}
    assert {f.finding.rule for f in found} <= allowed
    compiled(outcome.data)
    return outcome.data


def went(data: Json, cwd: Path, **scripted: Any) -> list[str]:
    result = run(order(compiled(data), cwd, answers(**scripted), durable=False))
    assert result.status == "complete", result.cast.failure
    return result.cast.path


def judging(*edges: tuple[str, str], **rest: Any) -> Json:
    ways = [{"when": when, "to": to} for when, to in edges]
    return loadout({"a": socket(edges=ways, **JSON, **rest), "b": socket()})


def over_items(**loop: Any) -> Json:
    config = working(check={"edges": [{"to": "build"}], "advance": STEP})
    del config["loadouts"]["L"]["sockets"]["tell"]
    del config["loadouts"]["L"]["loops"]["work"]["exits"]
    config["loadouts"]["L"]["loops"]["work"] |= loop
    return config


ENDS: dict[str, tuple[Json, list[End]]] = {
    "no edges": (loadout({"a": socket(edges=[{"to": "b"}]), "b": socket()}), [End("socket", "b")]),
    "an edge to end": (loadout({"a": socket(edges=[{"to": "end"}])}), [End("socket", "a")]),
    "a verdict without an edge": (judging(("satisfied", "b")), [End("socket", "a"), End("socket", "b")]),
    "both verdicts": (judging(("satisfied", "b"), ("not_satisfied", "a")), [End("socket", "b")]),
    "a verdict to the end": (
        judging(("satisfied", "end"), ("not_satisfied", "b")),
        [End("socket", "a"), End("socket", "b")],
    ),
    "unreachable": (loadout({"a": socket(), "b": socket()}), [End("socket", "a")]),
    "a list used up": (over_items(), [End("loop", "work")]),
    "exits": (working(), [End("socket", "tell")]),
    "foreach": (loadout({"a": socket(**EACH, **TO_ITSELF)}), [End("loop", "foreach:a")]),
    "an empty list without an exit": (FEATURES["early"], [End("socket", "tell"), End("loop", "work")]),
}


@pytest.mark.parametrize("name", ENDS)
def test_ends_are_found(name: str) -> None:
    config, expected = ENDS[name]
    assert list(ends(compiled(config).program)) == expected


@pytest.mark.parametrize("name", [name for name, (_, found) in ENDS.items() if len(found) == 1])
def test_an_end_leads_on_and_no_other_way_ends_before(name: str) -> None:
    config = ENDS[name][0]
    data = data_of(config, loadout({"next": socket()}))
    assert ends(compiled(data).program) == (End("socket", "next"),)


def test_several_ends_are_named() -> None:
    outcome = linked(judging(("satisfied", "b")), FEATURES["hello"])
    assert outcome.data is None
    assert outcome.problems == ("'0.json' has 2 ends, expected one to go on from to '1.json': 'a', 'b'",)


def test_the_last_part_may_have_several_ends() -> None:
    data_of(FEATURES["hello"], judging(("satisfied", "b")))


@pytest.mark.parametrize("name", list(FEATURES))
def test_every_sample_can_be_linked_with_itself(name: str) -> None:
    config = FEATURES[name]
    if len(ends(compiled(config).program)) == 1:
        data = data_of(config, config)
        assert len(data["loadouts"]["All"]["sockets"]) == 2 * len(part(config).loadout["sockets"])


def test_a_cast_goes_through_all_parts(tmp_path: Path) -> None:
    data = data_of(loadout({"hello": socket()}), working(), over_items(), working())
    kept = {"satisfied": True}
    path = went(
        data, tmp_path, plan=PLAN, check=kept,
        **{"plan-2": {"workItems": []}, "plan-3": PLAN, "check-3": [{"satisfied": False}, kept]},
    )  # fmt: skip
    assert path == [
        "hello", "plan", "build", "check", "build", "check", "tell", "plan-2",
        "plan-3", "build-3", "check-3", "build-3", "check-3", "build-3", "check-3", "tell-2",
    ]  # fmt: skip


def test_equal_materia_are_shared_and_others_keep_their_label() -> None:
    other = loadout({"b": {"materia": "Agent"}}, materia={"Agent": {"prompt": "Other."}})
    data = data_of(loadout({"a": socket()}), loadout({"c": socket()}), other, other)
    assert data["materia"] == {"Agent": AGENT, "Agent-2": {"prompt": "Other.", "label": "Agent"}}
    sockets = data["loadouts"]["All"]["sockets"]
    assert [s["materia"] for s in sockets.values()] == ["Agent", "Agent", "Agent-2", "Agent-2"]


def test_a_name_that_ships_belongs_to_what_ships() -> None:
    shipped = {"Agent": {"prompt": "Shipped.", "tools": "coding"}, "Planner": GENERATOR}
    data = data_of(working(), shipped=shipped)
    assert data["materia"] == {"Agent-2": {**AGENT, "label": "Agent"}, "Planner": GENERATOR}


def test_materia_without_a_name_get_one() -> None:
    assert list(data_of(FEATURES["words"])["materia"]) == ["pipeline-a", "pipeline-b"]


def test_names_that_differ_in_case_alone_are_kept_apart() -> None:
    data = data_of(loadout({"Plan": socket()}), loadout({"plan": socket()}), loadout({"a" * 64: socket()}))
    assert list(data["loadouts"]["All"]["sockets"]) == ["Plan", "plan-2", "a" * 64]


def test_long_names_stay_within_bounds() -> None:
    long = loadout({"a" * 64: socket()})
    assert list(data_of(long, long)["loadouts"]["All"]["sockets"]) == ["a" * 64, "a" * 62 + "-2"]


def test_cursors_are_kept_apart_wherever_they_are_read() -> None:
    prompt = "At {{ cursor.workItemIndex }}, \\{{cursor.workItemIndex}}, {{cursor.other}}."
    config = working(
        materia={"Agent": {"prompt": prompt, "assign": {"at": "cursor.workItemIndex"}}},
        check={"assign": {"here": "cursor.workItemIndex", "title": "workItem.title"}},
    )
    data = data_of(config, config)
    assert data["materia"]["Agent"]["prompt"] == prompt
    second = data["materia"]["Agent-2"]
    assert second["prompt"] == "At {{cursor.workItemIndex2}}, \\{{cursor.workItemIndex}}, {{cursor.other}}."
    assert second["assign"] == {"at": "cursor.workItemIndex2"}
    sockets, loops = data["loadouts"]["All"]["sockets"], data["loadouts"]["All"]["loops"]
    assert sockets["check-2"]["assign"] == {"here": "cursor.workItemIndex2", "title": "workItem.title"}
    assert sockets["check-2"]["advance"]["cursor"] == "workItemIndex2"
    assert loops["work-2"]["consumes"]["cursor"] == "workItemIndex2"
    assert "cursor" not in loops["work"]["consumes"]


def test_the_default_cursor_of_a_foreach_follows_its_socket() -> None:
    config = loadout({"a": socket(**EACH, **TO_ITSELF)})
    sockets = data_of(config, config)["loadouts"]["All"]["sockets"]
    assert "cursor" not in sockets["a"]["foreach"]
    assert sockets["a-2"]["foreach"]["cursor"] == sockets["a-2"]["advance"]["cursor"] == "aIndex2"


def test_properties_speak_of_the_new_names() -> None:
    rule = {"at most": 1, "of": "b", "between": ["a", "end"]}
    config = loadout({"a": socket(edges=[{"to": "b"}]), "b": socket()}, properties=[rule])
    outcome = linked(config, config)
    assert outcome.data is not None
    assert outcome.data["loadouts"]["All"]["properties"] == [
        rule, {"at most": 1, "of": "b-2", "between": ["a-2", "end"]},
    ]  # fmt: skip


def test_what_is_renamed_is_said() -> None:
    outcome = linked(working(), working())
    assert "of '1.json', the loop 'work' is 'work-2'" in outcome.notes
    assert "of '1.json', the cursor 'workItemIndex' is 'workItemIndex2'" in outcome.notes
