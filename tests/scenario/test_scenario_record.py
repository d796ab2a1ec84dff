"""Casts that become scenarios: played again, they come out as they did."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from samples import answers, cast, loadout, socket, working

from materiac.agents.protocol import Agent
from materiac.pipeline import Text
from materiac.runtime.visit import VisitWaits
from materiac.scenario.loadouts import Loadouts
from materiac.scenario.read import read
from materiac.scenario.record import RecordError, scenario_of
from materiac.scenario.suite import judge
from materiac.scenario.wording import lines

ITEM = {"workItems": [{"title": "t", "context": "c"}]}


def alone(file: Path | None) -> list[Text]:
    """A file without layers below it."""
    return [Text(str(file), file.read_bytes())] if file is not None else []


def again(tmp_path: Path, config: Any, agent: Agent, **rest: Any) -> dict[str, Any]:
    """The scenario of a cast, which has been played and has come out as it says."""
    result = cast(config, tmp_path, agent, **rest)
    data = scenario_of(result.folder)
    (tmp_path / "loadout.json").write_text(json.dumps(config))
    data["loadout"] = "loadout.json"
    (placed,), findings = read(str(tmp_path / "x.scenario.json"), json.dumps(data).encode())
    assert findings == []
    verdict = judge(placed, Loadouts(alone), os.environ)
    assert verdict.outcome == "passed", list(lines(verdict))
    assert verdict.played is not None
    assert verdict.played.result["data"] == result.as_data()["data"]
    return data


def test_a_loop_with_repair_and_rework(tmp_path: Path) -> None:
    agent = answers(
        plan=["first I think", ITEM], check=[{"satisfied": False, "context": "no"}, {"satisfied": True}]
    )
    data = again(tmp_path, working(), agent)
    assert data["agent"]["sockets"]["plan"] == ["first I think", {"json": ITEM}]
    assert data["expect"]["items"] == [None, "WI-1", "WI-1", "WI-1", "WI-1", None]


class Says:
    """A person with words."""

    def __init__(self, *words: str | None) -> None:
        self._words = list(words)

    def say(self, answer: str) -> str | None:
        if not self._words:
            raise VisitWaits(answer)
        return self._words.pop(0)


@pytest.mark.parametrize("parse", ["text", "json"])
@pytest.mark.parametrize(
    "words", [("the red one", "and a blue one", None), (None,), ("hm",)], ids=["talk", "at once", "waits"]
)
def test_a_talk(parse: str, words: tuple[str | None, ...], tmp_path: Path) -> None:
    config = loadout(
        {"ask": {"materia": "Asker", "parse": parse}},
        materia={"Asker": {"prompt": "Ask.", "multiTurn": True}},
    )
    replies = [*["which?", "only that?"][: len(words)], '{"context": "so be it"}']
    data = again(tmp_path, config, answers(ask=replies), person=Says(*words))
    assert data["person"] == list(words)


def test_utilities_do_not_run_again(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    command = ["sh", "-c", f"echo x >>{seen}; echo '{{\"satisfied\": true}}'"]
    config = loadout({"run": {"materia": "Run", "parse": "json"}}, materia={"Run": {"command": command}})
    data = again(tmp_path, config, answers())
    assert data["utilities"] == {"run": {"json": {"satisfied": True}}}
    assert seen.read_text() == "x\n"


@pytest.mark.parametrize(
    ("config", "agent", "kind"),
    [
        (loadout({"a": socket()}), answers(a={"error": "no credit"}), "agent"),
        (loadout({"a": socket(parse="json")}), answers(a="no JSON"), "output"),
        (working(), answers(plan=ITEM, check={"satisfied": False}), "edge-limit"),
        (loadout({"a": {"materia": "F"}}, materia={"F": {"command": ["false"]}}), answers(), "utility-exit"),
    ],
    ids=["agent", "output", "edge-limit", "utility-exit"],
)
def test_failures(config: Any, agent: Agent, kind: str, tmp_path: Path) -> None:
    assert again(tmp_path, config, agent)["expect"]["failure"] == kind


def test_what_was_used_is_part_of_it(tmp_path: Path) -> None:
    config = loadout({"a": socket(edges=[{"to": "b"}]), "b": socket()}, budget={"maxTokens": 10})
    agent = answers(a={"text": "x", "usage": {"input": 9, "output": 2}})
    assert again(tmp_path, config, agent)["expect"]["failure"] == "budget"


def test_what_cannot_be_played_again(tmp_path: Path) -> None:
    config = loadout({"a": {"materia": "F"}}, materia={"F": {"command": ["./not-there"]}})
    folder = cast(config, tmp_path, answers()).folder
    with pytest.raises(RecordError, match="'utility-start' cannot be played again"):
        scenario_of(folder)


def test_a_cast_that_is_not_over(tmp_path: Path) -> None:
    folder = cast(working(), tmp_path, answers(plan=ITEM, check={"satisfied": True})).folder
    journal = (folder / "events.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "events.jsonl").write_bytes(b"".join(journal[:-1]))
    with pytest.raises(RecordError, match="is not over"):
        scenario_of(folder)


def test_a_folder_that_is_no_cast(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="has no machine that can be read"):
        scenario_of(tmp_path)
