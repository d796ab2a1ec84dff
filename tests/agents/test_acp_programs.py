"""The real opencode and gemini, asked by ACP, with a fake model behind them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from agent_programs import aim, program
from back_ends import OWNER, request
from fake_models import UNAUTHORIZED, Answer, Asked, Call, FakeModels, Step
from processes import wait_none

from materiac.agents import choose
from materiac.agents.protocol import Agent, Reply
from materiac.runtime.handoff_tool import handed_over, tool_server

pytestmark = pytest.mark.slow

SCHEMA = {
    "type": "object",
    "properties": {"satisfied": {"type": "boolean"}},
    "required": ["satisfied"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Use:
    """How a program is asked, and how its model calls its tools."""

    name: str
    options: str
    argument: str
    hands_over_by: str
    write: Callable[[str], Call]


def _opencode_write(path: str) -> Call:
    return Call("write", {"filePath": path, "content": "plover"})


def _gemini_write(path: str) -> Call:
    return Call("write_file", {"file_path": path, "content": "plover"})


OPENCODE = Use("opencode", "env=FAKE_KEY", "acp", "materiac_handoff", _opencode_write)
# Where we serve its files it takes a missing one for a failure, and makes no new ones.
GEMINI = Use("gemini", "env=GEMINI_API_KEY&files=own", "--acp", "mcp_materiac_handoff", _gemini_write)


class Scene:
    """A program in front of a fake model that says what it is told to, answer by answer."""

    agent: Agent

    def __init__(self, use: Use, cwd: Path) -> None:
        self.use, self.cwd = use, cwd
        self.steps: Sequence[Step] = ()
        self.fake = FakeModels(self.answer)

    def make(self) -> None:
        argv = [str(program(self.use.name).path), self.use.argument]
        self.agent = choose.make(f"acp?{self.use.options}:{json.dumps(argv)}")

    def close(self) -> None:
        self.agent.close()

    def turn(self, *steps: Step, scope: str = "coding", **fields: Any) -> Reply:
        self.steps = steps
        return self.agent.turn(request(self.cwd, scope, **fields))

    def answer(self, asked: Asked) -> Step:
        return self.steps[min(asked.step, len(self.steps) - 1)] if asked.tools else Answer("A title")


Begin = Callable[[Use], Scene]


@pytest.fixture
def begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Begin]:
    with ExitStack() as stack:

        def begin(use: Use) -> Scene:
            cwd = tmp_path / "work"
            cwd.mkdir()
            scene = Scene(use, cwd)
            stack.enter_context(scene.fake)
            for name, value in aim(use.name, scene.fake, tmp_path / "home").items():
                monkeypatch.setenv(name, value)
            scene.make()
            stack.callback(scene.close)
            return scene

        yield begin
    wait_none(f":{OWNER}.")


@pytest.mark.parametrize("use", [OPENCODE, GEMINI], ids=lambda use: use.name)
def test_it_works_hands_over_and_fails(begin: Begin, use: Use, tmp_path: Path) -> None:
    scene = begin(use)
    reply = scene.turn(use.write(str(scene.cwd / "a.txt")), "It is written.")
    assert (reply.text, reply.stop) == ("It is written.", "stop")
    assert (scene.cwd / "a.txt").read_text(encoding="utf-8") == "plover"
    assert reply.session

    server = tool_server(tmp_path / "tool", SCHEMA)
    call = Call(use.hands_over_by, {"satisfied": True})
    reply = scene.turn(call, "Handed over.", scope="none", visit=2, tool_server=server)
    assert (reply.text, handed_over(tmp_path / "tool")) == ("Handed over.", ({"satisfied": True}, []))

    reply = scene.turn(UNAUTHORIZED, visit=3)
    assert (reply.stop, reply.fault) == ("error", "provider")
    assert "the API key is not valid" in str(reply.error)


def test_opencode_goes_on_with_a_session_in_another_process(begin: Begin) -> None:
    scene = begin(OPENCODE)
    first = scene.turn("Your name is Ada.", prompt="I am Ada.")
    scene.close()
    scene.make()
    second = scene.turn("It is Ada.", prompt="Who am I?", turn=2, session=first.session)
    assert second.text == "It is Ada."
    said = [message.text for message in scene.fake.requests[-1].messages]
    assert any("I am Ada." in text for text in said)
    assert any("Your name is Ada." in text for text in said)


def test_gemini_asks_before_it_writes(begin: Begin) -> None:
    scene = begin(GEMINI)
    reply = scene.turn(GEMINI.write(str(scene.cwd / "a.txt")), "I could not.", scope="readOnly")
    assert reply.text == "I could not."
    assert [event["text"] for event in reply.events] == ["refused: Writing to a.txt"]
    assert list(scene.cwd.iterdir()) == []
