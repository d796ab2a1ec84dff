"""What is left of commands whose owner was killed: found by the owner's name, and ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from materiac.process import end_leftovers
from materiac.process.descendants import MARK

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")

OWNER = "20310504-102030-123456-3f9a"
RUN = """
import os, sys
from pathlib import Path
from materiac.process import run
command, owner = ["sh", "-c", sys.argv[1]], sys.argv[2]
run(command, stdin=b"", cwd=Path(), env=os.environ, timeout_s=60, max_bytes=9, owner=owner)
"""
QUIET = "</dev/null >/dev/null 2>&1"


def runs(pid: int) -> bool:
    with suppress(FileNotFoundError, ProcessLookupError):
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
        return stat.rpartition(")")[2].split()[0] not in "ZX"
    return False


@contextmanager
def killed(script: str, folder: Path, count: int, owner: str = OWNER) -> Iterator[list[int]]:
    """The processes of a command, which write their numbers to `pids`, after its owner was killed."""
    environ = {name: value for name, value in os.environ.items() if name != MARK}
    process = subprocess.Popen([sys.executable, "-c", RUN, script, owner], cwd=folder, env=environ)
    pids: list[int] = []
    try:
        deadline = time.monotonic() + 20
        while len(pids) < count:
            assert time.monotonic() < deadline, "the command has not come so far"
            time.sleep(0.01)
            file = folder / "pids"
            pids = [int(pid) for pid in file.read_text(encoding="utf-8").split()] if file.exists() else []
        process.kill()
        process.wait()
        assert all(map(runs, pids)), "they outlive their owner"
        yield pids
    finally:
        process.kill()
        process.wait()
        for pid in filter(runs, pids):
            os.kill(pid, signal.SIGKILL)


NOTE = "echo $$ >> pids; "
TWICE = r'(setsid sh -c "echo \$\$ >> pids; exec sleep 60" &)'
NESTED = f"exec {sys.executable} -c '{RUN}' 'echo $$ >> pids; exec sleep 60' inner"


@pytest.mark.parametrize(
    ("script", "count"),
    [
        pytest.param(f"{NOTE} exec sleep 60", 1, id="a command"),
        pytest.param(f"{NOTE} sleep 60 & echo $! >> pids; wait", 2, id="with a child"),
        pytest.param(f"(setsid sh -c '{TWICE}' &) {QUIET}; {NOTE} exec sleep 60", 2, id="that forked twice"),
        pytest.param(f"{NOTE} env -i sh -c 'echo $$ >> pids; sleep 60' & wait", 2, id="without environment"),
        pytest.param(f"trap '' TERM; {NOTE} while :; do sleep 1; done", 1, id="deaf"),
        pytest.param(
            f"{NOTE} env -i setsid sh -c 'trap \"\" TERM; {NOTE} while :; do sleep 1; done' {QUIET} & wait",
            2,
            id="deaf and without environment",
        ),
        pytest.param(f"{NOTE} kill -STOP $$", 1, id="that stands still"),
        pytest.param(NOTE + NESTED, 2, id="nested"),
    ],
)
def test_what_a_killed_owner_left_is_ended(script: str, count: int, tmp_path: Path) -> None:
    with killed(script, tmp_path, count) as pids:
        assert end_leftovers("20310504-102030-123456-3f9b") == 0
        assert end_leftovers("20310504-102030-123456-3f9") == 0
        assert all(map(runs, pids))
        began = time.monotonic()
        assert end_leftovers(OWNER) >= count
        assert time.monotonic() - began < 2 + 1, "two seconds, and one for a busy machine"
        assert not any(map(runs, pids))
        assert end_leftovers(OWNER) == 0


def test_nested_commands_have_both_owners(tmp_path: Path) -> None:
    with killed(NOTE + NESTED, tmp_path, 2) as (outer, inner):
        assert end_leftovers("inner") == 1
        assert not runs(inner)
        assert end_leftovers(OWNER) <= 1, "the one between may end by itself"
        assert not runs(outer)


def test_an_owner_that_is_not_named_has_no_leftovers(tmp_path: Path) -> None:
    with killed(f"{NOTE} exec sleep 60", tmp_path, 1, owner="") as pids:
        assert end_leftovers("") == 0
        assert all(map(runs, pids))


def test_the_name_in_another_variable_means_nothing() -> None:
    environ = {**os.environ, "OTHER": f"x:{OWNER}.1"}
    with subprocess.Popen(["sleep", "60"], env=environ) as other:
        assert end_leftovers(OWNER) == 0
        assert other.poll() is None
        other.kill()


END = """
import os, subprocess, sys
from materiac.process import end_leftovers
child = subprocess.Popen(["sleep", "60"])
count = end_leftovers(sys.argv[1])
try:
    os.waitpid(child.pid, os.WNOHANG)
except ChildProcessError:
    print(count, "reaped")
"""


def test_this_process_and_its_ancestors_are_left_alone() -> None:
    environ = {**os.environ, MARK: f":{OWNER}.00"}
    script = 'python=$1; shift; "$python" "$@"; echo still here'
    done = subprocess.run(
        ["sh", "-c", script, "sh", sys.executable, "-c", END, OWNER],
        env=environ,
        capture_output=True,
        text=True,
        check=True,
        timeout=20,
    )
    assert done.stdout.splitlines() == ["1 reaped", "still here"]
