"""A person as the agent, at a real pseudo-terminal."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from materiac.agents import ask
from materiac.agents.protocol import AgentError

PROGRAM = """
import fcntl, sys, termios
from pathlib import Path
from materiac.agents.choose import make
from materiac.agents.protocol import AgentError, Request
if len(sys.argv) > 2:
    fcntl.ioctl(int(sys.argv[2]), termios.TIOCSCTTY, 0)
request = Request("Which colour?", "build", "Build", 2, 1, Path.cwd(), item_key="WI-3", tools=("read", "ls"))
try:
    text = make("ask").turn(request).text
except AgentError as error:
    text = f"refused: {error}"
Path(sys.argv[1]).write_text(text, encoding="utf-8")
"""


class Terminal:
    """A process with a pseudo-terminal, and what it shows."""

    def __init__(self, answer: Path, *, streams: bool = True, controlling: bool = True) -> None:
        self._answer = answer
        self._screen, keyboard = pty.openpty()
        words = [sys.executable, "-c", PROGRAM, str(answer), *([str(keyboard)] if controlling else [])]
        stream = keyboard if streams else subprocess.DEVNULL
        self._process = subprocess.Popen(
            words, stdin=stream, stderr=stream, pass_fds=[keyboard], start_new_session=True
        )
        os.close(keyboard)

    def read_until(self, text: str) -> str:
        shown = b""
        while text.encode() not in shown:
            shown += os.read(self._screen, 4096)
        return shown.decode()

    def type(self, keys: bytes) -> str:
        os.write(self._screen, keys)
        self._process.wait()
        os.close(self._screen)
        return self._answer.read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def _no_hanging() -> Iterator[None]:
    before = signal.signal(signal.SIGALRM, _late)
    signal.alarm(30)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def _late(*_: object) -> None:
    raise TimeoutError


END = "alone ends it ──"


def test_the_question_and_the_answer(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path / "answer")
    shown = terminal.read_until(END)
    for part in ("'build' (Build, item WI-3), visit 2, turn 1", "tools: read, ls", "Which colour?"):
        assert part in shown
    assert terminal.type("a grün one\n\n  .5 tones\n.\n".encode()) == "a grün one\n\n  .5 tones"


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        pytest.param(b"green\n\x04", "green", id="end of input after a line"),
        pytest.param(b"green\x04\x04", "green", id="end of input within a line"),
        pytest.param(b".\n", "", id="an empty answer, on purpose"),
        pytest.param(
            b"\x04", "refused: the terminal ended before there was an answer for 'build'", id="nothing"
        ),
        pytest.param(
            b"\xff\n.\n", "refused: the answer for 'build' is no UTF-8: invalid start byte", id="no UTF-8"
        ),
    ],
)
def test_how_an_answer_ends(tmp_path: Path, keys: bytes, answer: str) -> None:
    terminal = Terminal(tmp_path / "answer")
    terminal.read_until(END)
    assert terminal.type(keys) == answer


@pytest.mark.parametrize(
    ("streams", "controlling"),
    [pytest.param(False, True, id="streams led elsewhere"), pytest.param(True, False, id="a stream alone")],
)
def test_where_the_terminal_is_found(tmp_path: Path, *, streams: bool, controlling: bool) -> None:
    terminal = Terminal(tmp_path / "answer", streams=streams, controlling=controlling)
    assert "Which colour?" in terminal.read_until(END)
    assert terminal.type(b"green\n.\n") == "green"


def test_no_terminal(tmp_path: Path) -> None:
    words = [sys.executable, "-c", PROGRAM, str(tmp_path / "answer")]
    subprocess.run(words, stdin=subprocess.DEVNULL, start_new_session=True, check=True)
    assert (tmp_path / "answer").read_text() == "refused: the agent 'ask' needs a terminal, and there is none"


def test_nothing_stands_behind_it() -> None:
    with pytest.raises(AgentError, match="'ask:me' has something behind 'ask', expected 'ask' alone"):
        ask.make("ask:me")
