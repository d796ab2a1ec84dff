"""Each agent program reads a file with its own tool and answers, with a fake model and no other."""

from __future__ import annotations

import json
import subprocess
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from agent_programs import KEY, NAMES, Program, aim, program
from agent_programs.install import Pin, pins
from fake_models import Answer, Asked, Call, FakeModels, Step
from processes import wait_none

from materiac.agents.protocol import Usage

USED = Usage(input=700, output=30)
LONG_S = 120.0


@dataclass(frozen=True)
class Use:
    """How a program is asked one thing, the tool by which it reads a file, and where its answer is."""

    options: tuple[str, ...]
    tool: str
    argument: str
    answer: Callable[[str], str]


def _lines(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def _of_codex(out: str) -> str:
    items = [line["item"] for line in _lines(out) if line["type"] == "item.completed"]
    return str(items[-1]["text"])


def _of_opencode(out: str) -> str:
    return str([line["part"]["text"] for line in _lines(out) if line["type"] == "text"][-1])


_PI = Use(("-p", "--no-session"), "read", "path", str.strip)
USES = {
    "pi": _PI,
    "pi-0.83": _PI,
    "codex": Use(
        ("exec", "--json", "--skip-git-repo-check", "-s", "read-only", "-"), "exec_command", "cmd", _of_codex
    ),
    "claude": Use(
        ("-p", "--output-format", "json", "--tools", "Read"),
        "Read",
        "file_path",
        lambda out: str(json.loads(out)["result"]),
    ),
    "opencode": Use(("run", "--format", "json"), "read", "filePath", _of_opencode),
    "gemini": Use(
        ("--skip-trust", "--output-format", "json"),
        "read_file",
        "file_path",
        lambda out: str(json.loads(out)["response"]),
    ),
    "qwen": Use(
        ("--auth-type", "openai", "--output-format", "json"),
        "read_file",
        "file_path",
        lambda out: str(json.loads(out)[-1]["result"]),
    ),
}
SLOW = {"pi-0.83", "opencode", "gemini", "qwen"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in NAMES]
)
def test_a_program_is_pointed_at_a_fake(name: str, tmp_path: Path) -> None:
    found, use, mark = program(name), USES[name], uuid.uuid4().hex
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.txt").write_text("The word is plover.\n", encoding="utf-8")

    def script(asked: Asked) -> Step:
        if not asked.tools:
            return Answer("A title", usage=Usage())
        what = "cat a.txt" if use.argument == "cmd" else str(folder / "a.txt")
        call = Call(use.tool, {use.argument: what})
        return [Answer("I look.", (call,), usage=USED), Answer("It is so.", usage=USED)][asked.step]

    with FakeModels(script) as fake:
        environ = aim(name, fake, tmp_path / "home") | {"PWD": str(folder), "MARK": mark}
        ran = ask(found, use, folder, environ)
        assert use.answer(ran.stdout) == "It is so.", ran
        first, second = [asked for asked in fake.requests if asked.tools]
        assert "Say the word." in first.prompt
        assert "plover" in second.results[0]
        assert all(KEY in str(asked.headers) for asked in fake.requests)
        assert fake.served == Usage(input=1400, output=60)
    wait_none(mark)


def ask(found: Program, use: Use, folder: Path, environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*found.argv, *use.options],
        cwd=folder,
        env=environ,
        input="Say the word.",
        capture_output=True,
        encoding="utf-8",
        timeout=LONG_S,
        check=False,
    )


def test_what_is_installed_says_its_version() -> None:
    found = program("pi")
    assert found.path.name == "pi"
    assert found.version == pins()["pi"].version


def test_a_missing_program_skips_or_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = Pin("pi", "a-package", "0.0.1", "pi")
    monkeypatch.setattr("agent_programs.pins", lambda: {"pi": absent})
    monkeypatch.delenv("REQUIRE_AGENT_PROGRAMS", raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"pi 0\.0\.1 is not installed: run make agents"):
        program("pi")
    monkeypatch.setenv("REQUIRE_AGENT_PROGRAMS", "1")
    with pytest.raises(pytest.fail.Exception, match=r"pi 0\.0\.1 is not installed: run make agents"):
        program("pi")
