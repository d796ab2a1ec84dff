"""A folder with casts in it, and the commands that look at them."""

from __future__ import annotations

import hashlib
import json
import os
import pty
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hand_written import Told, write

from materiac.cli import main

Json = dict[str, Any]

LONG_S = 30.0
"""What goes on for longer has failed."""
PLACES = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "MATERIA_CONFIG", "MATERIAC_AGENT", "PYTHONWARNINGS")
"""Variables that have a say in what is shown."""


@dataclass(frozen=True)
class Shown:
    """What a command came to."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


class Shed:
    """A working folder with casts in the place where casts are kept by default."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.root = folder / ".materia" / "casts"
        self._capture = capture

    def cast(self, cast_id: str, *told: Told, machine: Json | None = None) -> Path:
        """Write a cast by hand."""
        folder = self.root / cast_id
        write(folder, *told)
        if machine is not None:
            (folder / "machine.json").write_text(json.dumps({"program": machine}), encoding="utf-8")
        return folder

    def look(self, *words: str, env: Mapping[str, str] | None = None) -> Shown:
        """Call a command in this process."""
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            for name in PLACES:
                patch.delenv(name, raising=False)
            for name, value in {**self._home(), **(env or {})}.items():
                patch.setenv(name, value)
            try:
                code = main(words)
            except SystemExit as error:
                code = int(error.code or 0)
        captured = self._capture.readouterr()
        return Shown(code, captured.out, captured.err)

    def at_terminal(self, *words: str, columns: int = 80) -> str:
        """What a command shows at a terminal."""
        screen, keyboard = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "materiac", *words],
            cwd=self.folder,
            env={**self.environ(), "TERM": "xterm-256color", "COLUMNS": str(columns)},
            stdin=subprocess.DEVNULL,
            stdout=keyboard,
            stderr=keyboard,
        )
        os.close(keyboard)
        shown = b"".join(_read(screen))
        process.wait(20)
        return shown.decode()

    @contextmanager
    def started(self, *words: str) -> Iterator[subprocess.Popen[str]]:
        """A command that goes on by itself."""
        with subprocess.Popen(
            [sys.executable, "-m", "materiac", *words],
            cwd=self.folder,
            env=self.environ(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            watchdog = threading.Timer(LONG_S, process.kill)
            watchdog.start()
            try:
                yield process
            finally:
                watchdog.cancel()
                process.kill()

    def environ(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name not in PLACES}
        return {**kept, **self._home(), "PYTHONWARNINGS": "error"}

    def _home(self) -> dict[str, str]:
        return {"HOME": str(self.folder), "XDG_CONFIG_HOME": str(self.folder / "none"), "TZ": "UTC"}


def _read(screen: int) -> Iterator[bytes]:
    """What is written to a terminal, until its other end is closed, which is an error there."""
    try:
        while data := os.read(screen, 65536):
            yield data
    except OSError:
        pass
    finally:
        os.close(screen)


def state_of(folder: Path) -> dict[str, tuple[int, int, str]]:
    """Mode, time of change and content of all that is in a folder, itself too."""
    return {str(path): _state(path) for path in (folder, *sorted(folder.rglob("*")))}


def _state(path: Path) -> tuple[int, int, str]:
    stat = path.lstat()
    content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
    return stat.st_mode, stat.st_mtime_ns, content
