"""A folder with a loadout in it, and `materiac` there: with pipes, or at a pseudo-terminal."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from materiac.cli import main

LONG_S = 20.0
"""What waits longer than this has failed."""

_AT_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
_MATERIAC = (sys.executable, "-m", "materiac")
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass(frozen=True)
class Ran:
    """What a run with pipes came to."""

    code: int
    out: str
    err: str


class Terminal:
    """A pseudo-terminal with a run at it."""

    def __init__(self, process: subprocess.Popen[bytes], screen: int) -> None:
        self.process = process
        self._screen = screen
        self._shown = b""

    @property
    def shown(self) -> str:
        """All that was written to the terminal so far."""
        return self._shown.decode()

    @property
    def text(self) -> str:
        """The same without what moves the cursor and sets colours."""
        return _CONTROL.sub("", self.shown).replace("\r", "")

    def type(self, keys: str) -> None:
        os.write(self._screen, keys.encode())

    def until(self, come: Callable[[], bool]) -> None:
        """Read on until something is so."""
        end = time.monotonic() + LONG_S
        while not come():
            over = self.process.poll() is not None
            self.listen(0.05)
            late = time.monotonic() > end or over
            assert come() or not late, f"it did not come to that: {self.shown}"

    def until_shown(self, text: str) -> None:
        self.until(lambda: text in self.text)

    def listen(self, seconds: float) -> None:
        """Read for a while; fewer seconds where the other end is closed."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and select.select([self._screen], [], [], left)[0]:
            data = b""
            with suppress(OSError):  # a pseudo-terminal ends with an error
                data = os.read(self._screen, 65536)
            if not data:
                time.sleep(max(0.0, min(0.05, left)))
                return
            self._shown += data

    def code(self) -> int:
        """Read to the end, and give the exit code."""
        self.until(lambda: self.process.poll() is not None)
        self.listen(0.05)
        return self.process.wait()

    def attributes(self) -> list[Any]:
        """How the terminal is set."""
        return termios.tcgetattr(self._screen)

    def hang_up(self) -> None:
        """Close the terminal, as one closes a window."""
        os.close(self._screen)
        self._screen = -1

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        if self._screen >= 0:
            os.close(self._screen)


class Desk:
    """A working folder; nothing of the user's or of the project's own lies below it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: Path = folder / "casts"

    def loadout(
        self, sockets: Mapping[str, Any], materia: Mapping[str, Any], *, loops: Any = None, **rest: Any
    ) -> None:
        """Write the loadout `Trial`, whose entry is its first socket."""
        trial = {"entry": next(iter(sockets)), "sockets": sockets, "loops": loops or {}}
        self.write("loadout.json", {"loadouts": {"Trial": trial}, "materia": materia, **rest})

    def answers(self, **sockets: Any) -> None:
        """Write what the scripted agent says."""
        self.write("answers.json", {"sockets": sockets})

    def write(self, name: str, data: Any) -> None:
        (self.folder / name).write_text(json.dumps(data), encoding="utf-8")

    def records(self) -> list[dict[str, Any]]:
        """The journal of the only cast."""
        [journal] = self.files.glob("*/events.jsonl")
        return [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]

    def run(self, *options: str, env: Mapping[str, str] | None = None) -> Ran:
        """Run the loadout with pipes."""
        return self.call(*self.words(*options)[3:], env=env)

    def call(
        self,
        *words: str,
        folder: Path | None = None,
        env: Mapping[str, str] | None = None,
        typed: bytes = b"",
    ) -> Ran:
        """Call any command with pipes, from this folder or another one."""
        done = subprocess.run(
            [*_MATERIAC, *words],
            cwd=folder or self.folder,
            env=self.environ(env),
            input=typed,
            capture_output=True,
            timeout=LONG_S,
            check=False,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    def run_here(
        self, capture: pytest.CaptureFixture[str], *options: str, env: Mapping[str, str] | None = None
    ) -> Ran:
        """Run the loadout in this process, which saves the start of another."""
        return self.call_here(capture, *self.words(*options)[3:], env=env)

    def call_here(
        self,
        capture: pytest.CaptureFixture[str],
        *words: str,
        folder: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Ran:
        """Call any command in this process."""
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder or self.folder)
            for name in os.environ.keys() - self.environ(env).keys():
                patch.delenv(name)
            for name, value in self.environ(env).items():
                patch.setenv(name, value)
            try:
                code = main(words)
            except SystemExit as error:
                code = int(error.code or 0)
        captured = capture.readouterr()
        return Ran(code, captured.out, captured.err)

    @contextmanager
    def terminal(
        self,
        *options: str,
        call: Sequence[str] = (),
        rows: int = 24,
        columns: int = 80,
        env: Mapping[str, str] | None = None,
    ) -> Iterator[Terminal]:
        """Run the loadout at a terminal, or `call` another command."""
        words = [*_MATERIAC, *call] if call else self.words(*options)
        screen, keyboard = pty.openpty()
        fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        process = subprocess.Popen(
            [sys.executable, "-c", _AT_TERMINAL, *words[1:]],
            cwd=self.folder,
            env=self.environ(env),
            stdin=keyboard,
            stdout=keyboard,
            stderr=keyboard,
            start_new_session=True,
        )
        os.close(keyboard)
        terminal = Terminal(process, screen)
        try:
            yield terminal
        finally:
            terminal.close()

    def words(self, *options: str) -> list[str]:
        """The command that runs the loadout."""
        agent = ["--agent", "scripted:answers.json"] if (self.folder / "answers.json").exists() else []
        command = ["run", "loadout.json", "--request", "wash the car", "--artifacts", str(self.files)]
        return [*_MATERIAC, *command, *agent, *options]

    def environ(self, more: Mapping[str, str] | None) -> dict[str, str]:
        """The environment: that of the tests, without what has a say in what is shown."""
        told = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "MATERIA_CONFIG", "MATERIAC_AGENT")
        kept = {name: value for name, value in os.environ.items() if name not in told}
        home = {"HOME": str(self.folder), "XDG_CONFIG_HOME": str(self.folder / "none")}
        return {**kept, **home, "TERM": "xterm-256color", "PYTHONWARNINGS": "error", **(more or {})}
