"""A person as the agent: the prompt on the terminal, the answer from it."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TextIO

from materiac.agents.protocol import AgentError, Reply, Request, Standing

LAST_LINE: Final = "."
_CHUNK: Final = 64 * 1024


class Ask:
    """Asks the person at the terminal; one question at a time, whatever threads ask."""

    spec = "ask"

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._ears, self._bell = os.pipe()

    def turn(self, request: Request) -> Reply:
        """Show the prompt and read lines up to a lone `.` or the end of input."""
        with self._lock, _terminal() as (keyboard, screen):
            if self._closed.is_set():
                raise AgentError(f"nobody answered '{request.socket}' before all was stopped")
            print(_question(request), file=screen, flush=True)
            text = _answer(self._lines(keyboard, request))
        if text is None:
            raise AgentError(f"the terminal ended before there was an answer for '{request.socket}'")
        return Reply(text, provider="person")

    def close(self) -> None:
        """Wake up who waits for an answer; there will be none."""
        if not self._closed.is_set():
            self._closed.set()
            os.write(self._bell, b"!")

    def _lines(self, keyboard: int, request: Request) -> Iterator[str]:
        """The lines that are typed, as they come, with what ends them."""
        rest = b""
        while True:
            ready, _, _ = select.select([keyboard, self._ears], [], [])
            if self._ears in ready:
                raise AgentError(f"nobody answered '{request.socket}' before all was stopped")
            chunk = os.read(keyboard, _CHUNK)
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                yield _decoded(line + b"\n", request)
            if not chunk:
                if rest:
                    yield _decoded(rest, request)
                return


def _decoded(line: bytes, request: Request) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise AgentError(f"the answer for '{request.socket}' is no UTF-8: {error.reason}") from error


@contextlib.contextmanager
def _terminal() -> Iterator[tuple[int, TextIO]]:
    """The terminal to read and the one to write; the latter is standard error where a person sees it."""
    name = _terminal_name()
    with contextlib.ExitStack() as stack:
        keyboard = os.open(name, os.O_RDONLY | os.O_NOCTTY)
        stack.callback(os.close, keyboard)
        screen = sys.stderr
        if not screen.isatty():
            screen = stack.enter_context(name.open("w", encoding="utf-8"))
        yield keyboard, screen


def _terminal_name() -> Path:
    with contextlib.suppress(OSError):
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
        return Path("/dev/tty")
    with contextlib.suppress(OSError):
        return Path(os.ttyname(0))
    raise AgentError("the agent 'ask' needs a terminal, and there is none")


def _question(request: Request) -> str:
    item = f", item {request.item_key}" if request.item_key else ""
    head = f"── '{request.socket}' ({request.materia}{item}), visit {request.visit}, turn {request.turn} ──"
    tools = f"tools: {', '.join(request.tools) or 'none'}"
    tail = f"── your answer; a line with '{LAST_LINE}' alone ends it ──"
    return f"\n{head}\n{tools}\n\n{request.prompt}\n\n{tail}"


def _answer(typed: Iterator[str]) -> str | None:
    """The lines before the last one; None where the input ended at once."""
    lines: list[str] = []
    for line in typed:
        if line.rstrip("\n") == LAST_LINE:
            return "".join(lines).removesuffix("\n")
        lines.append(line)
        if not line.endswith("\n"):  # a terminal's end of input does not last: do not read on
            break
    return "".join(lines).removesuffix("\n") if lines else None


def make(spec: str) -> Ask:
    """The agent of `ask`. Raises `AgentError` where something stands behind it."""
    if spec != Ask.spec:
        raise AgentError(f"'{spec}' has something behind 'ask', expected 'ask' alone")
    return Ask()


def inspect(_name: str) -> Standing:
    """Whether there is a terminal to ask at."""
    try:
        _terminal_name()
    except AgentError as error:
        return Standing(installed=True, why_not=str(error))
    return Standing(installed=True)
