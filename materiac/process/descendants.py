"""The processes that come from a command, wherever they went: found, told, ended, reaped.

A process belongs to a command when it is in the command's process group or session, has it among its
ancestors, or carries its mark in the environment. The mark finds those that changed their session and
lost their parents, and it never takes the child of another thread for ours. This needs `/proc`; where
there is none (macOS, BSD) only the process group is known. A process that leaves group and session,
loses its parent and clears its environment as well is out of reach.
"""

from __future__ import annotations

import ctypes
import os
import signal
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

MARK: Final = "MATERIAC_COMMAND"
"""The environment variable that marks a command and what it starts.

It is `:<owner>.<random>`, or `:<random>` where nobody owns the command; nested commands add to it.
"""

_PROC: Final = Path("/proc")
_NAMED: Final = f"{MARK}=".encode()
_GET_SUBREAPER: Final = 37
_SET_SUBREAPER: Final = 36


def new_mark(owner: str) -> str:
    """A mark that no other command has; an owner is a name without dots and colons, or empty."""
    random = os.urandom(8).hex()
    return f"{owner}.{random}" if owner else random


def with_mark(env: Mapping[str, str], mark: str) -> dict[str, str]:
    """An environment whose commands carry the mark, beside those that it has already."""
    return {**env, MARK: f"{env.get(MARK, '')}:{mark}"}


class _Process(NamedTuple):
    pid: int
    state: str
    parent: int
    group: int
    session: int
    started: int


class Descendants:
    """What came from commands that have `mark` in their `MARK`, but for those that are `spared`.

    `leader` is the number of the one command once it is known. It must not have been reaped yet, or its
    number could mean another process by now.
    """

    leader: int | None = None

    def __init__(self, mark: str, spared: Collection[int] = ()) -> None:
        self._mark = mark.encode()
        self._spared = spared
        self._started = 0
        self._seen: dict[int, int] = {}

    def alive(self) -> set[int]:
        """The numbers of those that run, with the leader; empty where there is no `/proc`."""
        table = {process.pid: process for process in _processes()}
        found = {pid for pid, process in table.items() if self._is_near(process) or self._is_known(process)}
        if self.leader in table:
            self._started = table[self.leader].started
        late = [p.pid for p in table.values() if p.started >= self._started and p.pid not in found]
        found.update(pid for pid in late if pid not in self._spared and self._is_marked(pid))
        _add_children(found, table)
        self._seen |= {pid: table[pid].started for pid in found}
        return {pid for pid in found if table[pid].state not in "ZX"}

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the group and to all that left it."""
        others = self.alive()
        self.send_group(number)
        for pid in others:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)

    def send_group(self, number: signal.Signals) -> None:
        """Send a signal to the process group alone."""
        if self.leader is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.leader, number)

    def reap(self) -> None:
        """Collect the ended ones that `adopting` made our children; the leader is its owner's."""
        for process in _processes():
            ended = process.state == "Z" and process.parent == os.getpid() and process.pid != self.leader
            if ended and self._is_known(process):
                with suppress(ChildProcessError):
                    os.waitpid(process.pid, os.WNOHANG)

    def _is_near(self, process: _Process) -> bool:
        return self.leader in (process.pid, process.group, process.session)

    def _is_known(self, process: _Process) -> bool:
        """Whether it was found before: when its parent has ended, nothing else may tell where it is from."""
        return self._seen.get(process.pid) == process.started

    def _is_marked(self, pid: int) -> bool:
        with suppress(OSError):
            environ = (_PROC / str(pid) / "environ").read_bytes()
            return self._mark in environ and any(map(self._says_mark, environ.split(b"\0")))
        return False

    def _says_mark(self, variable: bytes) -> bool:
        return variable.startswith(_NAMED) and self._mark in variable


def ancestors() -> set[int]:
    """This process, and those that it comes from."""
    parents = {process.pid: process.parent for process in _processes()}
    line, pid = set[int](), os.getpid()
    while pid in parents and pid not in line:
        line.add(pid)
        pid = parents[pid]
    return line | {os.getpid()}


def _processes() -> Iterator[_Process]:
    with suppress(OSError), os.scandir(_PROC) as entries:
        for name in (entry.name for entry in entries if entry.name.isdecimal()):
            with suppress(OSError, ValueError, IndexError):
                yield _parse((_PROC / name / "stat").read_bytes(), int(name))


def _parse(stat: bytes, pid: int) -> _Process:
    # The name of the program, in parentheses, may hold anything; the fields after it do not.
    fields = stat[stat.rindex(b")") + 2 :].split()
    parent, group, session = map(int, fields[1:4])
    return _Process(pid, fields[0].decode(), parent, group, session, int(fields[19]))


def _add_children(found: set[int], table: dict[int, _Process]) -> None:
    children: dict[int, list[int]] = {}
    for process in table.values():
        children.setdefault(process.parent, []).append(process.pid)
    pending = list(found)
    while pending:
        new = [pid for pid in children.get(pending.pop(), ()) if pid not in found]
        found.update(new)
        pending += new


_adopters = threading.Lock()
_adopter_count = 0
_was_subreaper = 0


@contextmanager
def adopting() -> Iterator[None]:
    """While this lasts, processes that lose their parent become our children, so that we can reap them.

    A child subreaper, as Linux calls it. It is one only while a tree is being ended: for good, it would
    collect the remains of everybody's daemons. Elsewhere they go to the first process, as always.
    """
    _count_adopter(1)
    try:
        yield
    finally:
        _count_adopter(-1)


def _count_adopter(step: int) -> None:
    global _adopter_count, _was_subreaper  # noqa: PLW0603 - the flag is one of the whole process
    with _adopters, suppress(OSError, AttributeError):
        prctl = ctypes.CDLL(None).prctl
        if _adopter_count == 0:
            current = ctypes.c_int()
            prctl(_GET_SUBREAPER, ctypes.byref(current), 0, 0, 0)
            _was_subreaper = current.value
        _adopter_count += step
        prctl(_SET_SUBREAPER, ctypes.c_ulong(1 if _adopter_count else _was_subreaper), 0, 0, 0)
