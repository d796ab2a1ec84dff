"""Casts that come to an absolute limit: how they end, and how they go on."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from desk import LONG_S, Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


ITEMS = """
import json
print(json.dumps({"workItems": [{"title": str(n), "context": "it"} for n in range(5)]}))
"""


@pytest.mark.parametrize(
    ("limits", "materia", "message"),
    [
        pytest.param(
            {"maxItems": 4},
            {"command": [sys.executable, "-c", ITEMS], "generator": True},
            "output at 'go', visit 1: 'workItems' has 5 entries, 4 are allowed by 'limits.maxItems'",
            id="items",
        ),
        pytest.param(
            {"maxAnswerBytes": 20},
            {"prompt": "Answer."},
            "output-limit at 'go', visit 1: the answer has 30 bytes, 20 are allowed by 'limits.maxAnswer.*",
            id="answer",
        ),
        pytest.param(
            {"maxPromptBytes": 50},
            {"prompt": "p" * 100},
            r"agent at 'go', visit 1: the prompt has \d{3} bytes, 50 are allowed by 'limits.maxPromptBytes'",
            id="prompt",
        ),
    ],
)
def test_a_cast_that_goes_over_a_limit_fails(
    desk: Desk, limits: dict[str, Any], materia: dict[str, Any], message: str
) -> None:
    desk.loadout({"go": {"materia": "Go"}}, {"Go": materia}, limits=limits)
    desk.answers(go="é" * 15)
    ran = desk.run()
    assert ran.code == 1, ran
    failure = desk.records()[-1]["failure"]
    shown = f"{failure['kind']} at '{failure['socket']}', visit {failure['visit']}: {failure['message']}"
    assert re.fullmatch(message, shown)


def test_a_cast_with_a_full_journal_goes_on_with_a_higher_limit(desk: Desk) -> None:
    sockets = {name: {"materia": "Go", "edges": [{"to": to}]} for name, to in ("ab", "bc")}
    sockets |= {"c": {"materia": "Go", "edges": []}}
    materia = {"Go": {"command": ["echo", "gone"]}}
    desk.loadout(sockets, materia, limits={"maxJournalBytes": 1500})
    ran = desk.run()
    assert ran.code == 3, ran
    assert "1500 are allowed: raise 'limits.maxJournalBytes' and resume the cast" in ran.err
    assert desk.records()[-1]["type"] == "socket_finished"
    desk.loadout(sockets, materia, limits={"maxJournalBytes": 100_000})
    words = [sys.executable, "-m", "materiac", "resume", "--artifacts", str(desk.files)]
    subprocess.run(words, cwd=desk.folder, env=desk.environ(None), check=True, timeout=LONG_S)
    started = [record["socket"] for record in desk.records() if record["type"] == "socket_started"]
    assert started == ["a", "b", "c"]
    assert desk.records()[-1]["status"] == "complete"
