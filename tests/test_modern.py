"""A file in the forms of today means what it meant in the early ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from samples import AGENT, FEATURES, GENERATOR, Json, loadout, socket, working

from materiac.cli.loading import bundled
from materiac.modern import Modern, modernise
from materiac.pipeline import Text, check, compile_loadout, merged
from materiac.program import Image, Program, from_data, to_data

CASES = sorted((Path(__file__).parent / "conformance" / "cases").glob("*.json"))
BELOW = bundled()


def old(config: Json | str) -> bytes:
    return (config if isinstance(config, str) else json.dumps(config)).encode()


def modern(config: Json | str) -> Modern:
    return modernise("old.json", old(config), merged(BELOW))


def image(raw: bytes, name: str | None = None) -> Image | None:
    return compile_loadout([*BELOW, Text("loadout.json", raw)], name).image


def renamed(program: Program, names: Mapping[str, str]) -> Program:
    data = to_data(program)
    for part in data["materia"]:
        part["name"] = names.get(part["name"], part["name"])
    for part in data["sockets"]:
        part["materia"] = names.get(part["materia"], part["materia"])
    return from_data(data)


def rules_of(raw: bytes) -> list[str]:
    return [part.finding.rule for part in check([*BELOW, Text("loadout.json", raw)])]


def assert_same(config: Json | str, name: str | None = None) -> Json:
    """The file of today, after it was held against the early one."""
    outcome = modern(config)
    assert outcome.data is not None
    before, now = image(old(config), name), image(old(outcome.data), name)
    assert before is not None
    assert now is not None
    assert now.program.digest() == renamed(before.program, outcome.named).digest()
    assert "legacy-form" not in rules_of(old(outcome.data))
    return outcome.data


@pytest.mark.parametrize("file", CASES, ids=lambda file: file.stem)
def test_the_cases_of_the_language_mean_the_same(file: Path) -> None:
    case = json.loads(file.read_text(encoding="utf-8"))
    text = case["configText"] if "configText" in case else json.dumps(case["config"], ensure_ascii=False)
    if image(text.encode(), case.get("loadout")) is not None:
        assert_same(text, case.get("loadout"))


@pytest.mark.parametrize("name", FEATURES)
def test_samples_mean_the_same(name: str) -> None:
    assert_same(FEATURES[name])


def early(to: str, when: str | None = None, **loop: Any) -> Json:
    config = working(check={"edges": [{"to": "build"}]})
    spec = config["loadouts"]["L"]
    del spec["sockets"]["check"]["advance"], spec["sockets"]["check"]["parse"], spec["loops"]["work"]["exits"]
    exit_ = {"from": "check", "to": to} | ({"when": when} if when else {})
    spec["loops"]["work"] |= {"exit": exit_, **loop}
    return config


@pytest.mark.parametrize("to", ["tell", "end"])
@pytest.mark.parametrize("when", [None, "always", "satisfied", "not_satisfied"])
def test_an_early_exit_becomes_an_advance_and_an_exit(to: str, when: str | None) -> None:
    data = assert_same(early(to, when))
    spec = data["loadouts"]["L"]
    assert "exit" not in spec["loops"]["work"]
    assert spec["sockets"]["check"]["advance"]["cursor"] == "workItemIndex"
    assert ("exits" in spec["loops"]["work"]) is (to != "end")


def test_an_early_exit_stands_behind_the_exits_that_are_there() -> None:
    other = {"from": "check", "condition": "not_satisfied", "targetSocketId": "plan"}
    data = assert_same(early("tell", exits=[other]))
    assert [way["targetSocketId"] for way in data["loadouts"]["L"]["loops"]["work"]["exits"]] == [
        "plan",
        "tell",
    ]


def test_an_empty_list_that_goes_another_way_is_said() -> None:
    iterator = {"items": "state.workItems", "done": "tell"}
    outcome = modern(early("end", iterator=iterator))
    assert [part.finding.message for part in outcome.findings] == [
        "an empty list led loop 'work' to 'end' by its exit; it now leads to 'tell'"
    ]
    assert modern(early("end", "satisfied", iterator=iterator)).findings == ()


def test_materia_without_names_get_those_of_their_sockets_where_they_are_free() -> None:
    config = loadout(
        {"Agent": {"prompt": "Mine."}, "Build": {"prompt": "Not the bundled one."}, "b": {"prompt": "B."}}
    )
    config["loadouts"]["M"] = {"entry": "b", "sockets": {"b": {"prompt": "Another."}}}
    data = assert_same(config, "L")
    assert_same(config, "M")
    prompts = {name: fields["prompt"] for name, fields in data["materia"].items()}
    assert prompts == {
        "Agent": AGENT["prompt"], "Planner": GENERATOR["prompt"], "Agent-2": "Mine.",
        "Build-2": "Not the bundled one.", "b": "B.", "b-2": "Another.",
    }  # fmt: skip
    assert data["materia"]["b-2"]["label"] == "b"


def test_scripts_become_built_ins_and_the_rest_stays() -> None:
    node = ["node", "config/utilities/detect-vcs.mjs"]
    shipped = {"kind": "shippedUtility", "name": "mime-maintain.mjs"}
    gone = {"kind": "shippedUtility", "name": "mime-gh-pr.mjs"}
    sockets = {name: {"materia": name} for name in ("A", "B", "C")}
    config = loadout(
        sockets, materia={"A": {"command": node}, "B": {"script": shipped}, "C": {"script": gone}}
    )
    data = modern(config).data
    assert data is not None
    assert data["materia"]["A"] == {"utility": "vcs.detect"}
    assert data["materia"]["B"] == {"utility": "vcs.checkpoint"}
    assert data["materia"]["C"] == {"script": gone}
    assert "unknown-utility" in rules_of(old(data))


def test_what_means_nothing_is_said_and_what_was_rewritten_is_counted() -> None:
    config = {"webui": {}, "roles": {"a": {"systemPrompt": "A."}}, **loadout({"s": socket()})}
    outcome = modern(config)
    assert [part.finding.message for part in outcome.findings] == ["'webui' means nothing here"]
    assert [
        part.place.source.position(part.place.span.start).line for part in outcome.findings if part.place
    ] == [1]
    assert outcome.data is not None
    assert outcome.rewritten == 1


@pytest.mark.parametrize("text", ["{", "[]", "null", '{"a": 1, "a": 2}', "\ufeff"])
def test_what_cannot_be_read_is_a_finding(text: str) -> None:
    outcome = modern(text)
    assert outcome.data is None
    assert outcome.findings


EXIT: Json = {"from": "a", "to": "end"}


def looping(loop: Any, **sockets: Any) -> Json:
    return {"loadouts": {"L": {"sockets": sockets, "loops": {"l": loop}}}}


@pytest.mark.parametrize(
    "config",
    [
        {"materia": []},
        {"materia": {"a": 1, "b": {"script": 5}, "c": {"script": {"name": []}}}},
        {"loadouts": 3},
        {"loadouts": {"L": 1, "M": {"sockets": [], "loops": {}}}},
        looping(1, a=1),
        looping({"exit": {"from": "a", "to": "b"}}, a={"materia": []}),
        looping({"exits": {}, "exit": EXIT}),
        looping({"iterator": 1, "exit": {"from": [], "to": "end"}}),
        looping({"iterator": {"items": 5, "done": []}, "exits": 3, "exit": EXIT}, a={"materia": "b"}),
    ],
    ids=str,
)
def test_what_is_wrongly_shaped_is_left_for_check(config: Json) -> None:
    outcome = modern(config)
    assert outcome.data is not None
    assert rules_of(old(outcome.data))


def test_new_names_are_free_in_any_case() -> None:
    sockets = {"build": {"prompt": "x", "edges": [{"to": "A"}]}, "A": {"prompt": "y"}}
    config = {"loadouts": {"L": {"entry": "build", "sockets": sockets}}, "materia": {"a": {"prompt": "z"}}}
    below = {"materia": {"Build": {"prompt": "b"}}}
    outcome = modernise("x.json", json.dumps(config).encode(), below)
    assert outcome.data is not None
    assert list(outcome.data["materia"]) == ["a", "build-2", "A-2"]
