"""What is Pi's own: how it is chosen and started, its sessions, its processes, its keys."""

from __future__ import annotations

import json
import os
import signal
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from agent_programs import KEY, aim, program
from back_ends import request
from fake_models import Answer, Call, FakeModels, Script
from processes import marked, told

from materiac.agents import choose
from materiac.agents.pi.agent import Pi
from materiac.agents.pi.faults import fault_of, retry_after
from materiac.agents.pi.keys import keys_of
from materiac.agents.pi.launch import launch
from materiac.agents.pi.spec import read
from materiac.agents.protocol import AgentError, AnswerLimitError, Progress, Request, Usage
from materiac.runtime.handoff_tool import handed_over, tool_server

OWNER = f"pi-test-{os.getpid()}"
PATIENCE_S = 20.0
SCHEMA = {
    "type": "object",
    "properties": {"satisfied": {"type": "boolean"}, "context": {"type": "string"}},
    "required": ["satisfied", "context"],
    "additionalProperties": False,
}

Begin = Callable[..., "Scene"]
slow = pytest.mark.slow
versions = pytest.mark.parametrize("version", ["pi", "pi-0.83"])


class Scene:
    """Pi in front of a fake model, with a home of its own and a folder to work in."""

    def __init__(self, fake: FakeModels, folder: Path, path: Path, options: str) -> None:
        self.fake, self.home, self.cwd = fake, folder / "home", folder / "work"
        self.sessions = folder / "sessions"
        self.spec = f"pi{options}:{path}"
        self._agents: list[Pi] = []
        self.anew()

    @property
    def agent(self) -> Pi:
        return self._agents[-1]

    def anew(self) -> Pi:
        agent = choose.make(self.spec)
        assert isinstance(agent, Pi)
        self._agents.append(agent)
        return agent

    def request(self, scope: str = "none", **fields: Any) -> Request:
        return request(self.cwd, scope, **{"sessions": self.sessions, "owner": OWNER, **fields})

    def processes(self) -> list[int]:
        """The processes of Pi that run."""
        commands = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in marked(f":{OWNER}.")}
        return [pid for pid, command in commands.items() if command.startswith((b"pi\0", b"node\0"))]

    def close(self) -> None:
        for agent in self._agents:
            agent.close()


@pytest.fixture
def begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Begin]:
    """Begin a scene; nothing of it runs on at the end."""
    with ExitStack() as stack:

        def begin(script: Script, version: str = "pi", options: str = "") -> Scene:
            pi = program(version)
            fake = stack.enter_context(FakeModels(script))
            for name, value in aim(version, fake, tmp_path / "home").items():
                monkeypatch.setenv(name, value)
            (tmp_path / "work").mkdir()
            scene = Scene(fake, tmp_path, pi.path, options)
            stack.callback(scene.close)
            return scene

        yield begin
    assert not (left := marked(f":{OWNER}.")), told(left)


# How it is chosen


@pytest.mark.parametrize(
    ("text", "program_", "options"),
    [
        ("pi:sh", ("sh",), {}),
        ("pi:/bin/sh", ("/bin/sh",), {}),
        ('pi:["sh", "a b", "c:d"]', ("sh", "a b", "c:d"), {}),
        ("pi?model=m:sh", ("sh",), {"model": "m"}),
        (
            "pi?provider=local&model=qwen3%3A8b&thinking=high&env=A_KEY,B_KEY:sh",
            ("sh",),
            {"provider": "local", "model": "qwen3:8b", "thinking": "high", "env": ("A_KEY", "B_KEY")},
        ),
    ],
)
def test_a_spec(text: str, program_: tuple[str, ...], options: dict[str, Any]) -> None:
    spec = read(text)
    assert spec.text == text
    assert spec.program == program_
    found = {name: getattr(spec, name) for name in ("provider", "model", "thinking", "env")}
    assert {name: value for name, value in found.items() if value} == options


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pi:no-such-program", "'no-such-program' is not on the PATH: install it"),
        ("pi:/no/such/pi", "'/no/such/pi' does not exist or cannot be run: install it"),
        ("pi:", "'pi:' names no program"),
        ("pi:[]", "names no program"),
        ('pi:["sh", 1]', "names no program"),
        ("pi:[sh", "cannot be read"),
        ("pi?modle=m:sh", "'pi' has no option 'modle': did you mean 'model'?"),
        ("pi?model=a&model=b:sh", "the option 'model' is there twice"),
        ("pi?model=:sh", "the option 'model' has no value"),
        ("pip", "'pip' is no agent"),
    ],
)
def test_a_spec_that_is_none(text: str, said: str) -> None:
    with pytest.raises(AgentError) as caught:
        read(text)
    assert said in str(caught.value)


def test_without_a_program_it_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(AgentError, match="'pi' is not on the PATH: install it"):
        choose.make("pi")
    standing = choose.inspect("pi")
    assert (standing.installed, standing.usable) == (False, False)


# How it is started


@pytest.mark.parametrize(
    ("tools", "arguments"),
    [
        ((), ["--no-tools"]),
        (("read", "ls"), ["--tools", "read,ls"]),
        (("my-tool", "other_tool"), ["--tools", "my-tool,other_tool"]),
        (("read", "*", "+bash", "-read", "mcp__*", "a,bash", "", "!x"), ["--tools", "read"]),
        (("*",), ["--no-tools"]),
    ],
)
def test_no_tool_is_allowed_that_is_not_named(
    tmp_path: Path, tools: tuple[str, ...], arguments: list[str]
) -> None:
    argv = launch(read("pi:sh"), request(tmp_path, tools=tools), tmp_path).argv
    at = next(at for at, word in enumerate(argv) if word in ("--tools", "--no-tools"))
    assert list(argv[at : at + len(arguments)]) == arguments
    assert argv.count("--tools") + argv.count("--no-tools") == 1


def test_what_a_materia_has_comes_before_the_options(tmp_path: Path) -> None:
    spec = read("pi?model=big&thinking=low:sh")
    asked = request(tmp_path, model="small")
    argv = " ".join(launch(spec, asked, tmp_path).argv)
    assert "--model small --thinking low" in argv


def test_the_prompt_and_the_system_text_are_no_arguments(tmp_path: Path) -> None:
    asked = request(tmp_path, prompt="PROMPT" * 50_000, system="SYSTEM" * 50_000)
    argv = launch(read("pi:sh"), asked, tmp_path).argv
    assert max(map(len, argv)) < 1000
    file = Path(argv[argv.index("--append-system-prompt") + 1])
    assert file.read_text(encoding="utf-8") == asked.system


def test_the_keys_are_those_of_the_configuration_too(tmp_path: Path) -> None:
    models = {"providers": {"own": {"apiKey": "$OWN_KEY", "headers": {"x": "a ${OTHER_TOKEN} b"}}}}
    (tmp_path / "models.json").write_text(json.dumps(models), encoding="utf-8")
    found = keys_of({"PI_CODING_AGENT_DIR": str(tmp_path)})
    assert {"OWN_KEY", "OTHER_TOKEN", "ANTHROPIC_API_KEY"} <= found


# What its failures mean


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        ('500: {"message":"the server had an error"}', "transport"),
        ("529 overloaded_error", "transport"),
        ("terminated: other side closed (UND_ERR_SOCKET)", "transport"),
        ("Connection error.", "transport"),
        ("Stream ended without finish_reason", "transport"),
        ("Request timed out.", "transport"),
        ('429: {"message":"too many requests"}', "rate"),
        ('429: {"code":"insufficient_quota"}', "provider"),
        ('400: {"message":"This model\'s maximum context length is 8192 tokens."}', "context"),
        ("prompt is too long: 210000 tokens > 200000 maximum", "context"),
        (
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            "context",
        ),
        ('401: {"message":"the API key is not valid"}', "provider"),
        ('400: {"message":"no connection of that name"}', "provider"),
        ("something else", "provider"),
    ],
)
def test_what_a_failure_comes_from(message: str, fault: str) -> None:
    assert fault_of(message) == fault


@pytest.mark.parametrize(
    ("message", "seconds"),
    [
        ("Please try again in 20s.", 20),
        ("rate limited, retry after 1.5 seconds", 1.5),
        ("Please try again in 250ms.", 0.25),
        ("try again in 2m", 120),
        ("try again in a while", None),
        ("nothing", None),
    ],
)
def test_how_long_a_failure_says_to_wait(message: str, seconds: float | None) -> None:
    assert retry_after(message) == seconds


# The real program


@slow
@versions
def test_a_turn_with_a_tool(begin: Begin, version: str) -> None:
    scene = begin(
        [Call("write", {"path": "a.txt", "content": "a"}), Answer("do\u2028ne", usage=Usage(60, 6))], version
    )
    news: list[Progress] = []
    reply = scene.agent.turn(scene.request("coding", progress=news.append))
    assert (reply.text, reply.stop, reply.model, reply.provider) == ("do\u2028ne", "stop", "fake-1", "fake")
    assert (scene.cwd / "a.txt").read_text(encoding="utf-8") == "a"
    assert reply.usage is not None
    assert (reply.usage.input, reply.usage.output) == (160, 16)
    assert reply.usage.cost == pytest.approx(160 * 1e-6 + 16 * 2e-6)  # by the prices of its own configuration
    assert Progress("tool", "write a.txt") in news
    assert "".join(said.text for said in news if said.kind == "text") == "do\u2028ne"
    assert [event["message"]["role"] for event in reply.events] == ["assistant", "toolResult", "assistant"]


@slow
@versions
def test_a_result_is_handed_over_through_a_tool(begin: Begin, tmp_path: Path, version: str) -> None:
    wanted = {"satisfied": True, "context": "grün\u2028"}
    scene = begin(
        [Call("handoff", {"satisfied": "maybe"}), Call("handoff", wanted), "not asked for"], version
    )
    server = tool_server(tmp_path / "calls", SCHEMA)
    reply = scene.agent.turn(scene.request(schema=SCHEMA, handoff="tool", tool_server=server))
    assert reply.stop == "stop"
    assert handed_over(tmp_path / "calls") == (wanted, [])
    assert [asked.tools for asked in scene.fake.requests] == [("handoff",)] * 2


@slow
@versions
def test_commands_see_no_key(begin: Begin, version: str) -> None:
    scene = begin([Call("bash", {"command": "env > env.txt"}), "done"] * 2, version)
    assert scene.agent.turn(scene.request("coding")).text == "done"
    assert KEY not in (scene.cwd / "env.txt").read_text(encoding="utf-8")
    assert scene.agent.turn(scene.request("coding", env=("FAKE_KEY",))).text == "done"
    assert KEY in (scene.cwd / "env.txt").read_text(encoding="utf-8")


@slow
@versions
def test_nothing_of_the_user_is_read_but_models(begin: Begin, version: str) -> None:
    scene = begin(["done"], version)
    config, project = scene.home / "pi", scene.cwd / ".pi"
    ran = scene.home / "ran"
    for folder in (config, project, scene.cwd, scene.cwd.parent):
        folder.mkdir(exist_ok=True)
        for name in ("AGENTS.md", "CLAUDE.md", "SYSTEM.md", "APPEND_SYSTEM.md"):
            (folder / name).write_text("PERSONAL", encoding="utf-8")
        (folder / "extensions").mkdir(exist_ok=True)
        module = f"export default function () {{ require('fs').writeFileSync('{ran}', '') }}"
        (folder / "extensions" / "own.js").write_text(module, encoding="utf-8")
        server = {"command": "sh", "args": ["-c", f"touch {ran}; cat"], "exposure": "direct"}
        (folder / "mcp.json").write_text(json.dumps({"mcpServers": {"own": server}}), encoding="utf-8")
        skill = folder / "skills" / "own"
        skill.mkdir(parents=True)
        (skill / "SKILL.md").write_text("---\nname: own\ndescription: PERSONAL\n---\n", encoding="utf-8")
    assert scene.agent.turn(scene.request("readOnly")).text == "done"
    assert "PERSONAL" not in json.dumps(scene.fake.requests[0].body)
    assert set(scene.fake.requests[0].tools) == {"read", "grep", "find", "ls"}
    assert not ran.exists()


@slow
@versions
def test_its_summing_up_of_a_long_talk_is_counted(begin: Begin, version: str) -> None:
    answers = [Answer("word " * 3000, usage=Usage(used, 10)) for used in (15000, 30000, 50000)]
    scene = begin([*answers, *["sum"] * 9], version)
    session: str | None = None
    notes: list[Progress] = []
    for _ in range(3):
        before = scene.fake.served
        asked = scene.request(prompt="word " * 10_000, session=session, progress=notes.append)
        reply = scene.agent.turn(asked)
        session = reply.session
        assert reply.usage is not None
        assert reply.usage.input == scene.fake.served.input - before.input
    assert len(scene.fake.requests) > 3
    assert any(note.kind == "note" and "summed up" in note.text for note in notes)
    assert scene.agent.turn(scene.request(prompt="go on", session=session)).stop == "stop"


@slow
def test_turns_that_are_started_alike_have_one_process(begin: Begin) -> None:
    scene = begin(["one", "two", "three", "four"])
    first = scene.agent.turn(scene.request())
    pids = scene.processes()
    second = scene.agent.turn(scene.request(visit=2))
    assert scene.processes() == pids
    assert first.session != second.session
    scene.agent.turn(scene.request(session=second.session, turn=2))
    assert scene.processes() == pids
    assert len(scene.fake.requests[2].messages) == 3
    scene.agent.turn(scene.request("readOnly", visit=3))
    assert len(scene.processes()) == 1
    assert scene.processes() != pids


@slow
def test_few_processes_wait(begin: Begin) -> None:
    scene = begin(["ok"] * 7)
    for number in range(6):
        scene.agent.turn(scene.request(lane=f"lane {number}"))
    assert len(scene.processes()) <= 4
    assert scene.agent.turn(scene.request(lane="lane 0")).text == "ok"


@slow
@versions
def test_a_talk_goes_on_after_pi_was_killed_in_the_middle(begin: Begin, version: str) -> None:
    steps = ["My name is Bo.", Call("bash", {"command": "touch begun; sleep 600"}), "I am Bo."]
    scene = begin(steps, version)
    first = scene.agent.turn(scene.request("coding"))

    def kill() -> None:
        until = time.monotonic() + PATIENCE_S
        while not (scene.cwd / "begun").exists() and time.monotonic() < until:
            time.sleep(0.01)
        for pid in scene.processes():
            os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    broken = scene.agent.turn(scene.request("coding", session=first.session, turn=2))
    killer.join()
    assert (broken.stop, broken.fault) == ("error", "transport")
    assert "was ended by signal 9" in (broken.error or "")
    assert broken.usage is not None
    assert broken.usage.input == 100
    assert not marked(f":{OWNER}.")
    again = scene.anew().turn(scene.request("coding", session=first.session, turn=3))
    assert again.text == "I am Bo."
    assert "My name is Bo." in [message.text for message in scene.fake.requests[-1].messages]


@slow
def test_a_talk_that_is_lost_is_no_new_one(begin: Begin) -> None:
    scene = begin(["one", "two"])
    first = scene.agent.turn(scene.request())
    elsewhere = scene.request(session=first.session, sessions=scene.home / "elsewhere", turn=2)
    with pytest.raises(AgentError, match=r"the talk '.*' is not in '.*elsewhere/pi' any more"):
        scene.agent.turn(elsewhere)
    assert len(scene.fake.requests) == 1


@slow
def test_talks_of_no_cast_are_gone_with_the_agent(begin: Begin) -> None:
    scene = begin(["one", "two"])
    first = scene.agent.turn(scene.request(sessions=None))
    second = scene.agent.turn(scene.request(sessions=None, session=first.session, turn=2))
    assert second.text == "two"
    folder = scene.agent._scratch
    assert folder is not None
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    scene.agent.close()
    assert not folder.exists()


@slow
@pytest.mark.parametrize(
    ("options", "fields", "environ", "said"),
    [
        ("", {"model": "nope"}, {}, 'Model "nope" not found'),
        ("?provider=nope&model=nope", {}, {}, "nope"),
        ("", {}, {"FAKE_KEY": ""}, "No API key found"),
        ("", {}, {"PATH": "/usr/bin:/bin", "NODE_OPTIONS": "--no-such-option"}, "ended with exit code"),
    ],
    ids=["unknown model", "unknown provider", "no key", "Node does not start"],
)
def test_what_cannot_be_asked_says_why(
    begin: Begin,
    monkeypatch: pytest.MonkeyPatch,
    options: str,
    fields: dict[str, Any],
    environ: dict[str, str],
    said: str,
) -> None:
    scene = begin(["not asked for"], options=options)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(AgentError) as caught:
        scene.agent.turn(scene.request(**fields))
    assert said in str(caught.value)
    assert not scene.fake.requests


@slow
def test_a_key_that_it_does_not_see_is_named(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = begin([])
    monkeypatch.setenv("FAKE_KEY", "")
    monkeypatch.setenv("MY_OWN_TOKEN", "hidden-0123")
    with pytest.raises(AgentError) as caught:
        scene.agent.turn(scene.request())
    assert "MY_OWN_TOKEN" in str(caught.value)
    assert "pi?env=NAME" in str(caught.value)
    assert "hidden-0123" not in str(caught.value)


@slow
def test_models_thinking_and_providers(begin: Begin) -> None:
    scene = begin(["one", "two"], options="?provider=fake-messages&model=fake-1")
    assert {"fake-2", "fake/fake-2", "fake-messages/fake-1"} <= set(scene.agent.models())
    assert scene.agent.turn(scene.request()).provider == "fake-messages"
    reply = scene.agent.turn(scene.request(model="fake-2", thinking="high"))
    assert (reply.text, reply.model) == ("two", "fake-2")
    assert scene.fake.requests[1].protocol == "messages"
    assert "thinking" in scene.fake.requests[1].body


@slow
def test_an_answer_has_a_limit(begin: Begin) -> None:
    scene = begin(["x" * 5000, "ok"])
    with pytest.raises(AnswerLimitError, match="5000 bytes, 4000 are allowed"):
        scene.agent.turn(scene.request(max_bytes=4000))
    assert scene.agent.turn(scene.request(max_bytes=4000)).text == "ok"


@slow
def test_an_answer_that_was_cut_off_says_so(begin: Begin) -> None:
    scene = begin([Answer("half of it", stop="length")])
    reply = scene.agent.turn(scene.request())
    assert (reply.text, reply.stop) == ("half of it", "length")


@slow
@versions
def test_no_secret_stays_in_the_files_of_talks(
    begin: Begin, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    monkeypatch.setenv("CLOUD_TOKEN", "open-sesame-0123")
    scene = begin([Call("bash", {"command": "echo it is $CLOUD_TOKEN"}), "one", "two", "three"], version)
    session: str | None = None
    left = scene.sessions / "pi" / "of-a-killed-process.jsonl"
    left.parent.mkdir(parents=True)
    left.write_text('{"type": "custom", "text": "open-sesame-0123"}\n', encoding="utf-8")
    os.utime(left, (0, 0))
    for agent in (scene.agent, scene.agent, scene.anew()):
        session = agent.turn(scene.request("coding", session=session, env=("CLOUD_TOKEN",))).session
    files = list((scene.sessions / "pi").iterdir())
    assert len(files) == 2
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert "open-sesame" not in text
        assert "***" in text
    assert "it is open-sesame-0123\n" in scene.fake.requests[1].results
    assert "it is ***" in json.dumps(scene.fake.requests[3].body)
    assert [message.text for message in scene.fake.requests[3].messages if message.role == "assistant"][
        -2:
    ] == [
        "one",
        "two",
    ]


def _stand_in(folder: Path, script: str) -> str:
    """A program that is called like Pi; gives the PATH to find it on."""
    file = folder / "pi"
    file.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    file.chmod(0o755)
    return f"{folder}:/usr/bin:/bin"


@pytest.mark.parametrize(
    ("script", "version", "why"),
    [
        ("echo 1.6.0", "1.6.0", None),
        ("echo SyntaxError; echo 'Node.js v20.20.2' >&2; exit 1", None, "Pi needs Node 22.19 or newer"),
    ],
    ids=["it runs", "Node is too old"],
)
def test_how_it_stands(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str, version: str | None, why: str | None
) -> None:
    monkeypatch.setenv("PATH", _stand_in(tmp_path, script))
    monkeypatch.setenv("MISTRAL_API_KEY", "x")
    standing = choose.inspect("pi")
    assert standing.installed
    assert (standing.version, standing.usable) == (version, why is None)
    assert (why or "") in (standing.why_not or "")
    assert {"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "MISTRAL_API_KEY"} <= set(standing.keys)
    assert "GROQ_API_KEY" not in standing.keys
    assert standing.abilities.scopes == {"none", "readOnly", "coding", "custom"}


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo 'Error: Unknown option: --no-approve' >&2; exit 1", "materiac needs Pi 0.83 or newer"),
        ("echo; echo SyntaxError >&2; echo 'Node.js v20.20.2' >&2; exit 1", "Pi needs Node 22.19 or newer"),
        ("kill -9 $$", "was ended by signal 9"),
        ("exit 0", "ended with exit code 0"),
        ("echo '[1]'; echo nonsense; echo '{\"id\": 7}'; exit 3", "ended with exit code 3"),
        (
            """read x; echo '{"id": "materiac-1", "type": "response", "success": false, "error": "no"}'""",
            "Pi refuses 'None': no",
        ),
    ],
    ids=["old Pi", "old Node", "killed", "silent", "nonsense", "refusal"],
)
def test_what_does_not_start_says_why(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str, said: str
) -> None:
    monkeypatch.setenv("PATH", _stand_in(tmp_path, script))
    agent = choose.make("pi")
    try:
        with pytest.raises(AgentError) as caught:
            agent.turn(request(tmp_path, owner=OWNER))
        assert said in str(caught.value)
    finally:
        agent.close()
    assert not (left := marked(f":{OWNER}.")), told(left)


def test_a_closed_agent_starts_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", _stand_in(tmp_path, "touch started; sleep 600"))
    agent = choose.make("pi")
    agent.close()
    with pytest.raises(AgentError, match="'pi' was closed before 'build' was asked"):
        agent.turn(request(tmp_path, owner=OWNER))
    assert not (tmp_path / "started").exists()
