"""How a talk ends, and what ends with it; what is no talk at all."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from processes import needs_proc
from talk import PATIENCE_S, Talk

pytestmark = pytest.mark.slow

LSP = [sys.executable, "-P", "-m", "materiac", "lsp"]


@pytest.fixture
def talk(tmp_path: Path) -> Talk:
    (tmp_path / "work").mkdir()
    return Talk(tmp_path / "work")


def test_an_exit_without_a_shutdown_is_told_by_the_exit_code(talk: Talk) -> None:
    talk.tell("exit", None)
    assert talk.process.wait(PATIENCE_S) == 1
    talk.process.communicate()


def test_it_ends_with_its_pipe(talk: Talk) -> None:
    talk.open("a.materia", "loadout L {")
    talk.process.communicate(timeout=PATIENCE_S)
    assert talk.process.returncode == 0


def test_it_ends_with_the_process_that_it_was_told(tmp_path: Path) -> None:
    editor = subprocess.Popen(["sleep", "600"])
    talk = Talk(tmp_path, process=editor.pid)
    editor.kill()
    editor.wait()
    assert talk.process.wait(PATIENCE_S) == 1
    talk.process.communicate()


@needs_proc
def test_what_it_has_started_does_not_outlive_it(tmp_path: Path) -> None:
    """Not even where it is killed: what checks sees the end of its input."""
    talk = Talk(tmp_path)
    talk.findings(talk.open("a.materia", "loadout L {"), 1)
    started = children(talk.process.pid)
    assert len(started) == 1
    talk.process.kill()
    talk.process.communicate()
    end = time.monotonic() + PATIENCE_S
    while any(Path(f"/proc/{pid}").exists() for pid in started):
        assert time.monotonic() < end
        time.sleep(0.05)


def children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


NOISE = (
    b"Content-Length: 3\r\n\r\n{]}",
    b"Content-Length: 2\r\n\r\n[]",
    b"Content-Length: 4\r\n\r\nnull",
    b"\r\n\r\n",
    b"Content-Length: 0\r\n\r\n",
    b"content-length:2\n\n{}",
    b"Content-Type: x; charset=utf-8\r\nContent-Length: 2 \r\n\r\n{}",
    b'Content-Length: 17\r\n\r\n{"jsonrpc":"2.0"}',
    b"Content-Length: 2000\r\n\r\n" + b"[" * 1000 + b"]" * 1000,
    b"Content-Length: 60000\r\n\r\n" + b"[" * 60000,
)


def test_noise_is_passed_over(talk: Talk) -> None:
    assert talk.process.stdin is not None
    for noise in NOISE:
        talk.process.stdin.write(noise)
    uri = talk.open("a.materia", "loadout L {")
    assert [part["code"] for part in talk.findings(uri, 1)] == ["syntax"]
    assert talk.end() == 0
    talk.process.communicate()


@pytest.mark.parametrize(
    ("noise", "why"),
    [
        (b"Content-Length: x\r\n", "found 'Content-Length: x', expected a number of bytes"),
        (b"Content-Length: -5\r\n", "found 'Content-Length: -5', expected a number of bytes"),
        (b"What: 1\r\n\r\n", "found no 'Content-Length'"),
        (
            b"Content-Length: 99999999999\r\n\r\n",
            "found a message of 99999999999 bytes, 268435456 are allowed",
        ),
        (b'{"jsonrpc": "2.0"', """found '{"jsonrpc": "2.0"', expected 'Content-Length: …'"""),
        (b"Content-Length: 2{}", "found 'Content-Length: 2{}', expected 'Content-Length: …'"),
        (b"hello\r\n", "found 'hello', expected 'Content-Length: …'"),
        (b"\0\xff", "found '\0\ufffd', expected 'Content-Length: …'"),
        (b"a" * 9000, f"found '{'a' * 40}…', expected 'Content-Length: …'"),
    ],
)
def test_what_is_no_header_ends_it(talk: Talk, noise: bytes, why: str) -> None:
    assert talk.process.stdin is not None
    talk.process.stdin.write(noise)
    talk.process.stdin.flush()
    assert talk.process.wait(PATIENCE_S) == 1
    told = talk.process.communicate()[1].decode()
    assert told == f"materiac: what came is no header of a message: {why}\n"


def test_an_interrupt_ends_it(talk: Talk) -> None:
    talk.findings(talk.open("a.materia", "loadout L {"), 1)
    talk.process.send_signal(signal.SIGINT)
    assert talk.process.wait(PATIENCE_S) == 130
    assert talk.process.communicate()[1] == b""


def test_after_a_shutdown_every_request_is_refused(talk: Talk) -> None:
    assert talk.ask("shutdown", None) is None
    here = {"textDocument": {"uri": "file:///a"}, "position": {"line": 0, "character": 0}}
    for method, params in (
        ("textDocument/hover", here),
        ("shutdown", None),
        ("what", {}),
        ("initialize", {}),
    ):
        told = talk.ask(method, params)
        assert told == {"code": -32600, "message": "the server has been shut down"}
    talk.tell("exit", None)
    assert talk.process.wait(PATIENCE_S) == 0
    talk.process.communicate()


def test_before_it_is_initialized_nothing_is_answered(tmp_path: Path) -> None:
    process = subprocess.Popen(LSP, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path)
    text = b'{"jsonrpc": "2.0", "id": 1, "method": "textDocument/hover", "params": {}}'
    out, _ = process.communicate(b"Content-Length: %d\r\n\r\n" % len(text) + text, timeout=PATIENCE_S)
    assert b'"code": -32002' in out
    assert process.returncode == 0


def test_the_library_is_asked_for_where_it_is_missing() -> None:
    code = "import sys; sys.modules['pygls'] = None; from materiac.cli import main; sys.exit(main(['lsp']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, input="")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("materiac: 'lsp' needs pygls: install it with pip install 'materiac[lsp]'")


def test_a_terminal_is_no_editor() -> None:
    script = f"import pty, sys; sys.exit(pty.spawn({LSP!r}) >> 8)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )
    assert done.returncode == 2
    assert "standard input is no pipe from an editor" in done.stdout
