from __future__ import annotations

import importlib.util
import re
import shlex
import subprocess
import sys

import pytest

from materiac import __version__
from materiac.cli import COMMANDS, main

NAMES = [command.name for command in COMMANDS]


def run(*words: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "materiac", *words], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int | str | None, str, str]:
    with pytest.raises(SystemExit) as exit_:
        main(words)
    return exit_.value.code, *capsys.readouterr()


def commands_in(example: str) -> list[str]:
    """The commands of materiac that a shell line calls."""
    parts = (shlex.split(part) for part in example.split("|"))
    return [words[1] for words in parts if words[0] == "materiac"]


@pytest.mark.parametrize("words", [("--help",), ("-h",), ()], ids=str)
def test_the_overview_names_every_command(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = shown(capsys, *words)
    assert (code, err) == (0, "")
    for command in COMMANDS:
        assert re.search(rf"^  {command.name} +{re.escape(command.summary)}$", out, re.MULTILINE)
    assert "example:\n  materiac " in out


@pytest.mark.parametrize("name", NAMES)
def test_the_help_of_a_command_has_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = shown(capsys, name, "--help")
    assert (code, err) == (0, "")
    example = out.rpartition("example:\n")[2].strip()
    assert name in commands_in(example)
    assert all(called in NAMES for called in commands_in(example))


@pytest.mark.parametrize("command", COMMANDS, ids=NAMES)
def test_the_module_of_a_command_is_there(command: tuple[str, str, str, str]) -> None:
    assert importlib.util.find_spec(f"materiac.cli.{command[1]}") is not None


@pytest.mark.parametrize("command", COMMANDS, ids=NAMES)
def test_the_options_of_an_example_are_known(
    command: tuple[str, str, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    example = next(shlex.split(part) for part in command[3].split("|") if "materiac" in part)
    _, out, _ = shown(capsys, command[0], "--help")
    assert all(word in out for word in example if word.startswith("-"))


@pytest.mark.parametrize("words", [("--version",), ("check", "--version")], ids=str)
def test_version(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, *words) == (0, f"materiac {__version__}\n", "")


@pytest.mark.parametrize(
    "words", [("chekc",), ("--halp",), ("check",), ("check", "--nope", "x"), ("explain",)], ids=str
)
def test_wrong_usage(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = shown(capsys, *words)
    assert (code, out) == (2, "")
    assert err.startswith("materiac: ")
    assert "usage: materiac" in err


def test_as_a_module_and_as_a_script() -> None:
    assert run("--version") == (0, f"materiac {__version__}\n", "")
    assert run("nope")[0] == 2


def test_a_fault_of_its_own_is_no_traceback() -> None:
    code = (
        "import sys; from materiac import cli, report; report.ordered = 5; sys.exit(cli.main(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "check", "-"], input="{}", capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("materiac: a fault of materiac itself: TypeError: ")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        pytest.param("check -", 1, id="check"),
        pytest.param("utility noop", 2, id="utility"),
        pytest.param("rules", 0, id="rules"),
    ],
)
@pytest.mark.parametrize("closed", ["<&-", "<&- >&-", "<&- >&- 2>&-"])
def test_closed_streams_are_empty_ones(words: str, code: int, closed: str) -> None:
    command = f'"{sys.executable}" -m materiac {words} {closed}'
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, "fault" in done.stderr) == (code, False)


def test_a_full_disk_is_said() -> None:
    done = subprocess.run(
        ["bash", "-c", f'"{sys.executable}" -m materiac rules > /dev/full'],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (
        2,
        "materiac: the output cannot be written: No space left on device\n",
    )
