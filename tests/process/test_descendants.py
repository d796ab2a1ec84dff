"""Adopting processes, and finding a command of which only the mark is known."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from materiac.process.descendants import MARK, Descendants, adopting

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


def orphan() -> int:
    """A process that has lost its parent."""
    done = subprocess.run(
        ["sh", "-c", "sleep 60 >/dev/null 2>&1 & echo $!"], stdout=subprocess.PIPE, check=True, text=True
    )
    return int(done.stdout)


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])


def test_orphans_become_children_only_while_adopting() -> None:
    with adopting():
        with adopting():
            pass
        pid = orphan()
        assert parent(pid) == os.getpid()
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    pid = orphan()
    assert parent(pid) != os.getpid()
    os.kill(pid, signal.SIGKILL)


def test_a_command_is_found_by_its_mark_alone() -> None:
    mark, other = os.urandom(8).hex(), os.urandom(8).hex()
    command = subprocess.Popen(["sleep", "60"], env={**os.environ, MARK: f":{other}:{mark}"})
    try:
        assert Descendants(mark).alive() == {command.pid}
        assert Descendants(other).alive() == {command.pid}
        assert Descendants(mark[::-1]).alive() == set()
        Descendants(mark).send(signal.SIGTERM)
        assert command.wait(timeout=20) == -signal.SIGTERM
    finally:
        command.kill()
        command.wait()
