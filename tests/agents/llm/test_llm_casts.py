"""Casts whose agents are models that are asked from this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fake_models import SERVER_ERROR, Answer, Asked, Call, Cut, FakeModels, Step, with_faults

from materiac.agents.protocol import Usage
from materiac.cli import main

pytestmark = pytest.mark.slow

ITEMS = [{"title": "feat: add a", "context": "a.txt"}, {"title": "feat: add b", "context": "b.txt"}]


def _loadout(handoff: str, spec: str) -> dict[str, Any]:
    return {
        "agents": {"default": spec, "handoff": handoff},
        "recovery": {"firstPauseMs": 10},
        "loadouts": {
            "Work": {
                "entry": "plan",
                "sockets": {
                    "plan": {"materia": "Planner", "edges": [{"to": "build"}]},
                    "build": {"materia": "Builder", "edges": [{"to": "check"}]},
                    "check": {
                        "materia": "Checker",
                        "advance": {
                            "cursor": "workItemIndex",
                            "items": "state.workItems",
                            "when": "satisfied",
                        },
                        "edges": [
                            {"when": "not_satisfied", "to": "build", "maxTraversals": 1},
                            {"when": "satisfied", "to": "build"},
                        ],
                    },
                },
                "loops": {
                    "work": {
                        "sockets": ["build", "check"],
                        "consumes": {"from": "plan", "output": "workItems"},
                        "exits": [
                            {"id": "out", "from": "check", "condition": "satisfied", "targetSocketId": "end"}
                        ],
                    }
                },
            }
        },
        "materia": {
            "Planner": {"prompt": "PLAN {{request}}", "generator": True, "tools": "readOnly"},
            "Builder": {"prompt": "BUILD {{workItem.context}}", "tools": "coding"},
            "Checker": {"prompt": "CHECK {{workItem.context}}", "parse": "json", "tools": "readOnly"},
        },
    }


class Model:
    """Plans two items, writes the file of each, and sends the first one back once."""

    def __init__(self) -> None:
        self._checks = 0

    def __call__(self, asked: Asked) -> Step:
        prompt = asked.prompt
        if prompt.startswith("PLAN"):
            return self._handed(asked, {"workItems": ITEMS})
        if prompt.startswith("BUILD"):
            name = prompt.split()[1]
            write = Call("write", {"path": name, "content": f"{prompt.count('rework')}\n"})
            return Answer(calls=(write,), usage=Usage(200, 20)) if asked.step == 0 else "built"
        self._checks += 1
        return self._handed(asked, {"satisfied": self._checks > 1, "context": "look again"})

    def _handed(self, asked: Asked, data: dict[str, Any]) -> Step:
        if "handoff" in asked.tools:
            return Call("handoff", data)
        return json.dumps(data)


@pytest.mark.parametrize("handoff", ["text", "schema", "tool"])
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_cast(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    provider: str,
    handoff: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MATERIAC_AGENT", raising=False)
    faults: dict[int, Step] = {2: SERVER_ERROR, 4: Cut(Answer("bui"))}
    with FakeModels(with_faults(Model(), faults)) as fake:
        url = fake.url if provider == "anthropic" else fake.v1
        loadout = _loadout(handoff, f"llm?base_url={url}:{provider}:fake-1")
        (tmp_path / "work.json").write_text(json.dumps(loadout))
        code = main(["run", "work.json", "--request", "it", "--json"])
        result = json.loads(capsys.readouterr().out)
        assert (code, result["status"]) == (0, "complete"), result
        assert result["path"] == ["plan", "build", "check", "build", "check", "build", "check"]
        assert (tmp_path / "a.txt").exists()
        assert (tmp_path / "b.txt").exists()
        # Of the answer that is cut, messages tell a token before the end.
        cut = Usage(100, 1) if provider == "anthropic" else Usage()
        used = result["usage"]["total"]
        assert used["input"] == fake.served.input + cut.input
        assert used["output"] == fake.served.output + cut.output
        forced = [asked for asked in fake.requests if asked.schema or "handoff" in asked.tools]
        assert bool(forced) == (handoff != "text")


def test_a_result_that_is_handed_over_twice_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MATERIAC_AGENT", raising=False)
    verdicts = tuple(Call("handoff", {"satisfied": told, "context": "x"}) for told in (True, False))
    with FakeModels([Answer(calls=verdicts), Call("handoff", {"satisfied": False, "context": "y"})]) as fake:
        edges = [{"when": "satisfied", "to": "end"}, {"when": "not_satisfied", "to": "end"}]
        loadout = {
            "loadouts": {"L": {"entry": "a", "sockets": {"a": {"materia": "A", "edges": edges}}}},
            "materia": {"A": {"prompt": "Judge.", "parse": "json", "handoff": "tool"}},
        }
        (tmp_path / "judge.json").write_text(json.dumps(loadout))
        spec = f"llm?base_url={fake.v1}:openai:fake-1"
        code = main(["run", "judge.json", "--request", "it", "--agent", spec, "--json"])
        result = json.loads(capsys.readouterr().out)
        assert (code, result["data"]["envelope"]) == (0, {"satisfied": False, "context": "y"})
        assert "was called again after it had accepted a result" in fake.requests[1].prompt
