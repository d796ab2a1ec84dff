"""The examples of docs/utility-materia.md, run as they stand there."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from materiac.model import Config
from materiac.process import run
from materiac.utilities import builtin_command
from materiac.utilities.builtins import registry

TEXT = (Path(__file__).parents[2] / "docs" / "utility-materia.md").read_text(encoding="utf-8")
BLOCKS = re.MULTILINE | re.DOTALL
FILES = dict(re.findall(r"^`([\w/.]+)`:\n\n```\w+\n(.*?)^```$", TEXT, BLOCKS))
SESSIONS = re.findall(r"^```console\n(.*?)^```$", TEXT, BLOCKS)
OBJECTS = re.findall(r"^```json\n(.*?)^```$", TEXT, BLOCKS)
ENV = {
    **os.environ,
    "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    **{
        f"GIT_{role}_{part}": "you@example.org"
        for role in ("AUTHOR", "COMMITTER")
        for part in ("NAME", "EMAIL")
    },
}


@pytest.fixture
def shed(tmp_path: Path) -> Path:
    """A git repository with the programs of the page, and one script."""
    for name, text in {**FILES, "scripts/sweep.sh": "echo swept\n"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    return tmp_path


def ask(shed: Path, *command: str, **call: Any) -> dict[str, Any]:
    done = run(command, stdin=json.dumps(call).encode(), cwd=shed, env=ENV, timeout_s=20, max_bytes=1 << 20)
    assert (done.code, done.stderr) == (0, b"")
    answer = json.loads(done.stdout)
    assert isinstance(answer, dict)
    return answer


def test_the_sessions(shed: Path) -> None:
    for command, printed in re.findall(r"^\$ (.*)\n((?:[^$\n].*\n)*)", "".join(SESSIONS), re.MULTILINE):
        done = subprocess.run(
            ["sh", "-c", command], cwd=shed, env=ENV, stdout=subprocess.PIPE, check=True, text=True
        )
        assert steady(done.stdout.replace(str(shed), "/home/you/shed")) == steady(printed), command


def steady(text: str) -> str:
    jj = re.sub(r'"jj": (true|false)', '"jj": false', text)
    return re.sub(r"\b[0-9a-f]{40}\b", "<revision>", jj)


def test_every_builtin_is_shown() -> None:
    shown = set(re.findall(r"\| materiac utility (\S+)", "".join(SESSIONS)))
    assert shown == set(registry)


def test_the_example_in_python_says_no(shed: Path) -> None:
    (shed / "a.py").write_text("# TODO one\nx = 1  # TODO two\n", encoding="utf-8")
    answer = ask(shed, "python3", "tools/count_todos.py", params={"limit": 1})
    assert answer == {
        "satisfied": False,
        "state": {"todos": 2},
        "context": "2 open ends, 1 allowed: a.py:1, a.py:2",
    }


def test_the_example_in_shell_says_no(shed: Path) -> None:
    (shed / "scripts" / "broken.sh").write_text('echo "\n', encoding="utf-8")
    answer = ask(shed, "sh", "tools/check_scripts.sh")
    assert answer["satisfied"] is False
    assert "broken.sh" in answer["context"]


def test_a_builtin_through_the_runner(shed: Path) -> None:
    assert ask(shed, *builtin_command("vcs.detect"), cwd=str(shed))["root"] == str(shed)


@pytest.mark.parametrize("text", [text for text in OBJECTS if "materia" in json.loads(text)])
def test_the_loadouts_are_of_the_right_shape(text: str) -> None:
    assert Config.model_validate(json.loads(text)).materia
