"""`materiac utility`: what it reads, what it prints, how it exits."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest

from materiac.cli import main
from materiac.utilities.builtins import registry


def call(*arguments: str, stdin: bytes = b"{}", cwd: Path | None = None) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "materiac", "utility", *arguments],
        input=stdin,
        cwd=cwd,
        capture_output=True,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.parametrize("arguments", [[], ["--list"]])
def test_the_list(arguments: list[str]) -> None:
    code, out, err = call(*arguments)
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()] == list(registry)


def test_one_line_of_json_in_utf8() -> None:
    stdin = '\ufeff{"params": {"output": {"é": "a\\nb"}}}\n'.encode()
    assert call("echo", stdin=stdin) == (0, '{"é": "a\\nb"}\n', "")


def test_the_current_folder_is_the_default(tmp_path: Path) -> None:
    code, _, _ = call("project.ensureIgnored", stdin=b'{"params": {"patterns": ["a"]}}', cwd=tmp_path)
    assert code == 0
    assert (tmp_path / ".gitignore").read_bytes() == b"a\n"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("vcs.detct", "no built-in is called 'vcs.detct', did you mean 'vcs.detect'?"),
        ("vcs.Detect", "no built-in is called 'vcs.Detect', did you mean 'vcs.detect'?"),
        ("xyzzy", "no built-in is called 'xyzzy'"),
    ],
)
def test_an_unknown_name(name: str, message: str) -> None:
    assert call(name) == (2, "", f"materiac: {message}\n")


@pytest.mark.parametrize(
    ("stdin", "message"),
    [
        pytest.param(
            b"", "no JSON: Expecting value: line 1 column 1 (char 0), expected one object", id="empty"
        ),
        pytest.param(b"{", "no JSON: ", id="cut"),
        pytest.param(b"{} {}", "no JSON: Extra data", id="two"),
        pytest.param(b"[]", "found a list, expected one JSON object", id="list"),
        pytest.param(b"null", "found null, expected one JSON object", id="null"),
        pytest.param(b'{"a": "\xff"}', "the bytes are not UTF-8", id="latin-1"),
        pytest.param(b'{"a": "\\ud800"}', "a text has a lone surrogate in it", id="surrogate"),
        pytest.param(b'{"a": NaN}', "Out of range float values are not JSON compliant", id="nan"),
        pytest.param(b'{"a": 1e999}', "Out of range float values are not JSON compliant", id="overflow"),
        pytest.param(b'{"a":' + b"[" * 100_000, "the JSON is nested too deeply", id="deep"),
    ],
)
def test_bad_input(
    stdin: bytes, message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
    assert main(["utility", "echo"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"materiac: stdin: {message}")
    assert err.count("\n") == 1


def test_a_utility_that_cannot_do_its_work() -> None:
    message = "materiac: handoff.checkTitles: 'state.workItems' is null, expected a list\n"
    assert call("handoff.checkTitles") == (1, "", message)
