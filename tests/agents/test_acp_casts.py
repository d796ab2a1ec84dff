"""Casts with an agent that speaks ACP, in front of a fake model."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from fake_models import Asked, Call, FakeModels, Step, rate_limit
from samples import cast, loadout, socket

from materiac.agents import choose
from materiac.runtime.journal import read

AGENT = Path(__file__).with_name("acp_agent.py")
ENDS = {"edges": [{"when": "satisfied", "to": "end"}, {"when": "not_satisfied", "to": "end"}]}


def test_an_object_is_handed_over_at_the_second_try(tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()

    def script(asked: Asked) -> Step:
        steps: list[Step] = [
            rate_limit(0),
            Call("write", {"path": "a.txt", "content": "plover"}),
            "It is done.",
            Call("handoff", {"satisfied": "yes"}),
            Call("handoff", {"satisfied": True}),
            "Handed over.",
        ]
        return steps[asked.number - 1]

    materia = {"Builder": {"prompt": "Build it.", "tools": "coding", "handoff": "tool"}}
    config = loadout({"build": socket(materia="Builder", parse="json", **ENDS)}, materia=materia)
    config["recovery"] = {"firstPauseMs": 1}
    with FakeModels(script) as fake:
        agent = choose.make(f"acp:{json.dumps([sys.executable, str(AGENT), fake.v1, str(home)])}")
        result = cast(config, work, agent)
    assert result.status == "complete"
    assert (work / "a.txt").read_text(encoding="utf-8") == "plover"
    turns = [
        record.fields for record in read(result.folder / "events.jsonl").records if "stop" in record.fields
    ]
    assert [(turn["stop"], turn["fault"]) for turn in turns] == [
        ("error", "rate"),
        ("stop", None),
        ("stop", None),
    ]
    assert turns[1]["session"] == turns[2]["session"]
    assert turns[1]["handoff"]["problems"] == ["the tool 'handoff' was not called"]
    said = [message.text for message in fake.requests[-1].messages]
    assert "It is done." in said
    assert any(
        "'satisfied' is a string, expected true or false" in text for text in fake.requests[-2].results
    )
