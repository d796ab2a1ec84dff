"""How an object is handed over: held to a schema, or through a tool, which is really served and called."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from samples import Json, cast, loadout, socket

from materiac.agents.protocol import Abilities, Reply, Request, ToolServer
from materiac.runtime.journal import read
from materiac.runtime.replay import replay
from materiac.runtime.run import Result

CLIENT = {"name": "test", "version": "1"}
WHOLE = {"assign": {"all": "$"}}
GUARDED = [{"when": "satisfied", "to": "end"}, {"when": "not_satisfied", "to": "end"}]


def called(server: ToolServer, *arguments: Json) -> list[Json]:
    """Call the tool as an MCP client does; gives the results."""
    messages: list[Json] = [
        {
            "id": 0,
            "method": "initialize",
            "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT},
        },
        {"method": "notifications/initialized"},
        *(
            {"id": n, "method": "tools/call", "params": {"name": server.tool, "arguments": part}}
            for n, part in enumerate(arguments, 1)
        ),
    ]  # fmt: skip
    lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)
    done = subprocess.run(server.command, input=lines, capture_output=True, text=True, check=True, timeout=60)
    replies = {reply["id"]: reply for reply in map(json.loads, done.stdout.splitlines())}
    return [replies[n]["result"] for n in range(1, len(arguments) + 1)]


class Able:
    """Calls the tool with what it is given for each turn; where there is none it gives the object."""

    spec = "able"

    def __init__(self, abilities: Abilities, *turns: list[Json]) -> None:
        self.abilities = abilities
        self.requests: list[Request] = []
        self._turns = list(turns)

    def turn(self, request: Request) -> Reply:
        self.requests.append(request)
        objects = self._turns.pop(0)
        if request.tool_server is not None:
            called(request.tool_server, *objects)
            return Reply("I have handed it over.")
        if request.handoff == "schema":
            return Reply("as asked", data=objects[0])
        return Reply(json.dumps(objects[0]))

    def close(self) -> None:
        """Nothing was started."""


TOOL, SCHEMA = Abilities(tool_server=True, schema=True), Abilities(schema=True)


def judged(tmp_path: Path, agent: Able, handoff: str, **fields: Any) -> Result:
    materia = {"Judge": {"prompt": "Judge.", "handoff": handoff}}
    sockets = {"a": {"materia": "Judge", "parse": "json", "edges": GUARDED, **fields}, "b": socket()}
    return cast(loadout(sockets, materia=materia), tmp_path, agent)


def chosen(result: Result) -> list[tuple[str, str, str]]:
    found = [
        one.fields for one in read(result.folder / "events.jsonl").records if one.type == "handoff_chosen"
    ]
    return [(one["wanted"], one["taken"], one["why"]) for one in found]


def test_through_a_tool(tmp_path: Path) -> None:
    agent = Able(TOOL, [{"satisfied": True, "context": "all is well"}])
    done = judged(tmp_path, agent, "tool")
    assert done.status == "complete"
    assert done.cast.knowledge.state["envelope"] == {"satisfied": True, "context": "all is well"}
    assert chosen(done) == [("tool", "tool", "the materia asks for it")]
    assert "one call of the tool 'handoff'" in agent.requests[0].prompt
    assert "Answer with exactly one JSON object" not in agent.requests[0].prompt
    assert replay(done.folder).difference is None
    assert replay(done.folder).status == "complete"


@pytest.mark.parametrize(
    ("calls", "problem"),
    [
        pytest.param([], "the tool 'handoff' was not called", id="no call"),
        pytest.param([{"satisfied": True}] * 2, "the tool 'handoff' was called again", id="a second call"),
    ],
)
def test_one_call_and_no_other(tmp_path: Path, calls: list[Json], problem: str) -> None:
    agent = Able(TOOL, calls, [{"satisfied": True}])
    done = judged(tmp_path, agent, "tool")
    assert (done.status, len(agent.requests)) == ("complete", 2)
    assert problem in agent.requests[1].prompt
    assert replay(done.folder).status == "complete"
    failed = judged(tmp_path, Able(TOOL, calls, calls), "tool")
    assert failed.cast.failure is not None
    assert failed.cast.failure["kind"] == "output"
    assert problem in failed.cast.failure["message"]


def test_held_to_a_schema(tmp_path: Path) -> None:
    agent = Able(SCHEMA, [{"satisfied": False, "context": None}])
    done = judged(tmp_path, agent, "schema")
    assert done.cast.knowledge.state["envelope"] == {"satisfied": False}
    assert chosen(done) == [("schema", "schema", "the materia asks for it")]
    assert agent.requests[0].schema is not None
    assert agent.requests[0].schema["required"] == ["satisfied", "context"]
    assert replay(done.folder).status == "complete"


@pytest.mark.parametrize(
    ("abilities", "handoff", "fields", "taken", "why"),
    [
        (SCHEMA, "tool", {}, "schema", "the agent takes no tool server"),
        (Abilities(), "tool", {}, "text", "the agent takes no tool server"),
        (Abilities(), "schema", {}, "text", "the agent cannot be held to a schema"),
        (SCHEMA, "schema", WHOLE, "text", "the whole object is assigned, whatever fields it has"),
    ],
    ids=["schema for tool", "text for tool", "text for schema", "no schema"],
)  # fmt: skip
def test_what_the_agent_cannot_do(
    tmp_path: Path, abilities: Abilities, handoff: str, fields: Json, taken: str, why: str
) -> None:
    done = judged(tmp_path, Able(abilities, [{"satisfied": True}]), handoff, **fields)
    assert done.status == "complete"
    assert chosen(done) == [(handoff, taken, why)]
    assert replay(done.folder).status == "complete"


def test_in_the_text_by_default(tmp_path: Path) -> None:
    agent = Able(TOOL, [{"satisfied": True}])
    done = judged(tmp_path, agent, "text")
    assert (done.status, chosen(done)) == ("complete", [])
    assert (agent.requests[0].handoff, agent.requests[0].schema) == ("text", None)
