"""The back ends that `test_back_ends` holds to one another, each in front of a fake model.

A new one is a row of `BACK_ENDS`. What it cannot do by its nature it says in `lacks`, with the words of
`Ability`, and is left out there.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import pytest
from agent_programs import aim, program
from fake_models import Answer, Call, FakeModels, Never, Refusal, Script, Step

from materiac.agents import choose
from materiac.agents.protocol import Agent, Request

Ability = Literal[
    "model",  # asks the fake model at all
    "tools",  # runs the tools that the model calls
    "refusal",  # tells the model that it has no such tool, and goes on
    "sessions",  # goes on with a session, also in a new instance
    "faults",  # says what an error came from
    "usage",  # says what a turn has used
    "schema",  # forces an object
    "stop",  # ends a turn when its `stop` is set
    "leftovers",  # ends what the tools have left running when it is closed
]

TOOLS: Final = {
    "none": (),
    "readOnly": ("read", "grep", "find", "ls"),
    "coding": ("read", "grep", "find", "ls", "bash", "edit", "write"),
}
OWNER: Final = f"back-ends-{os.getpid()}"
"""Another one in each process: tests run side by side."""


@dataclass(frozen=True, slots=True)
class Stage:
    """What a back end is made from: the fake, what it answers, a folder that nothing else uses."""

    fake: FakeModels
    script: Script
    home: Path
    monkeypatch: pytest.MonkeyPatch


@dataclass(frozen=True, slots=True)
class BackEnd:
    """A back end. `write` and `bash` are its calls of these tools: path and content, a command.

    `hands_over_by` is the tool by which an object is forced where the request has no schema in it.
    """

    name: str
    start: Callable[[Stage], Agent]
    write: Callable[[str, str], Call]
    bash: Callable[[str], Call]
    lacks: frozenset[Ability] = frozenset()
    hands_over_by: str = "handoff"
    marks: Sequence[pytest.MarkDecorator] = field(default=())


def back_ends(*needed: Ability) -> list[Any]:
    """The rows that have these abilities, as parameters of a test."""
    return [
        pytest.param(back_end, id=back_end.name, marks=back_end.marks)
        for back_end in BACK_ENDS
        if not back_end.lacks.intersection(needed)
    ]


def request(cwd: Path, scope: str = "none", **fields: Any) -> Request:
    """A turn of a socket `build` in a folder, with the tools of a scope."""
    given = {"prompt": "do it", "visit": 1, "turn": 1, "tools": TOOLS[scope], "owner": OWNER, **fields}
    return Request(socket="build", materia="Build", cwd=cwd, scope=scope, **given)


def _write(path: str, content: str) -> Call:
    return Call("write", {"path": path, "content": content})


def _bash(command: str) -> Call:
    return Call("bash", {"command": command})


def _llm(provider: str, *, below: str = "") -> BackEnd:
    def start(stage: Stage) -> Agent:
        return choose.make(f"llm?base_url={stage.fake.url}{below}:{provider}:fake-1")

    return BackEnd(f"llm {provider}", start, _write, _bash)


def _tiny(stage: Stage) -> Agent:
    """A small program by `command`, which speaks chat completions."""
    program = [sys.executable, str(Path(__file__).with_name("tiny_agent.py")), stage.fake.v1, str(stage.home)]
    tokens = "usage.input=usage.in&usage.output=usage.out"
    return choose.make(f"command?text=text&session=session&error=error&{tokens}:{json.dumps(program)}")


def _acp(stage: Stage) -> Agent:
    """A small program that speaks the Agent Client Protocol, and chat completions."""
    program = [sys.executable, str(Path(__file__).with_name("acp_agent.py")), stage.fake.v1, str(stage.home)]
    return choose.make(f"acp:{json.dumps(program)}")


def _pi(stage: Stage) -> Agent:
    """Pi with models of its own, which are all those of the fake."""
    pi = program("pi")
    for name, value in aim(pi.name, stage.fake, stage.home).items():
        stage.monkeypatch.setenv(name, value)
    return choose.make(f"pi:{pi.path}")


def _preset(name: str, spec: str) -> Callable[[Stage], Agent]:
    """A program of a preset, which knows no models but those of the fake."""

    def start(stage: Stage) -> Agent:
        for variable, value in aim(program(name).name, stage.fake, stage.home).items():
            stage.monkeypatch.setenv(variable, value)
        return choose.make(spec)

    return start


def _codex_write(path: str, content: str) -> Call:
    return _codex_bash(f"printf %s {shlex.quote(content)} > {shlex.quote(path)}")


def _codex_bash(command: str) -> Call:
    return Call("exec_command", {"cmd": command})


def _claude_write(path: str, content: str) -> Call:
    return Call("Write", {"file_path": path, "content": content})


def _claude_bash(command: str) -> Call:
    return Call("Bash", {"command": command, "description": "a command"})


def _scripted(stage: Stage) -> Agent:
    """Answers that are written down: the same steps, without a model."""
    answers: list[dict[str, Any]] = []
    files: dict[str, str] = {}
    assert not callable(stage.script)
    for step in stage.script:
        if isinstance(step, Call):
            assert isinstance(step.arguments, dict)
            files[step.arguments["path"]] = step.arguments["content"]
        else:
            answers.append(_answer(step) | ({"files": files} if files else {}))
            files = {}
    script = stage.home / "answers.json"
    script.write_text(json.dumps({"sockets": {"build": answers}}), encoding="utf-8")
    return choose.make(f"scripted:{script}")


def _answer(step: Step) -> dict[str, Any]:
    if isinstance(step, Refusal):
        return {"error": step.message or "refused"}
    if isinstance(step, Never):
        return {"text": "", "delayMs": 600_000}
    assert isinstance(step, str | Answer)
    answer = Answer(step) if isinstance(step, str) else step
    usage = {"input": answer.usage.input, "output": answer.usage.output}
    return {"text": answer.text, "usage": usage, "delayMs": int(answer.delay_s * 1000)}


BACK_ENDS: Final = (
    BackEnd(
        "scripted",
        _scripted,
        _write,
        _bash,
        lacks=frozenset({"model", "tools", "refusal", "sessions", "faults", "schema"}),
    ),
    BackEnd("command", _tiny, _write, _bash, lacks=frozenset({"faults", "schema"})),
    BackEnd("acp", _acp, _write, _bash, lacks=frozenset({"schema"})),
    _llm("openai", below="/v1"),
    _llm("openai-responses", below="/v1"),
    _llm("anthropic"),
    BackEnd(
        "codex",
        _preset("codex", "codex?env=FAKE_KEY"),
        _codex_write,
        _codex_bash,
        marks=[pytest.mark.slow],
    ),
    BackEnd(
        "claude",
        _preset("claude", "claude"),
        _claude_write,
        _claude_bash,
        hands_over_by="StructuredOutput",
        marks=[pytest.mark.slow],
    ),
    BackEnd("pi", _pi, _write, _bash, lacks=frozenset({"schema"}), marks=[pytest.mark.slow]),
)
