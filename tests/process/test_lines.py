"""Commands that are talked to line by line, with real ones."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from processes import marked, needs_proc, wait_none

from materiac.process import StartError, end_leftovers
from materiac.process.lines import EndedError, Lines, LineTooLongError

PATIENCE_S = 20.0
OWNER = f"lines-test-{os.getpid()}"
ECHO = "import sys\nfor line in sys.stdin.buffer:\n sys.stdout.buffer.write(line)\n sys.stdout.buffer.flush()"

Talk = Callable[..., Lines]


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Talk]:
    """Talk with a command, which is ended with the test."""
    begun: list[Lines] = []

    def talk(*command: str, max_line: int = 64 * 1024**2) -> Lines:
        lines = Lines(command, cwd=tmp_path, env=dict(os.environ), max_line=max_line, owner=OWNER)
        begun.append(lines)
        return lines

    yield talk
    for lines in begun:
        lines.end()
    assert not marked(f":{OWNER}.")


def echo(talk: Talk) -> Lines:
    return talk(sys.executable, "-c", ECHO)


@pytest.mark.parametrize(
    "line",
    [b"", b"one", "a\u2028b\u0085c\vd\fe\r".encode(), b"\xff\0", b"x" * 3_000_000],
    ids=["empty", "short", "other line ends", "no text", "3 MB"],
)
def test_a_line_comes_back_as_it_is(talk: Talk, line: bytes) -> None:
    lines = echo(talk)
    lines.send(line)
    lines.send(b"after it")
    assert [lines.receive(PATIENCE_S), lines.receive(PATIENCE_S)] == [line, b"after it"]


def test_there_is_none_in_the_time(talk: Talk) -> None:
    lines = echo(talk)
    assert lines.receive(0.05) is None
    lines.send(b"now")
    assert lines.receive(PATIENCE_S) == b"now"


def test_an_end_comes_after_the_last_line(talk: Talk) -> None:
    lines = talk("sh", "-c", "echo one; echo two; printf three; echo why >&2; exit 3")
    assert [lines.receive(PATIENCE_S), lines.receive(PATIENCE_S)] == [b"one", b"two"]
    with pytest.raises(EndedError):
        lines.receive(PATIENCE_S)
    assert not lines.alive
    lines.end()
    lines.end()
    assert (lines.code, lines.stderr) == (3, b"why\n")


def test_an_end_is_seen_while_a_child_holds_the_output(talk: Talk) -> None:
    lines = talk("sh", "-c", "echo one; setsid sleep 600 & exit 0")
    assert lines.receive(PATIENCE_S) == b"one"
    with pytest.raises(EndedError):
        lines.receive(PATIENCE_S)


def test_what_is_sent_to_one_that_has_ended_is_lost(talk: Talk) -> None:
    lines = talk("true")
    lines.send(b"x" * 1_000_000)
    with pytest.raises(EndedError):
        lines.receive(PATIENCE_S)
    lines.send(b"more")
    assert lines.code is None
    lines.end()
    assert lines.code == 0


def test_a_line_that_is_too_long_is_not_kept(talk: Talk) -> None:
    lines = talk("sh", "-c", "head -c 1000000 /dev/zero; sleep 600", max_line=100_000)
    with pytest.raises(LineTooLongError):
        lines.receive(PATIENCE_S)


def test_stderr_is_read_and_its_end_kept(talk: Talk) -> None:
    lines = talk("sh", "-c", "head -c 1000000 /dev/zero >&2; echo last >&2; echo done; read x")
    assert lines.receive(PATIENCE_S) == b"done"
    lines.end()
    assert lines.stderr.endswith(b"\0last\n")
    assert len(lines.stderr) <= 64 * 1024


@needs_proc
@pytest.mark.parametrize(
    "script",
    [
        "echo on; exec sleep 600",
        "trap '' TERM; echo on; while :; do sleep 600; done",
        "setsid sh -c 'setsid sleep 600 & sleep 600' & echo on; read x",
        "kill -STOP $$ & echo on; sleep 600",
    ],
    ids=["hears", "does not hear", "has fled", "stands still"],
)
def test_the_whole_tree_ends(talk: Talk, script: str) -> None:
    lines = talk("sh", "-c", script)
    assert lines.receive(PATIENCE_S) == b"on"
    assert lines.alive
    began = time.monotonic()
    lines.end()
    assert time.monotonic() - began < 5
    wait_none(f":{OWNER}.")
    assert lines.code is not None
    assert not lines.alive


def test_a_command_that_hears_the_end_of_its_input_ends_by_itself(talk: Talk) -> None:
    lines = talk("sh", "-c", "trap '' TERM; echo on; cat > /dev/null; exit 5")
    assert lines.receive(PATIENCE_S) == b"on"
    lines.end()
    assert lines.code == 5


@needs_proc
def test_it_is_found_by_its_owner(talk: Talk) -> None:
    lines = talk("sh", "-c", "echo on; sleep 600")
    assert lines.receive(PATIENCE_S) == b"on"
    assert end_leftovers(OWNER) >= 1
    with pytest.raises(EndedError):
        lines.receive(PATIENCE_S)


def test_what_cannot_be_started(talk: Talk) -> None:
    with pytest.raises(StartError, match="'no-such-program' is not on the PATH"):
        talk("no-such-program")
