"""The processes of this machine, looked up by what their environment holds."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

import pytest

PATIENCE_S = 20.0
"""Far longer than it takes to end a process."""

needs_proc = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")


def marked(text: str) -> list[int]:
    """The processes that run and have `text` in their environment; not this one."""
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdecimal() and int(place.name) != os.getpid():
            with suppress(OSError):
                if text.encode() in (place / "environ").read_bytes() and _runs(place):
                    found.append(int(place.name))
    return sorted(found)


def told(pids: list[int]) -> str:
    """The command lines of processes, for the message of a test."""
    lines = []
    for pid in pids:
        with suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            lines.append(f"{pid}: {b' '.join(words).decode(errors='replace')[:200]}")
    return "\n".join(lines)


def wait_none(text: str, seconds: float = PATIENCE_S) -> None:
    """Wait until no process has `text` in its environment; what is left then fails the test."""
    end = time.monotonic() + seconds
    while (left := marked(text)) and time.monotonic() < end:
        time.sleep(0.02)
    assert not left, told(left)


def _runs(place: Path) -> bool:
    # The name of the program, in parentheses, may hold anything; the state comes after it.
    return (place / "stat").read_bytes().rpartition(b") ")[2][:1] not in b"ZX"
