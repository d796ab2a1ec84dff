"""Random loadouts run the same in the runtime as in the interpreter that was written from the reference."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from interpreter import interpret
from random_loadouts import Play, play

from materiac.agents.protocol import Reply, Request
from materiac.agents.scripted import Script, Scripted
from materiac.pipeline import Text, compile_loadout
from materiac.program import Image
from materiac.runtime.run import Order, run

MOST_VISITS = 400
LIVELY = 6
"""Casts of fewer visits show little: of those, one in twenty is run."""
_SECTION = re.compile(r"^## Runtime follow-up context\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_REASON = re.compile(r"^From '[^']+': (.*)$", re.MULTILINE)

Json = dict[str, Any]


RARE = (106005, 107491, 107684, 109055, 113125)
"""Seeds where it matters which loop was visited last, or that a budget of the cast is one of every item."""


@pytest.mark.parametrize("start", range(0, 2_000, 500))
def test_random_loadouts(start: int, tmp_path: Path) -> None:
    assert _compare(range(start, start + 500), tmp_path) > 40


@pytest.mark.slow
@pytest.mark.parametrize("start", range(100_000, 132_000, 1_000))
def test_many_random_loadouts(start: int, tmp_path: Path) -> None:
    assert _compare(range(start, start + 1_000), tmp_path) > 100


def test_rare_meetings(tmp_path: Path) -> None:
    assert _compare(RARE, tmp_path) == len(RARE)


def test_a_shared_cursor_is_that_of_the_loop_entered_last(tmp_path: Path) -> None:
    sockets: Json = {
        "s0": {"edges": [{"to": "s2"}], "parse": "json", "assign": {"workItems": "$.list"}},
        "s1": {"edges": [{"when": "not_satisfied", "to": "s3"}, {"to": "s1"}], "parse": "json"},
        "s2": {"edges": [{"when": "not_satisfied", "to": "s1"}, {"to": "s2"}], "parse": "json"},
        "s3": {"assign": {"seen": "cursor.k"}},
    }
    step = {"cursor": "k", "items": "state.workItems", "when": "satisfied"}
    sockets["s1"]["advance"] = sockets["s2"]["advance"] = step
    naming = {"items": "state.workItems", "cursor": "k"}
    loops = {f"l{name}": {"sockets": [f"s{name}"], "iterator": naming} for name in (2, 1)}
    answers = {
        "s0": _texts({"list": [1, 2, 3]}),
        "s1": _texts({"satisfied": True}, {"satisfied": False}),
        "s2": _texts({"satisfied": False}),
    }
    got = _played(sockets, loops, {}, answers, tmp_path)
    assert got["path"] == ["s0", "s2", "s1", "s1", "s3"]
    assert got["data"]["seen"] == 1


@pytest.mark.parametrize(
    ("after", "status", "failure"),
    [("end", "complete", None), ("s2", "failed", "budget")],
    ids=["an end", "a socket"],
)
def test_a_spent_budget_minds_what_lies_beyond_an_empty_loop(
    after: str, status: str, failure: str | None, tmp_path: Path
) -> None:
    sockets: Json = {
        "s0": {"edges": [{"to": "s1"}]},
        "s1": {"edges": [{"to": "s1"}]},
        "s2": {"parse": "json"},
    }
    loops = {"l": {"sockets": ["s1"], "iterator": {"items": "state.workItems", "done": after}}}
    sockets["s1"]["advance"] = {"cursor": "workItemIndex", "items": "state.workItems"}
    answers = {"s0": [{"text": "dear", "usage": {"input": 8, "output": 2}}]}
    got = _played(sockets, loops, {"budget": {"maxTokens": 10}}, answers, tmp_path)
    assert (got["status"], got["failure"], got["path"]) == (status, failure, ["s0"])


def _texts(*answers: Json) -> list[str]:
    return [json.dumps(answer) for answer in answers]


def _compare(seeds: Iterable[int], folder: Path) -> int:
    """How many of these loadouts were worth it, and sound; each of them has run, and as it should."""
    sound = 0
    for seed in seeds:
        played = play(seed)
        wanted = _wanted(played)
        image = _compiled(played) if seed % 20 == 0 or len(wanted["path"]) >= LIVELY else None
        if image is not None:
            sound += 1
            _same(f"seed {seed}", wanted, _observed(played, image, folder))
    return sound


def _same(name: str, wanted: Json, got: Json) -> None:
    different = {key: (got[key], wanted[key]) for key in wanted if got[key] != wanted[key]}
    assert not different, f"{name}, found and expected: {json.dumps(different)}"
    assert len(got["path"]) <= MOST_VISITS, f"{name} makes {len(got['path'])} visits"


def _played(sockets: Json, loops: Json, frame: Json, answers: Json, folder: Path) -> Json:
    """What is observed of a cast of sockets that share one materia."""
    sockets = {name: {"materia": "m", **socket} for name, socket in sockets.items()}
    loadouts = {"Random": {"entry": "s0", "sockets": sockets, "loops": loops}}
    config = {"loadouts": loadouts, "materia": {"m": {"prompt": "Work."}}, **frame}
    played = Play(config, {"sockets": answers}, {})
    image = _compiled(played)
    assert image is not None
    got = _observed(played, image, folder)
    _same("the cast", _wanted(played), got)
    return got


def _wanted(played: Play) -> Json:
    script = {"sockets": {**played.script["sockets"], **played.printed}}
    outcome = interpret(played.config, "Random", script)
    return {**vars(outcome), "visits": dict(outcome.visits), "traversals": dict(outcome.traversals)}


def _compiled(played: Play) -> Image | None:
    return compile_loadout([Text("random.json", json.dumps(played.config).encode())]).image


class _Listening(Scripted):
    """The scripted agent, and the reasons that the first prompt of each visit shows; None is no rework."""

    def __init__(self, script: Script) -> None:
        super().__init__("scripted:", script)
        self.rework: dict[str, list[str]] = {}

    def turn(self, request: Request) -> Reply:
        section = _SECTION.search(request.prompt)
        if section is not None:
            self.rework[f"{request.socket}#{request.visit}"] = _REASON.findall(section[1])
        return super().turn(request)


def _observed(played: Play, image: Image, folder: Path) -> Json:
    agent = _Listening(Script.model_validate(played.script))
    result = run(Order(image, "a request", agent, folder, folder / "casts", os.environ, durable=False))
    got = result.as_data()
    return {**got, "failure": (got["failure"] or {}).get("kind"), "rework": agent.rework}
