"""Who writes a journal at present: looked up without taking its lock, so that nobody is kept from it."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from materiac.runtime.journal import JournalError, Record, read

BEGINNINGS: Final = frozenset({"cast_started", "cast_resumed"})
"""The records that a process begins with; they name it."""

_LOCKS: Final = Path("/proc/locks")
_FLOCK: Final = re.compile(r"\d+: FLOCK +\S+ +WRITE +(\d+) ([0-9a-f]+):([0-9a-f]+):(\d+) ")


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that writes a journal; the `pid` is None where another machine or container has it.

    `since` is the time of the record that it began with, empty where it has not written one yet.
    """

    pid: int | None
    host: str
    since: str

    def __str__(self) -> str:
        who = "a process" if self.pid is None else f"process {self.pid}"
        return f"{who} on '{self.host}'" + (f" since {self.since}" if self.since else "")


def holder(journal: Path, records: Sequence[Record] | None = None) -> Holder | None:
    """Who holds the lock of a journal; None where nobody does, or there is no journal.

    The system is asked first. Where it does not say, it is the process that the journal names, while
    that one lives and has not ended the cast. `records` are those of the journal, where they are known.
    """
    try:
        place = journal.stat()
    except OSError:
        return None
    known = _read(journal) if records is None else records
    last = next((record for record in reversed(known) if record.type in BEGINNINGS), None)
    locked, pid = _locked(place)
    if locked:
        named = last is not None and last.fields.get("pid", pid) in (pid, None)
        return Holder(pid, socket.gethostname(), last.at if last is not None and (named or not pid) else "")
    if last is None or known[-1].type == "cast_finished":
        return None
    return _named(last, place)


def _read(journal: Path) -> Sequence[Record]:
    try:
        return read(journal).records
    except JournalError:
        return ()


def _locked(place: os.stat_result) -> tuple[bool, int | None]:
    """Whether the system lists a lock of a file, and of which process; 0 is one in another container."""
    device = (os.major(place.st_dev), os.minor(place.st_dev))
    try:
        listed = _LOCKS.read_text(encoding="ascii", errors="replace")
    except OSError:
        return False, None
    for pid, major, minor, inode in _FLOCK.findall(listed):
        if (int(major, 16), int(minor, 16), int(inode)) == (*device, place.st_ino):
            return True, int(pid) or None
    return False, None


def _named(beginning: Record, place: os.stat_result) -> Holder | None:
    pid, host = beginning.fields.get("pid"), beginning.fields.get("host")
    if not isinstance(pid, int) or pid <= 0 or host != socket.gethostname() or not _has_open(pid, place):
        return None
    return Holder(pid, host, beginning.at)


def _has_open(pid: int, place: os.stat_result) -> bool:
    """Whether a process lives and, as far as one may see that, has the file open: ids are used again."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    try:
        files = list(Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return True
    return any(_same(file, place) for file in files)


def _same(file: Path, place: os.stat_result) -> bool:
    try:
        return os.path.samestat(file.stat(), place)
    except OSError:
        return False
