"""A journal that is read while it grows."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from materiac.runtime.holder import BEGINNINGS, holder
from materiac.runtime.journal import JournalError, Record, parse


class Following:
    """Gives the records of a journal, each once, with the lines that they stand in."""

    def __init__(self, journal: Path) -> None:
        self.count = 0
        self._journal = journal
        self._end = 0
        self._marks: list[Record] = []

    def more(self, *, last: bool = False) -> Iterator[tuple[bytes, Record]]:
        """What has come since the last time. Raises `JournalError` at a line that is not sound.

        A line without its LF waits, unless this is the `last` time: then it counts where it lacks only that.
        """
        try:
            with self._journal.open("rb") as file:
                file.seek(self._end)
                for line in file:
                    if line.endswith(b"\n"):
                        yield line[:-1], self._taken(line, parse(line[:-1], self.count + 1, self._journal))
                    elif last:
                        yield from self._rest(line.rstrip(b"\0"))
        except FileNotFoundError:
            return
        except OSError as error:
            raise JournalError(f"cannot read '{self._journal}': {error.strerror}") from error

    def goes_on(self) -> bool:
        """Whether there is a process that writes the journal."""
        return holder(self._journal, self._marks) is not None

    def _rest(self, line: bytes) -> Iterator[tuple[bytes, Record]]:
        with contextlib.suppress(JournalError):
            yield line, self._taken(line, parse(line, self.count + 1, self._journal))

    def _taken(self, line: bytes, record: Record) -> Record:
        self.count += 1
        self._end += len(line)
        beginning = [mark for mark in self._marks if mark.type in BEGINNINGS]
        self._marks = [record] if record.type in BEGINNINGS else [*beginning[-1:], record]
        return record
