"""A desk where casts are gone on with: what any command comes to there has nothing unsafe in it."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from desk import LONG_S, Desk, Ran

_UNSAFE = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class Going(Desk):
    """Casts lie where they do by default. `go` calls a command here, `really` in a process of its own."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        super().__init__(folder)
        self.files = folder / ".materia" / "casts"
        self.capture = capture

    def go(self, *words: str, folder: Path | None = None, env: Mapping[str, str] | None = None) -> Ran:
        return safe(self.call_here(self.capture, *words, folder=folder, env=env))

    def really(self, *words: str, folder: Path | None = None, typed: bytes = b"") -> Ran:
        return safe(self.call(*words, folder=folder, typed=typed))

    def begin(self, *options: str) -> Ran:
        """Run the loadout, as a cast that is gone on with later."""
        return self.go(*self.words(*options)[3:])

    @contextmanager
    def started(self, *words: str) -> Iterator[subprocess.Popen[str]]:
        """A command that goes on by itself, in a session of its own."""
        with subprocess.Popen(
            [sys.executable, "-m", "materiac", *words],
            cwd=self.folder,
            env=self.environ(None),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            text=True,
        ) as process:
            try:
                yield process
            finally:
                process.kill()

    def running(self, *options: str) -> AbstractContextManager[subprocess.Popen[str]]:
        """A run that goes on by itself."""
        return self.started(*self.words(*options)[3:])

    @property
    def cast(self) -> Path:
        """The folder of the only cast."""
        [folder] = self.files.iterdir()
        return folder

    def kinds(self, kind: str) -> list[dict[str, Any]]:
        """The records of a type."""
        return [record for record in self.records() if record["type"] == kind]

    def log(self) -> list[str]:
        """What the commands of the loadout have written down."""
        file = self.folder / "log"
        return file.read_text(encoding="utf-8").split() if file.exists() else []

    def write_text(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def swap(self, name: str, old: str, new: str) -> None:
        """Change a file."""
        text = (self.folder / name).read_text(encoding="utf-8")
        assert old in text
        self.write_text(name, text.replace(old, new))


def safe(ran: Ran) -> Ran:
    """What was printed has no traceback in it, and nothing that does something to a terminal."""
    for text in (ran.out, ran.err):
        assert "Traceback" not in text
        assert not _UNSAFE.findall(text), text
    assert ran.code in (0, 1, 2, 4), ran.err
    return ran


def wait_for(come: Callable[[], object]) -> None:
    end = time.monotonic() + LONG_S
    while not come():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
