"""`materiac acp` with an editor at the other end of its pipes."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import time
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any

import acp
import pytest
from editor import PATIENCE_S, editing, write
from processes import marked, wait_none

from materiac.agents import choose
from materiac.agents.protocol import Request
from materiac.runtime.find import casts
from materiac.runtime.summary import summary

pytestmark = pytest.mark.slow

AGENT = ("--agent", "scripted:answers.json")
GREETING = {
    "greet": {"materia": "Greeter", "edges": [{"to": "look"}]},
    "look": {
        "materia": "Looker",
        "edges": [
            {"when": "satisfied", "to": "end"},
            {"when": "not_satisfied", "to": "greet", "maxTraversals": 1},
        ],
    },
}
MATERIA = {
    "Greeter": {"prompt": "Write a greeting for: {{request}}"},
    "Looker": {"prompt": "Is this friendly? {{lastOutput}}", "parse": "json"},
    "Planner": {"prompt": "Plan: {{request}}", "parse": "json", "multiTurn": True},
    "Sleeper": {"command": ["sh", "-c", "test -e awake || sleep 60"], "timeoutMs": 60000},
}
SATISFIED = [{"json": {"satisfied": True}}]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project of its own, which nothing of the user's lies below."""
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def play(scene: Coroutine[Any, Any, None]) -> None:
    async def timed() -> None:
        async with asyncio.timeout(2 * PATIENCE_S):
            await scene

    asyncio.run(timed())


def the_cast(folder: Path) -> Path:
    [cast] = casts(folder / ".materia" / "casts")
    return cast


async def until(seen: Any) -> None:
    end = time.monotonic() + PATIENCE_S
    while not seen():
        assert time.monotonic() < end, "it did not come to that"
        await asyncio.sleep(0.02)


def test_a_prompt_becomes_a_cast(folder: Path) -> None:
    greetings = ["Hi.", {"text": "Good morning!", "usage": {"input": 300, "output": 8}}]
    write(
        folder, GREETING, MATERIA, {"greet": greetings, "look": [{"json": {"satisfied": False}}, *SATISFIED]}
    )

    async def scene() -> None:
        async with editing(folder, *AGENT) as editor:
            session = await editor.begin()
            reply = await editor.say(session, "-the shed\n\u2028here")
            assert (reply.stop_reason, reply.usage.total_tokens) == ("end_turn", 308)
            assert editor.said.startswith("Hi.Good morning!\n\n**complete** after 4 visits")
            assert editor.calls == {
                "greet/1": ("greet (Greeter) → look", "completed", "Hi."),
                "look/1": ("look (Looker), not satisfied → greet", "completed", '{"satisfied":false}'),
                "greet/2": ("greet (Greeter) → look", "completed", "Good morning!"),
                "look/2": ("look (Looker), satisfied → end", "completed", '{"satisfied":true}'),
            }
            statuses = [[status for _, status in plan] for plan in editor.plans]
            assert statuses[:5] == [
                ["pending", "pending"],
                ["in_progress", "pending"],
                ["completed", "pending"],
                ["completed", "in_progress"],
                ["completed", "completed"],
            ]
            assert summary(the_cast(folder)).request == "-the shed\n\u2028here"
            [listed] = (await editor.agent.list_sessions(cwd=str(folder))).sessions
            assert (listed.session_id, listed.title) == (session, "-the shed here")

    play(scene())


@pytest.mark.slow
def test_a_loadout_is_chosen(folder: Path) -> None:
    write(folder, GREETING, MATERIA, {"greet": "Hi.", "look": SATISFIED})
    other = folder / "other.json"
    utility = {"type": "utility", "utility": "echo", "params": {"output": {"text": "here"}}}
    sockets = {"tell": {"materia": "Teller", "parse": "json"}}
    loadouts = {"Other": {"entry": "tell", "sockets": sockets}}
    other.write_text(json.dumps({"loadouts": loadouts, "materia": {"Teller": utility}}), encoding="utf-8")

    async def scene() -> None:
        async with editing(folder, str(other), *AGENT) as editor:
            begun = await editor.agent.new_session(cwd=str(folder))
            session = begun.session_id
            assert begun.modes is not None
            assert begun.modes.current_mode_id == "Other"
            assert {"Other", "Trial", "Full-Auto"} <= {mode.id for mode in begun.modes.available_modes}
            await editor.say(session, "go")
            assert list(editor.calls) == ["tell/1"]
            changed = await editor.agent.set_config_option(
                session_id=session, config_id="loadout", value="Trial"
            )
            assert changed.config_options[0].current_value == "Trial"
            await editor.say(session, "go")
            assert list(editor.calls) == ["greet/1", "look/1"]
            await editor.agent.set_session_mode(session_id=session, mode_id="Other")
            for wrong in (
                editor.agent.set_session_mode(session_id=session, mode_id="None"),
                editor.agent.set_config_option(session_id=session, config_id="x", value="Trial"),
                editor.agent.set_session_mode(session_id="none", mode_id="Trial"),
                editor.say("none", "go"),
                editor.say(session, " \n"),
                editor.say(session, "/continue"),
                editor.agent.new_session(cwd="relative"),
                editor.agent.load_session(cwd=str(folder), session_id="none"),
            ):
                with pytest.raises(acp.RequestError):
                    await wrong
            [newest, _] = casts(folder / ".materia" / "casts")
            assert summary(newest).loadout == "Trial"

    play(scene())


@pytest.mark.slow
def test_a_person_is_talked_with(folder: Path) -> None:
    sockets = {"plan": {"materia": "Planner", "assign": {"plan": "$.context"}}}
    answers = ["What colour?", "Red it is.", {"json": {"context": "a red shed"}}]
    write(folder, sockets, MATERIA, {"plan": answers})

    async def scene() -> None:
        async with editing(folder, *AGENT) as editor:
            session = await editor.begin()
            assert (await editor.say(session, "a shed")).stop_reason == "end_turn"
            assert editor.said.startswith("What colour?\n\n**waiting** ")
            assert "next: answer here" in editor.said
            assert editor.calls["plan/1"][1] == "pending"
            await editor.say(session, "-red, please")
            assert editor.said.startswith("Red it is.\n\n**waiting** ")
            assert editor.calls["plan/1"][1] == "pending"
            await editor.say(session, "/continue")
            assert "**complete** after 1 visit" in editor.said
            assert editor.calls["plan/1"] == ("plan (Planner) → end", "completed", '{"context":"a red shed"}')
            said = [*the_cast(folder).glob("sockets/plan/*.said.md")]
            assert [file.read_text(encoding="utf-8") for file in said] == ["-red, please"]

        async with editing(folder, *AGENT) as editor:
            await editor.agent.load_session(cwd=str(folder), session_id=session)
            assert editor.typed == ["a shed", "-red, please", "/continue"]
            assert "What colour?" in editor.said
            assert "Red it is." in editor.said

    play(scene())


@pytest.mark.slow
def test_a_cast_is_stopped_and_goes_on_in_another_process(folder: Path) -> None:
    sockets = {"sleep": {"materia": "Sleeper", "edges": [{"to": "greet"}]}, "greet": {"materia": "Greeter"}}
    write(folder, sockets, MATERIA, {"greet": "Good morning!"})

    async def scene() -> None:
        async with editing(folder, *AGENT) as editor:
            session = await editor.begin()
            prompt = asyncio.create_task(editor.say(session, "wait"))
            await until(lambda: "sleep/1" in editor.calls)
            with pytest.raises(acp.RequestError, match="is under way"):
                await editor.agent.prompt(session_id=session, prompt=[acp.text_block("more")])
            await editor.agent.cancel(session_id=session)
            assert (await prompt).stop_reason == "cancelled"
            assert editor.calls["sleep/1"][1] == "pending"
            assert "**stopped**" in editor.said
            assert "next: `/resume`" in editor.said
            assert not marked(f":{the_cast(folder).name}.")

        (folder / "awake").touch()
        async with editing(folder, *AGENT) as editor:
            loaded = await editor.agent.load_session(cwd=str(folder), session_id=session)
            assert loaded.modes is not None
            assert editor.typed == ["wait"]
            assert editor.calls["sleep/1"][:2] == ("sleep (Sleeper)", "pending")
            assert (await editor.say(session, "/resume")).stop_reason == "end_turn"
            assert "**waiting** " in editor.said
            assert "next: `/resume --rerun`" in editor.said
            with pytest.raises(acp.RequestError, match="unrecognized arguments: --nope"):
                await editor.say(session, "/resume --nope")
            assert (await editor.say(session, "/resume --rerun")).stop_reason == "end_turn"
            assert editor.calls["greet/1"] == ("greet (Greeter) → end", "completed", "Good morning!")
            assert summary(the_cast(folder)).state == "complete"

    play(scene())


@pytest.mark.slow
def test_what_fails_is_an_error(folder: Path) -> None:
    write(folder, GREETING, MATERIA, {"greet": [{"error": "no luck"}, "Hi."], "look": SATISFIED})

    async def scene() -> None:
        async with editing(folder, *AGENT) as editor:
            session = await editor.begin()
            with pytest.raises(acp.RequestError, match="the cast failed: the agent failed: no luck"):
                await editor.say(session, "the shed")
            assert editor.calls["greet/1"] == (
                "greet (Greeter)",
                "failed",
                "agent: the agent failed: no luck",
            )
            assert "next: `/resume --retry`" in editor.said
            assert (await editor.say(session, "/resume --retry")).stop_reason == "end_turn"
            assert editor.calls["greet/1"] == ("greet (Greeter) → look", "completed", "Hi.")
            with pytest.raises(acp.RequestError, match="the cast is complete"):
                await editor.say(session, "/resume")

            write(folder, {"greet": {"materia": "Nobody"}}, MATERIA, {})
            with pytest.raises(acp.RequestError):
                await editor.say(session, "the shed")
            assert "unknown-materia" in editor.said
            (folder / ".materia" / "loadout.json").write_text("{", encoding="utf-8")
            assert (await editor.agent.new_session(cwd=str(folder))).modes is not None

    play(scene())


@pytest.mark.slow
def test_a_cast_that_was_begun_elsewhere_is_gone_on_with(folder: Path) -> None:
    write(folder, GREETING, MATERIA, {"greet": [{"error": "no luck"}, "Hi."], "look": SATISFIED})
    command = [sys.executable, "-m", "materiac", "run", "--request", "the shed", *AGENT]
    ran = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    assert ran.returncode == 1

    async def scene() -> None:
        async with editing(folder) as editor:
            cast = the_cast(folder).name
            sessions = (await editor.agent.list_sessions(cwd=str(folder))).sessions
            assert [session.session_id for session in sessions] == [cast]
            await editor.agent.load_session(cwd=str(folder), session_id=cast)
            assert editor.calls["greet/1"][1] == "failed"
            assert (await editor.say(cast, "/resume --retry")).stop_reason == "end_turn"

    play(scene())


@pytest.mark.slow
@pytest.mark.parametrize(("how", "code"), [("the pipe", 0), ("SIGTERM", 0), ("SIGKILL", -9)])
def test_no_cast_outlives_its_editor(folder: Path, how: str, code: int) -> None:
    write(folder, {"sleep": {"materia": "Sleeper"}}, MATERIA, {})
    server = _Raw(folder)
    server.ask("initialize", protocolVersion=1)
    session = server.ask("session/new", cwd=str(folder), mcpServers=[])["sessionId"]
    server.send(9, "session/prompt", sessionId=session, prompt=[{"type": "text", "text": "wait"}])
    while server.read().get("params", {}).get("update", {}).get("sessionUpdate") != "tool_call":
        pass
    if how != "the pipe":
        server.process.send_signal(signal.Signals[how])
        assert server.process.wait(PATIENCE_S) == code
    assert server.close() == (code, "")
    end = time.monotonic() + PATIENCE_S
    while summary(the_cast(folder)).state == "running" and time.monotonic() < end:
        time.sleep(0.05)
    assert summary(the_cast(folder)).state == "stopped"
    wait_none(f":{the_cast(folder).name}.")


def test_what_is_no_message_is_passed_over(folder: Path) -> None:
    server = _Raw(folder)
    for line in (
        b"hello",
        b"[]",
        b"7",
        b'{"id": 1}',
        b'{"method": []}',
        b'{"id": {}, "method": "x"}',
        b"\xff",
    ):
        server.write(line)
    assert server.read()["error"]["code"] == -32601
    assert server.ask("initialize", protocolVersion=7)["protocolVersion"] == 1
    assert "error" in server.answer("session/new", cwd=7)
    assert server.close() == (0, "")


@pytest.mark.parametrize(
    ("redirected", "what"),
    [
        ("< answers.json | cat", "input"),
        ("> /dev/full", "output"),
        (">&-", "output"),
    ],
)
def test_without_an_editor(folder: Path, redirected: str, what: str) -> None:
    write(folder, GREETING, MATERIA, {})
    command = f'set -o pipefail; sleep 0 | "{sys.executable}" -m materiac acp {redirected}'
    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, check=False)
    words = f"materiac: standard {what} is no pipe from an editor: docs/editors.md tells how\n"
    assert (done.returncode, done.stderr) == (2, words)


@pytest.mark.slow
def test_materiac_is_an_agent_of_materiac(folder: Path) -> None:
    write(folder, GREETING, MATERIA, {"greet": "Good morning!", "look": SATISFIED})
    agent = choose.make(f"acp:{json.dumps([sys.executable, '-m', 'materiac', 'acp', *AGENT])}")
    try:
        request = Request("the shed", "greet", "Greeter", 1, 1, folder, owner="nested")
        reply = agent.turn(request)
    finally:
        agent.close()
    assert (reply.stop, reply.provider) == ("stop", "materiac")
    assert "**complete** after 2 visits" in reply.text


class _Raw:
    """The server, spoken to line by line."""

    def __init__(self, folder: Path, env: Mapping[str, str] | None = None) -> None:
        self.count = 0
        self.process = subprocess.Popen(
            [sys.executable, "-m", "materiac", "acp", *AGENT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=env,
        )

    def write(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, id_: int, method: str, **params: Any) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params}).encode())

    def read(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def answer(self, method: str, **params: Any) -> Any:
        self.count += 1
        self.send(self.count, method, **params)
        while (message := self.read()).get("id") != self.count:
            pass
        return message

    def ask(self, method: str, **params: Any) -> Any:
        return self.answer(method, **params)["result"]

    def close(self) -> tuple[int, str]:
        _, err = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, err.decode()
