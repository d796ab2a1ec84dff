"""The journal of a cast: `events.jsonl`, to which records are added and from which all else follows.

A record is one line of UTF-8, ended by LF, and has this exact form:

    {"n":1,"at":"2031-05-04T10:20:30.123456Z","type":"cast_started","format":1,…,"crc":"89abcdef"}

`n` counts from 1 without a gap; `at` is the time in UTC; the fields of the record follow; the first
record also has the `format` of the file. `crc` is the CRC-32, as eight hex digits, of the line as it
would be without it, `{"n":1,…}`. JSON escapes LF, so that no record holds one; other line breaks of
Unicode are ordinary characters.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import stat
import threading
import time
import zlib
from collections import deque
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol, Self

FORMAT: Final = 1
RESERVED: Final = frozenset({"n", "at", "type", "format", "crc"})
BEGINNINGS: Final = frozenset({"socket_started", "socket_restarted"})
"""The records that begin work. A full journal takes none of these; what comes of work under way it takes."""

_TO_JSON: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_PATIENCE_S: Final = 0.5
"""How long is waited for the lock of a journal before its holder is believed to live."""
_SEAL_LENGTH: Final = len(b',"crc":"89abcdef"}')
sync_data: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)
"""Puts the content of an open file on the disk. Raises `OSError`."""


class JournalError(Exception):
    """A journal cannot be written, or what is on the disk is none. `line` is where, where one is known."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class HeldError(JournalError):
    """Another process writes the journal."""


class FullError(JournalError):
    """The journal has as many bytes as it may have; the cast can go on with a higher limit."""


@dataclass(frozen=True, slots=True)
class Record:
    """What happened: the number, the time, the type, and whatever else belongs to it, as JSON values."""

    n: int
    at: str
    type: str
    fields: dict[str, Any]


Subscriber = Callable[[Record], object]


class Appending(Protocol):
    """What records are added to."""

    def append(self, kind: str, /, *, sync: bool = True, **fields: Any) -> Record:
        """As `Journal.append`."""
        ...


@dataclass(frozen=True, slots=True)
class Reading:
    """What a journal holds: the records, the bytes they take up, and the bytes behind them to be cut."""

    records: tuple[Record, ...]
    end: int
    cut: int


def read(path: Path, kinds: Collection[str] | None = None) -> Reading:
    """Read a journal, also while it is being written. Raises `JournalError`.

    What an interrupted write may leave at the end is no error: a torn last line and a tail of NUL are
    cut, a last line that lacks only its LF is kept. Any other line that is not sound is one. Where
    `kinds` are given, records of other types are left out, but for the first and the last.
    """
    with _named_errors(f"cannot read '{path}'"):
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe in its place must not be waited for
        with os.fdopen(opened, "rb") as file:
            if not stat.S_ISREG(os.fstat(opened).st_mode):
                raise JournalError(f"'{path}' is no ordinary file")
            return _scan(file, path, kinds)


def _scan(file: BinaryIO, path: Path, kinds: Collection[str] | None) -> Reading:
    records: list[Record] = []
    end, left_out = 0, None
    for number, line in enumerate(file, 1):
        text = line[:-1] if line.endswith(b"\n") else line.rstrip(b"\0")
        body = _unseal(text)
        if body is None:
            if not line.endswith(b"\n"):
                break
            raise _broken(path, number)
        end += len(text) + line.endswith(b"\n")
        known = kinds is None or number == 1 or _type(body) in kinds
        left_out = None if known or not body.startswith(b'{"n":%d,' % number) else (body, number)
        if left_out is None:
            records.append(_numbered(body, number, path))
    if left_out is not None:
        records.append(_numbered(*left_out, path))
    return Reading(tuple(records), end, file.seek(0, os.SEEK_END) - end)


def parse(line: bytes, number: int, path: Path) -> Record:
    """The record in one line, without its LF, of a journal. Raises `JournalError`."""
    body = _unseal(line)
    if body is None:
        raise _broken(path, number)
    return _numbered(body, number, path)


def _broken(path: Path, number: int) -> JournalError:
    return JournalError(f"line {number} of '{path}' is broken: its checksum does not fit", number)


def _type(body: bytes) -> str:
    """The type of a record, without decoding it."""
    _, _, rest = body.partition(b'"type":"')
    return rest.partition(b'"')[0].decode("utf-8", "replace")


def _numbered(body: bytes, number: int, path: Path) -> Record:
    try:
        record = _decode(body)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise JournalError(f"line {number} of '{path}' is no record: {error}", number) from error
    if record.n != number:
        raise JournalError(f"line {number} of '{path}' has the number {record.n!r}", number)
    if number == 1 and record.fields.get("format") != FORMAT:
        found = record.fields.get("format")
        raise JournalError(f"'{path}' has format {found!r}, this version reads format {FORMAT}", 1)
    return record


class Journal:
    """A journal that is being written, by one process at a time; its threads may share it.

    `broken` says which subscribers raised and were dropped. One that is not `durable` is never synced.
    """

    def __init__(
        self,
        file: int,
        path: Path,
        clock: Callable[[], datetime],
        n: int,
        end: int,
        *,
        durable: bool = True,
        max_bytes: int | None = None,
    ) -> None:
        self.path = path
        self._durable = durable
        self._max_bytes = max_bytes
        self.broken: list[str] = []
        self._file = file
        self._clock = clock
        self._written = (n, end)
        self._ended: str | None = None
        self._lock = threading.RLock()
        self._subscribers: list[Subscriber] = []
        self._pending: deque[Record] = deque()
        self._delivering = False

    @classmethod
    def create(
        cls,
        path: Path,
        clock: Callable[[], datetime] | None = None,
        *,
        durable: bool = True,
        max_bytes: int | None = None,
    ) -> Self:
        """Begin a journal where there is no file yet. Raises `JournalError`."""
        with _named_errors(f"cannot create '{path}'"):
            file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with _closed_on_error(file), _named_errors(f"cannot create '{path}'"):
            os.fchmod(file, 0o600)  # whatever the umask
            _lock(file, path)
            if durable:
                sync_folder(path.parent)
        return cls(file, path, clock or _now, 0, 0, durable=durable, max_bytes=max_bytes)

    @classmethod
    def reopen(
        cls, path: Path, clock: Callable[[], datetime] | None = None, *, max_bytes: int | None = None
    ) -> tuple[Self, Reading]:
        """Go on with a journal, and give what it holds. Cuts what `read` cuts. Raises `JournalError`."""
        with _named_errors(f"cannot open '{path}'"):
            file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW)
        with _closed_on_error(file), _named_errors(f"cannot open '{path}'"):
            _lock(file, path)
            reading = read(path)
            end = _mend(file, reading.end)
        return cls(file, path, clock or _now, len(reading.records), end, max_bytes=max_bytes), reading

    def limit(self, max_bytes: int | None) -> None:
        """Have another number of bytes that the journal may have."""
        self._max_bytes = max_bytes

    def subscribe(self, subscriber: Subscriber) -> None:
        """Hand every later record to `subscriber`, in order, once it is on the disk.

        It is called by the thread that appends and has to be quick. One that raises is dropped.
        """
        with self._lock:
            self._subscribers.append(subscriber)

    def append(self, kind: str, /, *, sync: bool = True, **fields: Any) -> Record:
        """Write a record; when this returns it is on the disk, unless `sync` is false.

        Nobody changes the fields afterwards, which are handed on as they are. After a failed write
        the journal is sound and may be tried again; after a failed sync nobody knows what is on the
        disk, and no record is taken any more. Raises `JournalError`, and `FullError` for one of
        `BEGINNINGS` that would go over the `max_bytes` of the journal.
        """
        if clash := RESERVED & fields.keys():
            raise ValueError(f"a record has fields of its own called {sorted(clash)}")
        with self._lock:
            n, end = self._written
            at = self._clock().astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
            body = _encode(n + 1, at, kind, fields)
            line = _seal(body)
            self._refuse_surplus(kind, end + len(line))
            self._write(line, end, sync=sync)
            self._written = (n + 1, end + len(line))
            record = Record(n + 1, at, kind, {"format": FORMAT, **fields} if n == 0 else fields)
            self._pending.append(record)
            self._deliver()
        return record

    def _refuse_surplus(self, kind: str, size: int) -> None:
        if self._max_bytes is not None and size > self._max_bytes and kind in BEGINNINGS:
            raise FullError(
                f"'{self.path}' would have {size} bytes, {self._max_bytes} are allowed: "
                "raise 'limits.maxJournalBytes' and resume the cast"
            )

    def _write(self, line: bytes, end: int, *, sync: bool) -> None:
        if self._ended is not None:
            raise JournalError(self._ended)
        with _named_errors(f"cannot write '{self.path}'"):
            here = os.fstat(self._file)
            if here.st_size != end:
                os.ftruncate(self._file, end)  # left by a write that failed or was interrupted
            if not _same_file(here, self.path):
                raise JournalError(f"'{self.path}' was taken away, or replaced, while it was being written")
            written = os.write(self._file, line)
            while written < len(line):
                written += os.write(self._file, line[written:])
        if sync and self._durable:
            self._sync()

    def _sync(self) -> None:
        try:
            sync_data(self._file)
        except OSError as error:
            self._ended = f"cannot sync '{self.path}': {error.strerror}"
            raise JournalError(self._ended) from error

    def _deliver(self) -> None:
        """Hand on what is pending; a subscriber that appends finds its record behind the present one."""
        if self._delivering:
            return
        self._delivering = True
        try:
            while self._pending:
                record = self._pending.popleft()
                for subscriber in tuple(self._subscribers):
                    self._hand(subscriber, record)
        finally:
            self._delivering = False

    def _hand(self, subscriber: Subscriber, record: Record) -> None:
        try:
            subscriber(record)
        except Exception as error:  # noqa: BLE001 - a reader of the stream never breaks the cast
            self._subscribers.remove(subscriber)
            name = getattr(subscriber, "__qualname__", type(subscriber).__qualname__)
            self.broken.append(f"{name} failed at record {record.n}: {type(error).__name__}: {error}")

    def close(self) -> None:
        """Take no more records; may be called twice."""
        with self._lock:
            if self._file >= 0:
                os.close(self._file)
            self._file = -1
            self._ended = f"'{self.path}' is closed"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _encode(n: int, at: str, kind: str, fields: dict[str, Any]) -> bytes:
    head = {"n": n, "at": at, "type": kind} | ({"format": FORMAT} if n == 1 else {})
    try:
        text = _TO_JSON(head | fields)
    except (ValueError, TypeError, RecursionError) as error:
        raise JournalError(f"a record '{kind}' cannot be written as JSON: {error}") from error
    # A lone surrogate has no UTF-8; its backslash form is the JSON escape.
    return text.encode("utf-8", "backslashreplace")


def _seal(body: bytes) -> bytes:
    return b'%b,"crc":"%08x"}\n' % (body[:-1], zlib.crc32(body))


def _unseal(line: bytes) -> bytes | None:
    """The inverse of `_seal`; None for a line that it did not make."""
    body = line[:-_SEAL_LENGTH] + b"}"
    return body if _seal(body)[:-1] == line else None


def _decode(body: bytes) -> Record:
    fields = json.loads(body)
    return Record(fields.pop("n"), fields.pop("at"), fields.pop("type"), fields)


def _mend(file: int, end: int) -> int:
    """Cut the file after its last sound record, give that its LF, and return the new size."""
    if os.fstat(file).st_size != end:
        os.ftruncate(file, end)
    if end and os.pread(file, 1, end - 1) != b"\n":
        end += os.write(file, b"\n")
    sync_data(file)
    return end


def _same_file(open_file: os.stat_result, path: Path) -> bool:
    try:
        return os.path.samestat(open_file, path.stat())
    except FileNotFoundError:
        return False


def _lock(file: int, path: Path) -> None:
    # Where the holder was killed while it started a command, the lock lasts until that has begun.
    until = time.monotonic() + _PATIENCE_S
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() >= until:
                raise HeldError(f"'{path}' is being written by another process") from error
            time.sleep(_PATIENCE_S / 50)
        else:
            return


def sync_folder(folder: Path) -> None:
    """Put the names of new files on the disk, without which what is in them is lost. Raises `OSError`."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def _closed_on_error(file: int) -> Iterator[None]:
    try:
        yield
    except BaseException:
        os.close(file)
        raise


@contextlib.contextmanager
def _named_errors(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise JournalError(f"{what}: {error.strerror}") from error


def _now() -> datetime:
    return datetime.now(UTC)
