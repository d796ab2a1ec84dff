"""The action for GitHub: a valid one, whose steps run as the runner runs them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import checkout
import pytest
import yaml

FILE: Final = checkout.ROOT / "action.yml"
ACTION: Final[dict[str, Any]] = yaml.safe_load(FILE.read_bytes())
INSTALL, CHECK = ACTION["runs"]["steps"]
SOUND: Final = 'loadout L {\n  entry a\n  a: Agent\n}\nmateria Agent { prompt "Do: {{request}}" }\n'
BROKEN: Final = SOUND.replace("entry a", "entry b")
WARNED: Final = SOUND.replace("  entry a\n", "")


def test_it_is_valid() -> None:
    words = ["check-jsonschema", "--builtin-schema", "vendor.github-actions", str(FILE)]
    subprocess.run(words, env=checkout.environ(Path("/nowhere")), check=True, stdout=subprocess.DEVNULL)


def step(step: Mapping[str, Any], folder: Path, inputs: Mapping[str, str], **environ: str) -> tuple[int, str]:
    """Run a step in a folder; its exit code and its output."""
    assert step["shell"] == "bash"
    own = {name: filled(value, inputs) for name, value in step.get("env", {}).items()}
    script = folder / ".step"
    script.write_text(step["run"], encoding="utf-8")
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)],
        cwd=folder,
        env={**checkout.environ(folder), **own, **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def filled(value: str, inputs: Mapping[str, str]) -> str:
    """A value with the inputs in it, as they come or as they are when they are left out."""
    defaults = {name: told.get("default", "") for name, told in ACTION["inputs"].items()}
    return re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda match: {**defaults, **inputs}[match[1]], value)


@pytest.fixture
def runner(tmp_path: Path) -> Path:
    """The folder for what a job installs, in which this materiac stands for an installed one."""
    programs = tmp_path / "temp/materiac/bin"
    programs.mkdir(parents=True)
    (programs / "materiac").symlink_to(Path(sys.executable).parent / "materiac")
    return tmp_path / "temp"


@pytest.mark.parametrize(
    ("files", "args", "code", "found"),
    [
        pytest.param("sound.materia", "", 0, [], id="sound"),
        pytest.param("sound.materia\nbroken.materia\n", "", 1, ["broken.materia"], id="a line a file"),
        pytest.param("*.materia", "", 1, ["broken.materia", "warned.materia"], id="pattern"),
        pytest.param(
            "**/*.materia", "", 1, ["a b/$(touch x).materia", "broken.materia", "warned.materia"], id="deep"
        ),
        pytest.param("a b/*", "", 1, ["a b/$(touch x).materia"], id="odd names"),
        pytest.param("warned.materia", "", 0, ["warned.materia"], id="warned"),
        pytest.param("warned.materia", "--strict  --loadout\n L\n", 1, ["warned.materia"], id="options"),
        pytest.param("sound.materia", "--loadout $(touch${IFS}x)*", 1, [], id="odd options"),
        pytest.param("none*.materia", "", 2, [], id="no such file"),
        pytest.param("--help", "", 2, [], id="file like an option"),
        pytest.param("", "", 2, [], id="no file"),
        pytest.param("none*.json\n  **/none.json\n", "", 2, [], id="patterns that fit none"),
        pytest.param("none*.json\nsou*.materia", "", 0, [], id="a pattern that fits none beside one"),
        pytest.param("none.json\nsound.materia", "", 2, [], id="a file that is not there beside one"),
        pytest.param(
            "brok*.materia \r\n\twarned.materia\r\n",
            "",
            1,
            ["broken.materia", "warned.materia"],
            id="CRLF and blanks",
        ),
        pytest.param("a b/*\r\n\r\n", "", 1, ["a b/$(touch x).materia"], id="CRLF and odd names"),
        pytest.param(".c/odd[1].materia", "", 1, [".c/odd[1].materia"], id="name like a pattern"),
    ],
)
def test_the_check(files: str, args: str, code: int, found: list[str], tmp_path: Path, runner: Path) -> None:
    work = tmp_path / "work"
    for folder in ("a b", ".c"):
        (work / folder).mkdir(parents=True)
    texts = {
        "sound": SOUND,
        "broken": BROKEN,
        "warned": WARNED,
        "a b/$(touch x)": BROKEN,
        ".c/odd[1]": BROKEN,
    }
    for name, text in texts.items():
        (work / f"{name}.materia").write_text(text, encoding="utf-8")
    places = {"RUNNER_TEMP": str(runner), "GITHUB_WORKSPACE": str(work)}
    came, output = step(CHECK, work, {"files": files, "args": args}, **places)
    assert came == code, output
    assert re.findall(r"^::(?:error|warning) file=(.*?),", output, re.MULTILINE) == found
    assert not list(tmp_path.rglob("x"))


@pytest.mark.slow
def test_the_installation(tmp_path: Path) -> None:
    source = checkout.copy(tmp_path / "materiac")
    work, temp = tmp_path / "work", tmp_path / "temp dir"
    work.mkdir()
    temp.mkdir()
    code, output = step(INSTALL, work, {}, RUNNER_TEMP=str(temp), GITHUB_ACTION_PATH=str(source))
    assert code == 0, output
    (work / "a.materia").write_text(BROKEN, encoding="utf-8")
    code, output = step(
        CHECK, work, {"files": "a.materia"}, RUNNER_TEMP=str(temp), GITHUB_WORKSPACE=str(work)
    )
    assert code == 1, output
    assert output.startswith("::error file=a.materia,line=2,")
    assert os.listdir(temp) == ["materiac"]  # noqa: PTH208
