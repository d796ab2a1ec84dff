"""Turns of a model that is asked from this process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, Protocol

import pytest
from fake_models import (
    CLOSED,
    NEVER,
    OVERLOADED,
    SERVER_ERROR,
    UNAUTHORIZED,
    Answer,
    Asked,
    Call,
    Cut,
    FakeModels,
    Refusal,
    Script,
    Step,
    rate_limit,
)
from processes import needs_proc, wait_none

from materiac.agents import choose
from materiac.agents.protocol import (
    Agent,
    AgentError,
    AnswerLimitError,
    Progress,
    Reply,
    Request,
    ToolServer,
    Usage,
)

SCHEMA = {
    "type": "object",
    "properties": {"satisfied": {"type": "boolean"}, "context": {"type": "string"}},
    "required": ["satisfied", "context"],
    "additionalProperties": False,
}
WANTED = {"satisfied": False, "context": "it is ‚grün‘\u2028"}
READ_ONLY = ("read", "grep", "find", "ls")
CODING = (*READ_ONLY, "bash", "edit", "write")
PROVIDERS = ("openai", "openai-responses", "anthropic")


class Begin(Protocol):
    def __call__(
        self, script: Script, provider: str = ..., options: str = ...
    ) -> tuple[Agent, FakeModels]: ...


@pytest.fixture
def begin() -> Iterator[Begin]:
    with ExitStack() as stack:

        def begin(script: Script, provider: str = "openai", options: str = "") -> tuple[Agent, FakeModels]:
            fake = stack.enter_context(FakeModels(script))
            agent = choose.make(_spec(fake, provider, options))
            stack.callback(agent.close)
            return agent, fake

        yield begin


def _spec(fake: FakeModels, provider: str = "openai", options: str = "") -> str:
    url = fake.url if provider == "anthropic" else fake.v1
    return f"llm?base_url={url}{options}:{provider}:fake-1"


def _request(cwd: Path, *tools: str, **fields: Any) -> Request:
    given = {"prompt": "do it", "socket": "build", "materia": "Build", "visit": 1, "turn": 1, **fields}
    return Request(cwd=cwd, tools=tools, **given)


def _failed(reply: Reply) -> str:
    assert reply.stop == "error"
    assert reply.error is not None
    return reply.error


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_the_model_is_asked_with(tmp_path: Path, begin: Begin, provider: str) -> None:
    agent, fake = begin(["ok"], provider)
    reply = agent.turn(_request(tmp_path, *READ_ONLY, system="Be brief.", model="fake-2"))
    assert (reply.text, reply.model, reply.provider) == ("ok", "fake-2", provider)
    asked = fake.requests[0]
    assert (asked.model, asked.system.strip(), asked.tools) == ("fake-2", "Be brief.", READ_ONLY)
    assert asked.prompt == "do it"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_key_is_for_the_server_it_is_named_for(
    tmp_path: Path, begin: Begin, monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.setenv(name, "of-somebody-else")
    monkeypatch.setenv("WORK", "key-of-work")
    for options, expected in (("", "none"), ("&key=WORK", "key-of-work")):
        agent, fake = begin(["ok"], provider, options)
        agent.turn(_request(tmp_path))
        headers = fake.requests[0].headers or {}
        keys = headers.get("x-api-key"), headers.get("authorization")
        assert expected in [(key or "").removeprefix("Bearer ") for key in keys]
        assert not [value for value in headers.values() if "of-somebody-else" in value]


def test_commands_do_not_see_the_key(tmp_path: Path, begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORK", "value-of-work")
    script: list[Step] = [Call("bash", {"command": "echo [$WORK]"}), "done"]
    for listed, expected in ((), "[]\n"), (("WORK",), "[value-of-work]\n"):
        agent, fake = begin(script, options="&key=WORK")
        agent.turn(_request(tmp_path, *CODING, env=listed))
        assert fake.requests[1].results == (expected,)


def test_progress_and_events(tmp_path: Path, begin: Begin) -> None:
    (tmp_path / "a.txt").write_text("x" * 1000)
    agent, _ = begin([Answer("Let me see.", (Call("read", {"path": "a.txt"}),), "Hm."), "done"])
    told: list[Progress] = []
    reply = agent.turn(_request(tmp_path, *READ_ONLY, "fly", thinking="deep", progress=told.append))
    assert reply.text == "done"
    by_kind = {kind: "".join(p.text for p in told if p.kind == kind) for kind in {p.kind for p in told}}
    assert by_kind["thinking"] == "Hm."
    assert by_kind["text"] == "Let me see.done"
    assert by_kind["tool"] == 'read {"path":"a.txt"}'
    assert by_kind["result"] == "x" * 200 + " …"
    assert "thinking 'deep' is unknown" in by_kind["note"]
    assert "there is no tool 'fly'" in by_kind["note"]
    assert [event["type"] for event in reply.events] == ["note", "note", "tool", "result"]


@pytest.mark.parametrize(
    ("provider", "model", "where"),
    [
        ("openai", "gpt-5.4", ["reasoning_effort"]),
        ("openai-responses", "gpt-5.4", ["reasoning", "effort"]),
        ("anthropic", "claude-sonnet-4-6", ["output_config", "effort"]),
    ],
)
def test_thinking(tmp_path: Path, begin: Begin, provider: str, model: str, where: list[str]) -> None:
    agent, fake = begin(["ok", "ok"], provider)
    agent.turn(_request(tmp_path, model=model, thinking="high"))
    agent.turn(_request(tmp_path, model=model))
    found: list[Any] = [asked.body for asked in fake.requests]
    for name in where:
        found = [value and value.get(name) for value in found]
    assert found == ["high", None]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_cost_and_cache(tmp_path: Path, begin: Begin, provider: str) -> None:
    model = "claude-sonnet-4-6" if provider == "anthropic" else "gpt-5.4"
    agent, _ = begin([Answer("ok", usage=Usage(70, 9, 20, 10))] * 2, provider)
    usage = agent.turn(_request(tmp_path, model=model)).usage
    assert usage is not None
    assert (usage.input, usage.output, usage.cache_read, usage.cache_write) == (70, 9, 20, 10)
    assert 0 < usage.cost < 0.01
    unpriced = agent.turn(_request(tmp_path)).usage
    assert unpriced is not None
    assert unpriced.cost == 0


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("handoff", ["schema", "tool"])
def test_an_object(tmp_path: Path, begin: Begin, provider: str, handoff: str) -> None:
    def script(asked: Asked) -> Step:
        if asked.step == 0:
            return Call("ls", {})
        return json.dumps(WANTED) if asked.schema else Call("handoff", WANTED)

    agent, fake = begin(script, provider)
    reply = agent.turn(_request(tmp_path, *READ_ONLY, schema=SCHEMA, handoff=handoff))
    assert reply.data == WANTED
    assert json.loads(reply.text) == WANTED
    assert "handoff" in fake.requests[0].tools or fake.requests[0].schema
    agent.turn(_request(tmp_path, turn=2, session=reply.session, prompt="And now?"))
    assert "And now?" in fake.requests[2].messages[-1].text


def test_the_form_of_an_answer_is_the_way_where_the_model_knows_it(tmp_path: Path, begin: Begin) -> None:
    for provider, model in (("openai", "any"), ("anthropic", "claude-sonnet-4-6")):
        agent, fake = begin([json.dumps(WANTED)], provider)
        assert agent.turn(_request(tmp_path, model=model, schema=SCHEMA, handoff="schema")).data == WANTED
        assert fake.requests[0].schema is not None


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("step", "text"),
    [
        ("I am done.", "I am done."),
        (Call("handoff", '{"satisfied": tru'), "tru"),
        (Call("handoff", "[1]"), "[1]"),
    ],
    ids=["words", "no JSON", "no object"],
)
def test_an_object_that_is_none_is_given_back(
    tmp_path: Path, begin: Begin, provider: str, step: Step, text: str
) -> None:
    """Whoever asked puts it right, in the same session."""
    agent, fake = begin([step, Call("handoff", WANTED)], provider)
    asked = _request(tmp_path, schema=SCHEMA, handoff="tool")
    reply = agent.turn(asked)
    assert (reply.data, reply.stop) == (None, "stop")
    assert text in reply.text or (provider == "anthropic" and text != "I am done.")
    again = _request(
        tmp_path, schema=SCHEMA, handoff="tool", turn=2, session=reply.session, prompt="No: an object."
    )
    assert agent.turn(again).data == WANTED
    assert "No: an object." in fake.requests[1].messages[-1].text


def test_the_tool_has_the_name_that_the_prompt_has_for_it(tmp_path: Path, begin: Begin) -> None:
    agent, fake = begin([Call("give", WANTED)])
    server = ToolServer("materiac", "give", ("nobody", "starts", "it"), {})
    reply = agent.turn(_request(tmp_path, schema=SCHEMA, handoff="tool", tool_server=server))
    assert (reply.data, fake.requests[0].tools) == (WANTED, ("give",))


def test_a_schema_that_cannot_be_forced(tmp_path: Path, begin: Begin) -> None:
    agent, _ = begin(["ok"])
    with pytest.raises(AgentError, match="'openai' cannot be asked so: "):
        agent.turn(_request(tmp_path, schema={"type": "array"}, handoff="schema"))


def test_a_schema_that_nobody_forces(tmp_path: Path, begin: Begin) -> None:
    agent, fake = begin(["words"])
    reply = agent.turn(_request(tmp_path, schema=SCHEMA))
    assert (reply.text, reply.data, fake.requests[0].schema, fake.requests[0].tools) == (
        "words",
        None,
        None,
        (),
    )


@pytest.mark.parametrize("provider", PROVIDERS)
def test_calls_that_are_wrong_are_told_to_the_model(tmp_path: Path, begin: Begin, provider: str) -> None:
    calls = [
        Call("read", '{"path": '),
        Call("read", {"file": "a"}),
        Call("read", {"path": "../secret"}),
        Call("grep", {"pattern": "("}),
        Call("fly", {}),
    ]
    agent, fake = begin([*calls, "I give up."], provider)
    assert agent.turn(_request(tmp_path, *READ_ONLY)).text == "I give up."
    told = [" ".join(asked.results) for asked in fake.requests[1:]]
    for part, words in zip(told, ["path", "path", "outside", "subpattern", "fly"], strict=True):
        assert words in part


def test_a_model_that_never_calls_rightly(tmp_path: Path, begin: Begin) -> None:
    agent, _ = begin([Call("read", {"file": "a"})] * 30)
    reply = agent.turn(_request(tmp_path, *READ_ONLY))
    assert "read" in _failed(reply)
    assert reply.fault == "provider"


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("step", "fault", "retry", "message"),
    [
        (SERVER_ERROR, "transport", None, "answered with 500: the server had an error"),
        (OVERLOADED, "transport", None, "answered with 503: the server is overloaded"),
        (rate_limit(7), "rate", 7.0, "answered with 429: too many requests"),
        (
            UNAUTHORIZED,
            "provider",
            None,
            "answered with 401: the API key is not valid (the key is from 'WORK')",
        ),
        (Refusal(400, "no such model"), "provider", None, "answered with 400: no such model"),
        (Refusal(400, "", "context"), "context", None, "answered with 400: "),
        (Refusal(400, "the request exceeds the available context size"), "context", None, "context size"),
        (CLOSED, "transport", None, "failed: "),
        (Cut(Answer("half of it")), "transport", None, "failed: "),
        (Cut(Answer("half of it"), quiet=True), "transport", None, ""),
    ],
    ids=lambda value: str(value)[:20],
)
def test_failures(
    tmp_path: Path,
    begin: Begin,
    monkeypatch: pytest.MonkeyPatch,
    provider: str,
    step: Step,
    fault: str,
    retry: float | None,
    message: str,
) -> None:
    monkeypatch.setenv("WORK", "key-of-work")
    agent, fake = begin([step], provider, "&key=WORK")
    reply = agent.turn(_request(tmp_path))
    assert message in _failed(reply)
    assert (reply.fault, reply.retry_after_s, reply.session) == (fault, retry, None)
    assert len(fake.requests) == 1


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    agent = choose.make("llm?base_url=http://127.0.0.1:1/v1:openai:m")
    reply = agent.turn(_request(tmp_path))
    assert "connection" in _failed(reply)
    assert reply.fault == "transport"


GARBAGE = [
    ("text/html", "<h1>Welcome</h1>"),
    ("application/json", "[1, 2"),
    ("application/json", '{"x": 1}'),
    ("text/event-stream", "data: {\n\n"),
    ("text/event-stream", 'data: {"error": {"message": "it broke"}}\n\n'),
    ("text/event-stream", "data: [DONE]\n\n"),
    ("text/event-stream", ""),
]


class Garbage(BaseHTTPRequestHandler):
    """Answers with something that is no answer: which one, the key says."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        kind, text = GARBAGE[int(self.headers["Authorization"].rpartition("-")[2])]
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that is overridden
        pass


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("number", range(len(GARBAGE)))
def test_what_is_no_answer_is_no_success(
    tmp_path: Path, begin: Begin, monkeypatch: pytest.MonkeyPatch, provider: str, number: int
) -> None:
    """Also where the talk has an answer from before."""
    agent, _ = begin(["the first answer"], provider)
    first = agent.turn(_request(tmp_path, sessions=tmp_path / "s"))
    monkeypatch.setenv("WORK", f"garbage-{number}")
    with HTTPServer(("127.0.0.1", 0), Garbage) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        other = choose.make(f"llm?base_url=http://127.0.0.1:{server.server_port}&key=WORK:{provider}:fake-1")
        again = _request(tmp_path, sessions=tmp_path / "s", session=first.session, timeout_s=20)
        reply = other.turn(again)
        server.shutdown()
    assert _failed(reply)
    assert (reply.text, reply.fault) == ("", "transport")


def test_a_failure_says_what_was_used_until_then(tmp_path: Path, begin: Begin) -> None:
    agent, fake = begin([Call("ls", {}), SERVER_ERROR])
    reply = agent.turn(_request(tmp_path, *READ_ONLY))
    assert reply.usage == fake.served == Usage(100, 10)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("step", [SERVER_ERROR, Cut(Answer("half of it"))], ids=["500", "cut"])
def test_a_turn_that_broke_off_goes_on_where_it_was(
    tmp_path: Path, begin: Begin, provider: str, step: Step
) -> None:
    write = Call("write", {"path": "a.txt", "content": "a"})
    agent, fake = begin([write, step, "done", "other"], provider)
    sessions = tmp_path / "sessions"
    broken = agent.turn(_request(tmp_path, *CODING, sessions=sessions))
    assert broken.stop == "error"
    assert broken.session is not None
    again = _request(tmp_path, *CODING, sessions=sessions, session=broken.session)
    other = choose.make(agent.spec)
    assert other.turn(again).text == "done"
    assert fake.requests[2].messages == fake.requests[1].messages
    assert (
        other.turn(_request(tmp_path, sessions=sessions, session=broken.session, prompt="Else?")).text
        == "other"
    )
    assert fake.requests[3].messages[-1].text == "Else?"
    assert len(fake.requests[3].messages) == len(fake.requests[1].messages) + 1


def test_a_session_is_never_changed(tmp_path: Path, begin: Begin) -> None:
    """A cast that is resumed goes on with the session that its journal names, once or many times."""
    agent, fake = begin(["one", "two", "two again"])
    sessions = tmp_path / "sessions"
    first = agent.turn(_request(tmp_path, sessions=sessions))
    for _ in range(2):
        second = agent.turn(_request(tmp_path, sessions=sessions, session=first.session, prompt="more"))
        assert second.session != first.session
    assert fake.requests[1].messages == fake.requests[2].messages
    assert len(list(sessions.iterdir())) == 3
    assert {path.stat().st_mode & 0o777 for path in sessions.iterdir()} == {0o600}


def test_sessions_without_a_folder(tmp_path: Path, begin: Begin) -> None:
    agent, fake = begin(["one", "two"])
    first = agent.turn(_request(tmp_path))
    agent.turn(_request(tmp_path, session=first.session, prompt="more"))
    assert len(fake.requests[1].messages) == 3


@pytest.mark.parametrize("session", ["nowhere", "../../etc/passwd", "a" * 32], ids=["name", "path", "gone"])
def test_sessions_that_are_not_there(tmp_path: Path, begin: Begin, session: str) -> None:
    agent, _ = begin([])
    with pytest.raises(AgentError, match=r"no session|cannot go on with the session"):
        agent.turn(_request(tmp_path, sessions=tmp_path, session=session))


def test_a_session_that_is_damaged(tmp_path: Path, begin: Begin) -> None:
    agent, _ = begin(["one"])
    first = agent.turn(_request(tmp_path, sessions=tmp_path / "s"))
    (file,) = (tmp_path / "s").iterdir()
    for text in ("{", "[]", '{"messages": [1], "unanswered": ""}', "{}"):
        file.write_text(text)
        with pytest.raises(AgentError, match="cannot go on with the session"):
            agent.turn(_request(tmp_path, sessions=tmp_path / "s", session=first.session))


def test_the_files_of_a_session_hold_no_secret(
    tmp_path: Path, begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLOUD_TOKEN", "open-sesame")
    (tmp_path / ".env").write_text("open-sesame")
    agent, fake = begin([Call("read", {"path": ".env"}), "It is open-sesame.", "yes"])
    reply = agent.turn(_request(tmp_path, *READ_ONLY, sessions=tmp_path / "s"))
    assert fake.requests[1].results == ("open-sesame",)
    assert all("open-sesame" not in path.read_text() for path in (tmp_path / "s").iterdir())
    agent.turn(_request(tmp_path, sessions=tmp_path / "s", session=reply.session, prompt="Sure?"))
    assert fake.requests[2].messages[2].text == "***"


def test_an_answer_without_measure(tmp_path: Path, begin: Begin) -> None:
    agent, _ = begin(["x" * 5000, "y" * 90])
    with pytest.raises(AnswerLimitError, match="more than 100 bytes"):
        agent.turn(_request(tmp_path, max_bytes=100))
    assert agent.turn(_request(tmp_path, max_bytes=100)).text == "y" * 90


def test_an_answer_that_is_cut_by_its_length(tmp_path: Path, begin: Begin) -> None:
    agent, fake = begin([Answer("half", stop="length"), Answer("", stop="length")], options="&max_tokens=77")
    assert [(agent.turn(_request(tmp_path)).stop) for _ in range(2)] == ["length", "length"]
    assert 77 in fake.requests[0].body.values()


def test_the_budget_of_the_cast_ends_a_turn_between_its_tools(tmp_path: Path, begin: Begin) -> None:
    write = Call("write", {"path": "b.txt", "content": ""})
    agent, fake = begin([Call("ls", {}), write, "never"])
    reply = agent.turn(_request(tmp_path, *CODING, tokens_left=150))
    assert _failed(reply) == "the turn has used 220 tokens, the budget of the cast had 150 left"
    assert reply.usage == fake.served == Usage(200, 20)
    assert not (tmp_path / "b.txt").exists()


def test_an_answer_counts_whatever_it_used(tmp_path: Path, begin: Begin) -> None:
    agent, _ = begin(["done"])
    assert agent.turn(_request(tmp_path, *CODING, tokens_left=1)).text == "done"


def test_a_turn_has_a_number_of_requests(tmp_path: Path, begin: Begin) -> None:
    agent, fake = begin([Call("ls", {})] * 9, options="&max_requests=3")
    assert _failed(agent.turn(_request(tmp_path, *CODING))) == (
        "the turn came to 3 requests, which is 'max_requests'"
    )
    assert len(fake.requests) == 3


def test_usage_is_unknown_where_the_server_says_none(tmp_path: Path, begin: Begin) -> None:
    agent, _ = begin([Cut(Answer("half"), quiet=True)])
    assert agent.turn(_request(tmp_path)).usage is None


def test_a_turn_ends_soon_after_it_is_stopped(tmp_path: Path, begin: Begin) -> None:
    agent, fake = begin([Call("ls", {}), NEVER])
    stop, seconds = threading.Event(), list[float]()

    def end() -> None:
        fake.wait(2)
        seconds.append(time.monotonic())
        stop.set()

    thread = threading.Thread(target=end)
    thread.start()
    reply = agent.turn(_request(tmp_path, *CODING, stop=stop))
    assert time.monotonic() - seconds[0] < 2
    thread.join()
    assert (reply.stop, reply.usage) == ("aborted", Usage(100, 10))


def test_a_closed_agent_answers_no_more(tmp_path: Path, begin: Begin) -> None:
    agent, _ = begin(["ok"])
    agent.close()
    with pytest.raises(AgentError, match="was closed before 'build' was asked"):
        agent.turn(_request(tmp_path))


INTERRUPTED = """
import sys
from pathlib import Path
from materiac.agents import choose
from materiac.agents.protocol import Request
agent = choose.make(sys.argv[1])
given = {"socket": "build", "materia": "Build", "visit": 1, "turn": 1, "owner": "interrupted"}
try:
    agent.turn(Request(prompt="go", cwd=Path(sys.argv[2]), tools=("bash",), **given))
except KeyboardInterrupt:
    agent.close()
    print("interrupted")
"""


@needs_proc
def test_an_interrupt_ends_the_turn_and_its_command(tmp_path: Path) -> None:
    call = Call("bash", {"command": "touch begun; setsid sleep 600 & sleep 600"})
    with FakeModels([call, "never"]) as fake:
        command = [sys.executable, "-c", INTERRUPTED, _spec(fake), str(tmp_path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            until = time.monotonic() + 30
            while not (tmp_path / "begun").exists() and time.monotonic() < until:
                time.sleep(0.02)
            os.kill(process.pid, signal.SIGINT)
            assert process.communicate(timeout=30)[0] == "interrupted\n"
    wait_none(":interrupted.")
