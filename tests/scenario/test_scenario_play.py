"""Scenarios that are played: who answers, and what is said where something else comes of it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from samples import FEATURES, loadout, socket, working

from materiac.pipeline import Text
from materiac.scenario.loadouts import LoadoutError, Loadouts
from materiac.scenario.read import read
from materiac.scenario.suite import Verdict, judge
from materiac.scenario.wording import lines

ITEMS = {"json": {"workItems": [{"title": "t", "context": "c"}]}}
YES, NO = {"json": {"satisfied": True}}, {"json": {"satisfied": False, "context": "torn"}}
WORK = {"sockets": {"plan": ITEMS, "check": [NO, YES]}}
PATH = ["plan", "build", "check", "build", "check", "tell"]
RUNNING = loadout(
    {"run": {"materia": "Run", "edges": [{"to": "judge"}]}, "judge": {"materia": "Judge", "parse": "json"}},
    materia={
        "Run": {"command": ["sh", "-c", "cat seed.txt >made.txt; cat seed.txt"]},
        "Judge": {"command": ["false"]},
    },
)
TALK = loadout(
    {"ask": {"materia": "Asker"}},
    materia={"Asker": {"prompt": "Ask {{state.previousCast.who}}", "multiTurn": True}},
)


def alone(file: Path | None) -> list[Text]:
    """A file without layers below it."""
    if file is None or not file.exists():
        raise LoadoutError(f"cannot read the loadout '{file}'")
    return [Text(str(file), file.read_bytes())]


def played(folder: Path, config: Any, **scenario: Any) -> Verdict:
    (folder / "loadout.json").write_text(json.dumps(config))
    data = {"name": "n", "loadout": "loadout.json", **scenario}
    text = json.dumps(data, indent=1)
    (placed,), findings = read(str(folder / "x.scenario.json"), text.encode())
    assert findings == []
    return judge(placed, Loadouts(alone), os.environ)


def said(verdict: Verdict) -> list[str]:
    """What is wrong: the text at the place, then the message."""
    played = verdict.played
    assert played is not None, list(lines(verdict))
    text = verdict.placed.document.source.text
    places = [verdict.placed.place("expect", *misfit.loc).span for misfit in played.misfits]
    return [
        f"{text[span.start : span.end]}: {misfit.message}"
        for span, misfit in zip(places, played.misfits, strict=True)
    ]


HOLDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "everything of a loop": (
        working(),
        {
            "agent": WORK,
            "expect": {
                "status": "complete",
                "path": PATH,
                "pathHas": ["build", "build", "tell"],
                "items": [None, "WI-1", "WI-1", "WI-1", "WI-1", None],
                "visits": {"check": 2, "tell": 1},
                "state": {"workItems": [{"title": "t", "context": "c"}], "envelope": {"satisfied": True}},
                "prompts": {"build#2": {"has": ["torn", "rework"]}, "build#1": {"lacks": "torn"}},
                "turns": 6,
            },
        },
    ),
    "a failure": (
        working(),
        {
            "agent": {"sockets": {"plan": ITEMS, "check": NO}},
            "expect": {"failure": {"kind": "edge-limit", "has": ["'check'", "3 times"]}},
        },
    ),
    "utilities that run and one that does not": (
        RUNNING,
        {
            "files": {"seed.txt": "grain"},
            "utilities": {"judge": {"json": {"satisfied": True}}},
            "expect": {"files": {"made.txt": {"has": "grain", "lacks": "weed"}, "other": None}},
        },
    ),
    "a utility that is said to fail": (
        RUNNING,
        {
            "utilities": {"run": "x", "judge": {"error": "out of order"}},
            "expect": {"failure": {"kind": "utility-exit", "has": "out of order"}},
        },
    ),
    "a person who ends the talk": (
        TALK,
        {
            "state": {"previousCast": {"who": "Ada"}},
            "agent": {"sockets": {"ask": ["what?", "which?", "this"]}},
            "person": ["the red one", None],
            "expect": {
                "prompts": {"ask#1": {"has": "Ask Ada"}},
                "turns": 3,
                "state": {"previousCast": {"who": "Ada"}},
            },
        },
    ),
    "a person who falls silent": (TALK, {"person": ["hm"], "expect": {"status": "waiting"}}),
    "nobody": (TALK, {"expect": {"status": "waiting"}}),
    "by item": (
        working(),
        {
            "agent": {"sockets": {"plan": ITEMS, "check": {"WI-1": [NO, YES]}}},
            "expect": {"path": PATH},
        },
    ),
}


@pytest.mark.parametrize(("config", "scenario"), HOLDS.values(), ids=HOLDS)
def test_what_holds(config: Any, scenario: dict[str, Any], tmp_path: Path) -> None:
    assert said(played(tmp_path, config, **scenario)) == []


MISFITS: dict[str, tuple[Any, str]] = {
    "status": ({"status": "failed"}, "\"failed\": the status is 'complete', expected 'failed'"),
    "failure": ({"failure": "stalled"}, "\"stalled\": the status is 'complete', expected 'failed'"),
    "path": (
        {"path": [*PATH[:3], "tell"]},
        "\"tell\": visit 4 is 'build', expected 'tell'",
    ),
    "path that goes on": (
        {"path": [*PATH, "tell"]},
        "\"tell\": visit 7 is missing, expected 'tell'",
    ),
    "part of a path": (
        {"pathHas": ["tell", "build"]},
        "\"build\": the path has no 'build' behind 'tell'",
    ),
    "items": (
        {"items": [None, "WI-1", "WI-2", "WI-1", "WI-1", None]},
        "\"WI-2\": the item of visit 3 is 'WI-1', expected 'WI-2'",
    ),
    "visits": ({"visits": {"check": 3}}, "3: 'check' was visited twice, expected 3 times"),
    "state": (
        {"state": {"envelope": {"satisfied": False}}},
        "false: state 'envelope.satisfied' is true, expected false",
    ),
    "state that is not there": (
        {"state": {"envelope": {"taste": 1}}},
        "1: the state has no 'envelope.taste'",
    ),
    "prompt": (
        {"prompts": {"build#2": {"has": ["rework", "worn"]}}},
        "\"worn\": the prompt of 'build#2' lacks 'worn'",
    ),
    "prompt that has": (
        {"prompts": {"build#2": {"lacks": "torn"}}},
        "\"torn\": the prompt of 'build#2' has 'torn'",
    ),
    "no prompt": (
        {"prompts": {"build#9": {}}},
        "{}: there is no such thing as the prompt of 'build#9'",
    ),
    "file": ({"files": {"a/b": {}}}, "{}: there is no such thing as the file 'a/b'"),
    "file that is there": ({"files": {"here": None}}, "null: the file 'here' is there, expected none"),
    "turns": ({"turns": 5}, "5: agents took 6 turns, expected at most 5"),
}


@pytest.mark.parametrize(("expect", "message"), MISFITS.values(), ids=MISFITS)
def test_what_does_not_hold(expect: Any, message: str, tmp_path: Path) -> None:
    verdict = played(tmp_path, working(), agent=WORK, files={"here": ""}, expect=expect)
    assert verdict.outcome == "failed"
    assert said(verdict) == [message]


def test_an_unexpected_failure_is_told(tmp_path: Path) -> None:
    verdict = played(tmp_path, working(), agent={"sockets": {"plan": {"error": "no credit"}}}, expect={})
    assert list(lines(verdict))[2] == "    agent at 'plan': the agent failed: no credit"


def test_paths_are_shown_beside_each_other(tmp_path: Path) -> None:
    verdict = played(tmp_path, working(), agent=WORK, expect={"path": [*PATH[:4], "tell", "check", "tell"]})
    assert list(lines(verdict))[2:] == [
        "    = … 2 more … → check → build",
        "    - tell",
        "    = check → tell",
    ]


BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "an agent's socket": (
        {"agent": {"sockets": {"biuld": "x"}}},
        "there is no socket 'biuld' in the loadout",
    ),
    "a utility's socket": ({"utilities": {"bild": "x"}}, "there is no socket 'bild' in the loadout"),
    "an expected socket": (
        {"expect": {"path": ["plan", "biuld"]}},
        "there is no socket 'biuld' in the loadout",
    ),
    "a prompt's socket": (
        {"expect": {"prompts": {"tall#1": {}}}},
        "there is no socket 'tall' in the loadout",
    ),
    "an agent among utilities": ({"utilities": {"build": "x"}}, "'build' is no utility"),
}


@pytest.mark.parametrize(("scenario", "message"), BROKEN.values(), ids=BROKEN)
def test_sockets_that_are_not_there(scenario: dict[str, Any], message: str, tmp_path: Path) -> None:
    verdict = played(tmp_path, working(), **scenario)
    assert verdict.outcome == "broken"
    assert [part.finding.message for part in verdict.findings] == [message]


def test_a_utility_among_agents(tmp_path: Path) -> None:
    verdict = played(tmp_path, FEATURES["foreach"], agent={"sockets": {"seed": "x"}})
    assert [part.finding.help for part in verdict.findings] == ["put it into 'utilities'"]


def test_a_loadout_with_errors(tmp_path: Path) -> None:
    verdict = played(tmp_path, loadout({"a": socket(edges=[{"to": "b"}])}))
    assert verdict.outcome == "broken"
    assert [part.finding.rule for part in verdict.findings] == ["unknown-target"]


def test_a_loadout_that_is_not_there(tmp_path: Path) -> None:
    verdict = played(tmp_path, working(), loadout="other.json")
    assert verdict.outcome == "broken"
    assert "cannot read the loadout" in (verdict.trouble or "")


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    assert said(played(tmp_path, working(), agent=WORK)) == []
    assert list((tmp_path / "scratch").iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["loadout.json", "scratch"]
