"""`events/dispatch.jsonl`: what became of each event, a line for each sink that it was for."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Final

Json = dict[str, Any]

Hide = Callable[[Any], Any]
"""Takes the secrets out of a JSON value."""

FOLDER: Final = "events"
FILE: Final = "dispatch.jsonl"

DELIVERED: Final = "delivered"
FAILED: Final = "failed"
DROPPED: Final = "dropped"
UNSENT: Final = "unsent"
"""The cast was over before it could be sent; who goes on with the cast sends it."""

_SETTLED: Final = frozenset({DELIVERED, FAILED, DROPPED})


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an event: delivered, failed, dropped or unsent."""

    outcome: str
    attempts: int = 0
    status: int | None = None
    why: str | None = None


class Outcomes:
    """The file, to which lines are added by any thread; what cannot be written is left out.

    `settled` are the sinks and ids of events that earlier lines say the last word on.
    """

    def __init__(self, folder: Path, hide: Hide) -> None:
        """Open the file, or make it. Raises `OSError`, also where a link leads to it."""
        self._hide = hide
        self._lock = threading.Lock()
        self._file = _open(folder / FOLDER)
        with os.fdopen(os.dup(self._file), "rb") as file:
            self.settled = frozenset(_settled(file))
            torn = file.tell() > 0 and os.pread(self._file, 1, file.tell() - 1) != b"\n"
        if torn:
            os.write(self._file, b"\n")

    def write(self, sink: str, id_: str, type_: str, outcome: Outcome) -> None:
        """Add a line."""
        at = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        said = {"status": outcome.status, "why": outcome.why}
        entry = {
            "at": at,
            "id": id_,
            "type": type_,
            "sink": sink,
            "outcome": outcome.outcome,
            "attempts": outcome.attempts,
            **{key: value for key, value in said.items() if value is not None},
        }
        line = json.dumps(self._hide(entry), ensure_ascii=False, separators=(",", ":")) + "\n"
        with self._lock:
            self._add(line.encode("utf-8", "backslashreplace"))

    def _add(self, line: bytes) -> None:
        try:
            while self._file >= 0 and line:
                line = line[os.write(self._file, line) :]
        except OSError:
            pass  # a full disk is for the journal to report; here a line is missing

    def close(self) -> None:
        """Take no more lines; may be called twice."""
        with self._lock:
            if self._file >= 0:
                os.close(self._file)
            self._file = -1


def _open(folder: Path) -> int:
    folder.mkdir(mode=0o700, exist_ok=True)
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(FILE, flags, 0o600, dir_fd=place)
    finally:
        os.close(place)


def _settled(file: BinaryIO) -> Iterator[tuple[str, str]]:
    """What earlier lines say; a line that a crash tore says nothing."""
    for line in file:
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict) and entry.get("outcome") in _SETTLED:
            yield str(entry.get("sink")), str(entry.get("id"))
