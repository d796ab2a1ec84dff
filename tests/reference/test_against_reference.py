"""Random loadouts run the same in the runtime as in the interpreter that was written from the reference."""

from __future__ import annotations

import json
import os
import re
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
_SECTION = re.compile(r"^## Runtime follow-up context\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_REASON = re.compile(r"^From '[^']+': (.*)$", re.MULTILINE)

Json = dict[str, Any]


@pytest.mark.parametrize("start", range(0, 2_000, 500))
def test_random_loadouts(start: int, tmp_path: Path) -> None:
    assert _compare(range(start, start + 500), tmp_path) > 50


@pytest.mark.slow
@pytest.mark.parametrize("start", range(100_000, 130_000, 1_000))
def test_many_random_loadouts(start: int, tmp_path: Path) -> None:
    assert _compare(range(start, start + 1_000), tmp_path) > 100


def _compare(seeds: range, folder: Path) -> int:
    """How many of these loadouts were worth it, and sound; each of them has run, and as it should."""
    sound = 0
    for seed in seeds:
        played = play(seed)
        wanted = _wanted(played)
        image = _compiled(played) if len(wanted["path"]) >= LIVELY or seed % 20 == 0 else None
        if image is not None:
            sound += 1
            got = _observed(played, image, folder)
            different = {key: (got[key], wanted[key]) for key in wanted if got[key] != wanted[key]}
            assert not different, f"seed {seed}, found and expected: {json.dumps(different)}"
            assert len(got["path"]) <= MOST_VISITS, f"seed {seed} makes {len(got['path'])} visits"
    return sound


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
