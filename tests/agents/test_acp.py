"""Agents that speak ACP, played with the agent's side of the library: what they ask, send and do wrong."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from acp import RequestError
from back_ends import OWNER, request
from processes import marked, told, wait_none

from materiac.agents import choose
from materiac.agents.acp.faults import failure
from materiac.agents.protocol import Agent, AgentError, AnswerLimitError, Progress, Reply, Request, Usage
from materiac.runtime.handoff_tool import tool_server

Json = dict[str, Any]

MARK = f":{OWNER}."
STAGE = Path(__file__).with_name("acp_stage.py")
ALL = ["allow_always", "allow_once", "reject_always", "reject_once"]
SCHEMA = {
    "type": "object",
    "properties": {"satisfied": {"type": "boolean"}},
    "required": ["satisfied"],
    "additionalProperties": False,
}


class Play:
    """An agent that plays a part in front of us, and what it wrote down of it."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "part.json"
        self.cwd = folder / "work"
        self.cwd.mkdir()
        self.agents: list[Agent] = []

    def begin(self, *prompts: list[list[Any]], options: str = "", **part: Any) -> Agent:
        self.file.write_text(json.dumps({"prompts": prompts or [[]], **part}), encoding="utf-8")
        self.agents.append(
            choose.make(f"acp{options}:{json.dumps([sys.executable, str(STAGE), str(self.file)])}")
        )
        return self.agents[-1]

    def turn(self, *steps: list[Any], scope: str = "coding", settings: Any = (), **fields: Any) -> Reply:
        """One turn of an agent that plays these steps, and has these settings."""
        return self.begin([*steps], settings=settings).turn(self.request(scope, **fields))

    def turns(self, *prompts: list[list[Any]], **fields: Any) -> list[Reply]:
        """A turn of one agent for each of these prompts."""
        agent = self.begin(*prompts)
        return [agent.turn(self.request(visit=number, **fields)) for number, _ in enumerate(prompts, 1)]

    def request(self, scope: str = "coding", **fields: Any) -> Request:
        return request(self.cwd, scope, **fields)

    def log(self, key: str) -> list[Json]:
        """The lines with a key that the agent wrote down."""
        lines = self.file.with_suffix(".log").read_text(encoding="utf-8").splitlines()
        return [line for line in map(json.loads, lines) if key in line]


@pytest.fixture
def play(tmp_path: Path) -> Iterator[Play]:
    play = Play(tmp_path)
    yield play
    for agent in play.agents:
        agent.close()
    assert not (left := marked(MARK)), told(left)


def test_what_is_told_and_what_is_heard(play: Play) -> None:
    heard: list[Progress] = []
    reply = play.turn(
        ["think", "Hm."],
        ["say", "I look"],
        ["say", " first."],
        ["tool", "1", "read", "Read a.txt"],
        ["over", "1", "completed", "plover\nand more"],
        ["say", "It is "],
        ["say", "plover."],
        progress=heard.append,
        system="Be brief.",
    )
    assert (reply.text, reply.stop, reply.provider, reply.usage) == ("It is plover.", "stop", "stage", None)
    assert play.log("client") == [{"client": "materiac", "files": True}]
    assert play.log("prompt") == [{"prompt": "Be brief.\n\ndo it"}]
    assert [(part.kind, part.text) for part in heard] == [
        ("thinking", "Hm."),
        ("text", "I look"),
        ("text", " first."),
        ("tool", "Read a.txt a=1"),
        ("result", "plover and more"),
        ("text", "It is "),
        ("text", "plover."),
    ]
    assert [event["type"] for event in reply.events] == ["tool", "result"]


def test_which_text_is_the_answer(play: Play) -> None:
    picture = {"sessionUpdate": "agent_message_chunk", "content": {"type": "image"}}
    replies = play.turns(
        [["say_as", "1", "Compacting."], ["say_as", "2", "Yes"], ["say_as", "2", "!"]],
        [["say", "Yes!"], ["tool", "1", "other", "todo"], ["say", ""]],
        [["tool", "1", "other", "todo"]],
        [["raw", {"update": picture}]],
    )
    assert [reply.text for reply in replies] == ["Yes!", "Yes!", "", ""]


def test_what_is_no_message_is_passed_over(play: Play) -> None:
    reply = play.turn(
        *(
            ["garbage", text]
            for text in ("Welcome!", "[1]", "7", '{"id": {}}', '{"method": []}', '{"id": 9}')
        ),
        ["garbage", '{"jsonrpc": "2.0", "id": 99, "method": "craft/unknown", "params": {}}'],
        ["garbage", '{"jsonrpc": "2.0", "id": 98, "method": "session/request_permission", "params": {}}'],
        *(["raw", {"update": update}] for update in (None, {}, {"sessionUpdate": "new_kind"})),
        ["raw", {"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": 5}}}],
        ["raw", {"update": {"sessionUpdate": "usage_update", "cost": {"amount": "much", "currency": "USD"}}}],
        ["raw", {"update": {"sessionUpdate": "tool_call_update", "status": "completed", "content": 3}}],
        ["raw", {"sessionId": "another", "update": {"sessionUpdate": "agent_message_chunk"}}],
        ["say", "half \ud83d of it"],
    )
    assert (reply.text, reply.stop) == ("half \N{REPLACEMENT CHARACTER} of it", "stop")


PERMISSIONS = {
    # kind: the scopes that allow it
    "read": ("readOnly", "coding"),
    "search": ("readOnly", "coding"),
    "think": ("readOnly", "coding"),
    "edit": ("coding",),
    "delete": ("coding",),
    "move": ("coding",),
    "execute": ("coding",),
    "fetch": ("coding",),
    "other": ("coding",),
}


def test_permissions_go_as_far_as_the_tools(play: Play) -> None:
    agent = play.begin([["ask", kind, kind, kind, ALL] for kind in PERMISSIONS])
    for scope in ("none", "readOnly", "coding"):
        play.file.with_suffix(".log").unlink(missing_ok=True)
        reply = agent.turn(play.request(scope))
        got = {line["asked"]: line["got"] for line in play.log("asked")}
        allowed = {kind for kind, scopes in PERMISSIONS.items() if scope in scopes}
        assert got == {kind: "allow_once" if kind in allowed else "reject_once" for kind in PERMISSIONS}
        refused = {event["text"] for event in reply.events}
        assert refused == {f"refused: {kind}" for kind in PERMISSIONS if kind not in allowed}


def test_the_options_that_there_are(play: Play) -> None:
    play.turn(
        ["ask", "1", "edit", "for always", ["allow_always", "reject_always"]],
        ["ask", "2", "execute", "never", ["allow_always", "reject_always"]],
        ["ask", "3", "execute", "no way to refuse", ["allow_once"]],
        ["ask", "4", "edit", "no way at all", []],
        scope="none",
        tools=("edit",),
    )
    got = [line["got"] for line in play.log("asked")]
    assert got == ["allow_always", "reject_always", "cancelled", "cancelled"]


def test_files_are_those_of_the_working_folder(play: Play) -> None:
    outside = play.cwd.parent / "outside.txt"
    outside.write_text("secret", encoding="utf-8")
    (play.cwd / "a.txt").write_text("one\ntwo\nthree\n", encoding="utf-8")
    (play.cwd / "link").symlink_to(outside)
    inside = str(play.cwd / "a.txt")
    play.turn(
        ["read", inside],
        ["read_lines", inside, 2, 1],
        ["read", str(play.cwd / "missing.txt")],
        ["read", str(outside)],
        ["read", str(play.cwd / "link")],
        ["read", str(play.cwd)],
        ["write_file", str(play.cwd / "new" / "b.txt"), "bé"],
        ["write_file", str(outside), "no"],
        ["write_file", str(play.cwd / "link"), "no"],
        ["terminal"],
    )
    texts = [line["got"] for line in play.log("got")]
    assert texts == [{"content": "one\ntwo\nthree\n"}, {"content": "two"}, {}]
    assert [line["code"] for line in play.log("code")] == [-32002, *[-32603] * 5, -32601]
    assert (play.cwd / "new" / "b.txt").read_text(encoding="utf-8") == "bé"
    assert outside.read_text(encoding="utf-8") == "secret"


def test_files_go_as_far_as_the_tools(play: Play) -> None:
    (play.cwd / "a.txt").write_text("one", encoding="utf-8")
    agent = play.begin([["read", "a.txt"], ["write_file", "b.txt", "two"]])
    for scope in ("readOnly", "none"):
        agent.turn(play.request(scope))
    assert [line["got"] for line in play.log("got")] == [{"content": "one"}]
    refused = [f"not allowed: the tools here are '{scope}'" for scope in ("readOnly", "none", "none")]
    assert [line["error"] for line in play.log("error")] == refused
    assert not (play.cwd / "b.txt").exists()


@pytest.mark.slow
def test_an_agent_may_have_files_of_its_own(play: Play) -> None:
    play.begin([["say", "ok"]], options="?files=own").turn(play.request())
    assert play.log("client") == [{"client": "materiac", "files": False}]


def test_the_tool_to_hand_over_by_is_allowed_and_no_other(play: Play, tmp_path: Path) -> None:
    play.turn(
        ["ask", "1", "other", "handoff (materiac MCP Server)", ALL],
        ["ask", "mcp_materiac_handoff__2", "other", '{"satisfied": true}', ALL],
        ["tool", "3", "other", "mcp__materiac__handoff"],
        ["ask", "3", "other", "{}", ALL],
        ["ask", "4", None, "materiac_handoff", ALL],
        ["ask", "5", "other", "handoffs", ALL],
        ["ask", "6", "execute", "handoff", ALL],
        ["ask", "7", "edit", "handoff", ALL],
        scope="none",
        tool_server=tool_server(tmp_path / "tool", SCHEMA),
    )
    assert [line["got"] for line in play.log("asked")] == ["allow_once"] * 4 + ["reject_once"] * 3
    assert [line["servers"] for line in play.log("new")] == [["materiac"]]


def test_a_session_is_kept_in_its_process(play: Play) -> None:
    agent = play.begin([["say", "one"]], [["say", "two"]])
    first = agent.turn(play.request())
    second = agent.turn(play.request(turn=2, session=first.session))
    assert (second.text, second.session) == ("two", first.session)
    assert len(play.log("new")) == 1
    third = agent.turn(play.request(visit=2))
    assert third.session is not None
    assert first.session is not None
    assert third.session.split(".") == [first.session.split(".")[0], "2"]


@pytest.mark.slow
def test_a_session_with_another_tool_server_is_opened_anew(play: Play, tmp_path: Path) -> None:
    agent = play.begin([["say", "one"]], [["say", "two"]])
    first = agent.turn(play.request(tool_server=tool_server(tmp_path / "1", SCHEMA)))
    server = tool_server(tmp_path / "2", SCHEMA)
    second = agent.turn(play.request(turn=2, session=first.session, tool_server=server))
    assert (second.text, second.session) == ("two", first.session)
    assert play.log("load") == [{"load": first.session, "servers": ["materiac"]}]
    assert len(play.log("client")) == 2


@pytest.mark.slow
def test_an_agent_that_loads_no_sessions_has_none(play: Play) -> None:
    agent = play.begin([["say", "one"]], loads=False)
    assert agent.turn(play.request()).session is None


@pytest.mark.slow
def test_a_session_that_is_lost_is_made_up_for_by_a_fresh_one(play: Play) -> None:
    agent = play.begin([["say", "one"]], at={"load": ["fail", -32002, "Resource not found", None]})
    reply = agent.turn(play.request(session="gone"))
    assert (reply.stop, reply.fault) == ("error", "context")
    assert reply.error is not None
    assert reply.error.endswith("cannot go on with the session 'gone': Resource not found")
    assert agent.turn(play.request()).text == "one"


@pytest.mark.slow
def test_processes_see_the_secrets_of_their_materia_alone(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOOR_KEY", "open-sesame")
    agent = play.begin([["say", "one"]])
    pids = [
        str(agent.turn(play.request(env=env)).session).split(".")[0]
        for env in ((), ("DOOR_KEY",), (), ("DOOR_KEY",))
    ]
    assert len(set(pids)) == 2
    assert pids[:2] == pids[2:]
    keys = [b"DOOR_KEY=open-sesame" in Path(f"/proc/{pid}/environ").read_bytes() for pid in pids[:2]]
    assert keys == [False, True]


@pytest.mark.slow
def test_a_process_that_has_ended_is_replaced(play: Play) -> None:
    agent = play.begin([["say", "one"]])
    first = agent.turn(play.request())
    os.kill(int(str(first.session).split(".")[0]), 9)
    wait_none(MARK)
    second = agent.turn(play.request(turn=2, session=first.session))
    if second.fault == "transport":  # it was asked before its end was seen
        second = agent.turn(play.request(turn=2, session=first.session))
    assert (second.text, second.session) == ("one", first.session)
    assert [line["load"] for line in play.log("load")] == [first.session]


OPTIONS = [
    {
        "id": "m",
        "name": "Model",
        "category": "model",
        "type": "select",
        "currentValue": "large",
        "options": [{"value": "large", "name": "L"}, {"value": "small", "name": "S"}],
    },
    {
        "id": "t",
        "name": "Thinking",
        "category": "thought_level",
        "type": "select",
        "currentValue": "off",
        "options": [{"group": "g", "name": "G", "options": [{"value": "high", "name": "H"}]}],
    },
]


def test_the_model_and_the_thinking_are_set(play: Play) -> None:
    reply = play.turn(["say", "ok"], settings=OPTIONS, model="small", thinking="high")
    assert play.log("set") == [{"set": "m", "value": "small"}, {"set": "t", "value": "high"}]
    assert reply.events == ()


@pytest.mark.slow
def test_a_model_that_is_not_offered(play: Play) -> None:
    with pytest.raises(AgentError, match=r"no model 'smalls': did you mean 'small'\?"):
        play.turn(["say", "ok"], settings=OPTIONS, model="smalls")


@pytest.mark.slow
def test_what_cannot_be_set_is_told(play: Play) -> None:
    reply = play.turn(["say", "ok"], settings=OPTIONS[1:], model="small", thinking="low")
    assert [event["text"] for event in reply.events] == [
        "the agent has no choice of model: 'small' is left out",
        "the agent knows no thinking 'low': it has 'high'",
    ]


def test_usage_is_what_is_told(play: Play) -> None:
    def prompt(cost: float) -> list[list[Any]]:
        usage = {
            "inputTokens": 7,
            "outputTokens": 2,
            "totalTokens": 13,
            "cachedReadTokens": 3,
            "cachedWriteTokens": 1,
        }
        update = {
            "sessionUpdate": "usage_update",
            "used": 9,
            "size": 99,
            "cost": {"amount": cost, "currency": "USD"},
        }
        return [["raw", {"update": update}], ["end", {"stopReason": "end_turn", "usage": usage}]]

    agent = play.begin(prompt(0.25), prompt(0.75))
    first = agent.turn(play.request())
    assert first.usage == Usage(7, 2, 3, 1, 0.25)
    assert agent.turn(play.request(turn=2, session=first.session)).usage == Usage(7, 2, 3, 1, 0.5)


ENDS = {
    "end_turn": ("stop", "so far"),
    "max_tokens": ("length", "so far"),
    "max_turn_requests": ("length", "so far"),
    "refusal": ("error", ""),
}


def test_why_a_turn_ends(play: Play) -> None:
    prompts: list[list[list[Any]]] = [[["say", "so far"], ["end", {"stopReason": end}]] for end in ENDS]
    replies = play.turns(*prompts)
    assert [(reply.stop, reply.text) for reply in replies] == list(ENDS.values())
    assert replies[-1].error == "the agent refuses to go on with this"


@pytest.mark.parametrize(
    ("code", "message", "data", "fault", "wait_s"),
    [
        (429, "slow down, retry after 7 s", None, "rate", 7.0),
        (-32603, "Internal error", {"details": "429 Too Many Requests"}, "rate", None),
        (500, "oops", None, "transport", None),
        (-32603, "Internal error", {"error": {"message": "fetch failed"}}, "transport", None),
        (-32603, "API Error: 529 overloaded", None, "transport", None),
        (-32603, "the server had an error", None, "transport", None),
        (-32603, "prompt is too long: 210000 tokens", None, "context", None),
        (400, "input exceeds the context window", None, "context", None),
        (401, "the key is wrong", None, "provider", None),
        (-32000, "Authentication required", None, "provider", None),
        (-32603, "what?", "more", "provider", None),
        (-32603, "no", ["a", "list"], "provider", None),
    ],
)
def test_what_an_error_comes_from(
    code: int, message: str, data: Any, fault: str, wait_s: float | None
) -> None:
    said, *rest = failure(RequestError(code, message, data))
    assert rest == [fault, wait_s]
    assert message in said


def test_an_error_is_no_answer(play: Play) -> None:
    reply = play.turn(["say", "half"], ["fail", 429, "slow down", None])
    assert (reply.stop, reply.text, reply.fault) == ("error", "", "rate")
    assert reply.error == f"'{sys.executable}' failed: slow down"


@pytest.mark.slow
def test_a_crash_is_a_broken_connection(play: Play) -> None:
    agent = play.begin([["say", "half"], ["crash", 3]], [["say", "whole"]])
    reply = agent.turn(play.request())
    assert (reply.stop, reply.text, reply.fault) == ("error", "", "transport")
    assert reply.error == f"'{sys.executable}' ended with exit code 3: it burns"
    assert agent.turn(play.request()).text == "whole"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("at", "words"),
    [
        ({"initialize": ["crash", 3]}, "ended with exit code 3: it burns"),
        ({"new": ["crash", 0]}, "ended with exit code 0"),
        ({"new": ["fail", -32000, "Authentication required", None]}, r"log in .* first \('By the door'\)"),
        ({"new": ["fail", -32603, "no", {"details": "disk full"}]}, "gives no session: no: disk full"),
    ],
    ids=["crash at once", "crash", "login", "refusal"],
)
def test_an_agent_that_gives_no_session(play: Play, at: Json, words: str) -> None:
    with pytest.raises(AgentError, match=words):
        play.begin([["say", "ok"]], at=at).turn(play.request())


@pytest.mark.slow
def test_another_version_of_the_protocol(play: Play) -> None:
    with pytest.raises(AgentError, match="speaks version 2 of the protocol, expected 1"):
        play.begin([["say", "ok"]], version=2).turn(play.request())


@pytest.mark.slow
@pytest.mark.parametrize("command", ["echo hello", "cat", "true"])
def test_a_program_that_speaks_something_else(play: Play, command: str) -> None:
    program = command.split(maxsplit=1)[0]
    agent = choose.make(f"acp:{command}")
    play.agents.append(agent)
    with pytest.raises(AgentError, match=program):
        agent.turn(play.request())


@pytest.mark.slow
def test_an_answer_may_be_large_but_not_larger(play: Play) -> None:
    agent = play.begin([["huge", 3_000_000]])
    assert len(agent.turn(play.request()).text) == 3_000_000
    with pytest.raises(AnswerLimitError, match="more than 1000 bytes"):
        agent.turn(play.request(max_bytes=1000))


@pytest.mark.slow
def test_a_line_without_an_end(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("materiac.agents.acp.program.MAX_LINE", 100_000)
    with pytest.raises(AgentError, match="a line of more than 100000 bytes"):
        play.turn(["huge", 3_000_000])


def test_a_turn_that_is_stopped_is_cancelled(play: Play) -> None:
    agent, stop = play.begin([["say", "half"], ["wait"]]), threading.Event()
    reply = agent.turn(play.request(stop=stop, progress=lambda _: stop.set()))
    assert reply.stop == "aborted"
    assert play.log("cancel")


def test_nothing_is_asked_of_what_was_closed(play: Play) -> None:
    agent = play.begin([["say", "ok"]])
    agent.close()
    with pytest.raises(AgentError, match="was closed before 'build' was asked"):
        agent.turn(play.request())


@pytest.mark.slow
def test_a_missing_key_is_named(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOOR_KEY", "open-sesame")
    reply = play.turn(["fail", 401, "no API key", None])
    assert reply.error is not None
    assert "DOOR_KEY" in reply.error
    assert "acp?env=NAME" in reply.error


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("acp", "names no program"),
        ("acp:", "names no program"),
        ("acp:  ", "names no program"),
        ("acp:[]", "names no program"),
        ('acp:[""]', "is no list of texts"),
        ("acp:[1]", "is no list of texts"),
        ("acp:['", "cannot be read"),
        ("acp:'", "cannot be read"),
        ("acp:no-such-program", "'no-such-program' is not on the PATH"),
        ("acp:/no/such", "'/no/such' does not exist or cannot be run"),
        ("acp?model=x:cat", "no option 'model'"),
        ("acp?env=A&env=B:cat", "there twice"),
        ("acp?files=mine:cat", "'files' is 'mine', expected 'ours' or 'own'"),
    ],
)
def test_specs_that_are_none(spec: str, words: str) -> None:
    with pytest.raises(AgentError, match=words):
        choose.make(spec)
