"""What every back end does alike: turns, tools, sessions, ends, failures."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from back_ends import OWNER, BackEnd, Stage, back_ends, request
from fake_models import (
    CONTEXT_FULL,
    NEVER,
    SERVER_ERROR,
    UNAUTHORIZED,
    Answer,
    Asked,
    Call,
    Cut,
    FakeModels,
    Script,
    Step,
    rate_limit,
)
from processes import marked, told, wait_none

from materiac.agents.protocol import Agent, AgentError, Progress, Request, Usage

every = pytest.mark.parametrize("back_end", back_ends())
with_model = pytest.mark.parametrize("back_end", back_ends("model"))
with_tools = pytest.mark.parametrize("back_end", back_ends("tools"))
with_stop = pytest.mark.parametrize("back_end", back_ends("stop", "tools"))
with_sessions = pytest.mark.parametrize("back_end", back_ends("sessions"))

PATIENCE_S = 20.0
ENDING_S = 10.0
"""It takes two seconds at most; these machines are busy."""
MARK = f":{OWNER}."
PARAGRAPH = "one\u2028two\u0085three\vfour"
SLEEPS = "touch begun; setsid sleep 600 & sleep 600"
SCHEMA = {
    "type": "object",
    "properties": {"satisfied": {"type": "boolean"}, "context": {"type": "string"}},
    "required": ["satisfied", "context"],
    "additionalProperties": False,
}

Begin = Callable[..., "Scene"]


class Scene:
    """A back end in front of a fake model, and a folder to work in."""

    def __init__(self, back_end: BackEnd, stage: Stage, cwd: Path) -> None:
        self.fake, self.cwd = stage.fake, cwd
        self._make: Callable[[], Agent] = lambda: back_end.start(stage)
        self._agents = [self._make()]

    @property
    def agent(self) -> Agent:
        return self._agents[-1]

    def anew(self) -> Agent:
        """Another instance, as another process has it."""
        self.agent.close()
        self._agents.append(self._make())
        return self.agent

    def request(self, scope: str = "none", **fields: Any) -> Request:
        return request(self.cwd, scope, sessions=self.cwd.parent / "sessions", **fields)

    def wait_begun(self) -> None:
        """Wait until the tool has made the file `begun`."""
        until = time.monotonic() + PATIENCE_S
        while not (self.cwd / "begun").exists() and time.monotonic() < until:
            time.sleep(0.01)

    def close(self) -> None:
        for agent in self._agents:
            agent.close()
            agent.close()


@pytest.fixture
def begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Begin]:
    """Begin a scene with a back end and what the model answers; nothing of it is left at the end."""
    with ExitStack() as stack:

        def begin(back_end: BackEnd, script: Script) -> Scene:
            home, cwd = tmp_path / "home", tmp_path / "work"
            home.mkdir()
            cwd.mkdir()
            stage = Stage(stack.enter_context(FakeModels(script)), script, home, monkeypatch)
            scene = Scene(back_end, stage, cwd)
            stack.callback(scene.close)
            return scene

        yield begin
    assert not (left := marked(MARK)), told(left)


@contextmanager
def _then(when: Callable[[], None], do: Callable[[], None]) -> Iterator[None]:
    """Do something in another thread as soon as it is time, within a second or two of which the body ends."""
    done: list[float] = []

    def wait_and_do() -> None:
        when()
        done.append(time.monotonic())
        do()

    thread = threading.Thread(target=wait_and_do)
    thread.start()
    yield
    thread.join()
    assert time.monotonic() - done[0] < ENDING_S


def _ends(scene: Scene, asked: Request) -> None:
    """The turn ends as one that was stopped."""
    try:
        reply = scene.agent.turn(asked)
    except AgentError:
        return
    assert reply.stop == "aborted", reply


@every
def test_a_prompt(begin: Begin, back_end: BackEnd) -> None:
    scene = begin(back_end, ["Good morning."])
    reply = scene.agent.turn(scene.request(prompt="Say something kind."))
    assert (reply.text, reply.stop, reply.error, reply.data) == ("Good morning.", "stop", None, None)


@with_model
@pytest.mark.parametrize(
    "prompt",
    ["-rf --help", "--", PARAGRAPH, "ä \U0001f600 \\{{", "x" * 300_000],
    ids=["dashes", "only dashes", "line ends", "scripts", "300 kB"],
)
def test_a_prompt_arrives_as_it_is(begin: Begin, back_end: BackEnd, prompt: str) -> None:
    scene = begin(back_end, ["ok"])
    assert scene.agent.turn(scene.request(prompt=prompt)).text == "ok"
    assert prompt in scene.fake.requests[0].prompt


@every
@pytest.mark.parametrize("text", [PARAGRAPH, "-rf", "y" * 300_000], ids=["line ends", "dashes", "300 kB"])
def test_an_answer_arrives_as_it_is(begin: Begin, back_end: BackEnd, text: str) -> None:
    scene = begin(back_end, [text])
    assert scene.agent.turn(scene.request()).text == text


@every
def test_an_empty_answer(begin: Begin, back_end: BackEnd) -> None:
    scene = begin(back_end, [Answer("", usage=Usage(7, 0))] * 9)
    reply = scene.agent.turn(scene.request())
    assert (reply.text, reply.stop) == ("", "stop")


@pytest.mark.parametrize("back_end", back_ends("usage", "tools"))
def test_usage_is_that_of_all_requests_of_the_turn(begin: Begin, back_end: BackEnd) -> None:
    calls = (back_end.write("a.txt", "a"),)
    scene = begin(
        back_end, [Answer(calls=calls, usage=Usage(50, 5)), Answer("done", usage=Usage(60, 6)), "and more"]
    )
    reply = scene.agent.turn(scene.request("coding"))
    assert reply.usage is not None
    assert replace(reply.usage, cost=0.0) == scene.fake.served == Usage(110, 11)
    again = scene.agent.turn(scene.request("coding", turn=2, session=reply.session))
    assert again.usage is not None
    assert replace(again.usage, cost=0.0) == Usage(100, 10)


@with_tools
def test_a_tool_that_is_called_does_its_work(begin: Begin, back_end: BackEnd) -> None:
    command = back_end.bash("cat a.txt > b.txt; echo seen")
    scene = begin(back_end, [back_end.write("a.txt", "hällo\n"), command, "done"])
    told: list[Progress] = []
    assert scene.agent.turn(scene.request("coding", progress=told.append)).text == "done"
    assert (scene.cwd / "b.txt").read_text(encoding="utf-8") == "hällo\n"
    assert "seen" in "".join(scene.fake.requests[2].results)


@pytest.mark.parametrize("back_end", back_ends("refusal"))
@pytest.mark.parametrize("scope", ["none", "readOnly"])
def test_what_may_not_write_does_not(begin: Begin, back_end: BackEnd, scope: str) -> None:
    calls = [back_end.write("a.txt", "a"), back_end.bash("touch b.txt")]
    scene = begin(back_end, [*calls, "I could not."])
    reply = scene.agent.turn(scene.request(scope))
    assert (reply.text, reply.stop) == ("I could not.", "stop")
    assert list(scene.cwd.iterdir()) == []


@with_sessions
@pytest.mark.parametrize("anew", [False, True], ids=["the same instance", "another process"])
def test_a_session_goes_on(begin: Begin, back_end: BackEnd, anew: bool) -> None:
    scene = begin(back_end, ["Your name is Ada.", "It is Ada.", "I do not know."])
    first = scene.agent.turn(scene.request(prompt="I am Ada."))
    assert first.session
    agent = scene.anew() if anew else scene.agent
    second = agent.turn(scene.request(prompt="Who am I?", turn=2, session=first.session))
    assert second.text == "It is Ada."
    said = [message.text for message in scene.fake.requests[1].messages]
    assert any("I am Ada." in text for text in said)
    assert any("Your name is Ada." in text for text in said)
    assert "Who am I?" in said[-1]
    agent.turn(scene.request(prompt="Somebody else.", visit=2))
    assert not any("Ada" in message.text for message in scene.fake.requests[2].messages)


@with_model
def test_closing_ends_a_turn_while_the_model_thinks(begin: Begin, back_end: BackEnd) -> None:
    scene = begin(back_end, [NEVER] * 9)
    with _then(lambda: scene.fake.wait(1), scene.agent.close):
        _ends(scene, scene.request())
    scene.fake.wait_dropped()


@with_stop
def test_a_turn_is_stopped_while_the_model_thinks(begin: Begin, back_end: BackEnd) -> None:
    scene = begin(back_end, [NEVER] * 9)
    stop = threading.Event()
    with _then(lambda: scene.fake.wait(1), stop.set):
        _ends(scene, scene.request(stop=stop))
    scene.fake.wait_dropped()


@with_tools
def test_closing_ends_a_turn_while_a_tool_runs(begin: Begin, back_end: BackEnd) -> None:
    scene = begin(back_end, [back_end.bash(SLEEPS), "done"])
    with _then(scene.wait_begun, scene.agent.close):
        _ends(scene, scene.request("coding"))


@with_stop
def test_a_turn_is_stopped_while_a_tool_runs(begin: Begin, back_end: BackEnd) -> None:
    scene = begin(back_end, [back_end.bash(SLEEPS), "done"])
    stop = threading.Event()
    with _then(scene.wait_begun, stop.set):
        _ends(scene, scene.request("coding", stop=stop))


@every
def test_a_turn_ends_with_its_time(begin: Begin, back_end: BackEnd) -> None:
    scene = begin(back_end, [NEVER] * 9)
    with pytest.raises(AgentError, match=r"1\.5 s"):
        scene.agent.turn(scene.request(timeout_s=1.5))
    wait_none(MARK)


@pytest.mark.parametrize("back_end", back_ends("tools", "leftovers"))
def test_nothing_runs_on_when_the_agent_is_closed(begin: Begin, back_end: BackEnd) -> None:
    scene = begin(back_end, [back_end.bash("setsid sleep 600 > /dev/null 2>&1 & echo $!"), "done"])
    assert scene.agent.turn(scene.request("coding")).text == "done"
    scene.agent.close()
    wait_none(MARK)


FAILURES = {
    "500": (SERVER_ERROR, "transport"),
    "429": (rate_limit(1), "rate"),
    "401": (UNAUTHORIZED, "provider"),
    "context": (CONTEXT_FULL, "context"),
    "cut": (Cut(Answer("half an answer, which is cut")), "transport"),
}


@every
@pytest.mark.parametrize("failure", FAILURES)
def test_a_failure_is_no_success(begin: Begin, back_end: BackEnd, failure: str) -> None:
    step, fault = FAILURES[failure]
    if isinstance(step, Cut) and "model" in back_end.lacks:
        return
    scene = begin(back_end, [step] * 30)
    try:
        reply = scene.agent.turn(scene.request())
    except AgentError:
        assert "faults" in back_end.lacks
        return
    assert reply.stop == "error"
    assert reply.error
    assert "faults" in back_end.lacks or reply.fault == fault


@with_model
def test_turns_run_side_by_side(begin: Begin, back_end: BackEnd) -> None:
    scene = begin(back_end, [Answer("ok", delay_s=0.1)] * 4)
    asked = [scene.request(lane=f"lane {number}", visit=number) for number in range(1, 5)]
    with ThreadPoolExecutor(4) as pool:
        assert [reply.text for reply in pool.map(scene.agent.turn, asked)] == ["ok"] * 4


@with_tools
@pytest.mark.parametrize("listed", [False, True], ids=["not listed", "listed"])
def test_tools_see_no_secret_but_the_listed(
    begin: Begin, back_end: BackEnd, monkeypatch: pytest.MonkeyPatch, listed: bool
) -> None:
    monkeypatch.setenv("CONFORMANCE_TOKEN", "open-sesame")
    scene = begin(back_end, [back_end.bash("echo $CONFORMANCE_TOKEN$PWD > seen.txt"), "done"])
    scene.agent.turn(scene.request("coding", env=("CONFORMANCE_TOKEN",) if listed else ()))
    expected = ("open-sesame" if listed else "") + os.path.realpath(scene.cwd)
    assert (scene.cwd / "seen.txt").read_text(encoding="utf-8").strip() == expected


@pytest.mark.parametrize("back_end", back_ends("schema"))
def test_an_object_is_forced(begin: Begin, back_end: BackEnd) -> None:
    wanted = {"satisfied": True, "context": "grün"}

    def script(asked: Asked) -> Step:
        return json.dumps(wanted) if asked.schema else Call(back_end.hands_over_by, wanted)

    scene = begin(back_end, script)
    reply = scene.agent.turn(scene.request(schema=SCHEMA, handoff="schema"))
    assert reply.data == wanted
    assert json.loads(reply.text) == wanted
