"""The calls by which a cast writes, each with the points at which a fault can meet it."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, Literal, Self
from unittest.mock import patch

from materiac.runtime import artifacts, journal

When = Literal["before", "within", "after"]


@dataclass(frozen=True)
class Point:
    """Where a fault can meet a call: `within` is when half of the bytes have been written."""

    n: int
    when: When
    call: str
    path: str

    def __str__(self) -> str:
        return f"point {self.n}, {self.when} {self.call} of {Path(self.path).name}"


Act = Callable[[Point], None]
"""Does nothing, raises, or ends the process."""


@contextmanager
def acting(act: Act) -> Iterator[None]:
    """Act at each point of each call that writes to a file, as long as this lasts."""
    points = _Points(act)
    with ExitStack() as stack:
        for owner, name, call in points.replacements():
            stack.enter_context(patch.object(owner, name, call))
        yield


class _Points:
    """Stands before the system. Pipes are let through; nothing is synced: the kernel outlives the process."""

    def __init__(self, act: Act) -> None:
        self._act = act
        self._n = 0
        self._lock = threading.Lock()
        self._write, self._pwrite, self._open, self._fdopen = os.write, os.pwrite, os.open, os.fdopen

    def replacements(self) -> Iterator[tuple[Any, str, Callable[..., Any]]]:
        yield os, "write", self._writing
        yield os, "pwrite", self._pwriting
        yield os, "open", self._opening
        yield os, "fdopen", self._streaming
        yield os, "fsync", self._syncing
        yield os, "fdatasync", self._syncing
        yield journal, "sync_data", self._syncing
        yield artifacts, "sync_data", self._syncing
        yield os, "ftruncate", self._handled("ftruncate", os.ftruncate)
        for name in ("mkdir", "rename", "replace", "unlink"):
            yield os, name, self._named(name, getattr(os, name))

    def at(self, when: When, call: str, path: Any) -> None:
        with self._lock:
            self._n += 1
            n = self._n
        self._act(Point(n, when, call, str(path)))

    def _around(self, call: str, path: Any, real: Callable[[], Any]) -> Any:
        self.at("before", call, path)
        result = real()
        self.at("after", call, path)
        return result

    def _named(self, call: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(path: Any, *rest: Any, **options: Any) -> Any:
            return self._around(call, path, partial(real, path, *rest, **options))

        return wrapped

    def _handled(self, call: str, real: Callable[..., Any]) -> Callable[..., Any]:
        return lambda file, *rest: self._around(call, _path(file), partial(real, file, *rest))

    def _opening(self, path: Any, flags: int, *rest: Any, **options: Any) -> int:
        real = partial(self._open, path, flags, *rest, **options)
        found: int = self._around("open", path, real) if flags & os.O_CREAT else real()
        return found

    def _syncing(self, file: int) -> None:
        self._around("sync", _path(file), lambda: None)

    def _writing(self, file: int, data: bytes) -> int:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return self._write(file, data)
        return self.halves("write", _path(file), data, partial(self._write, file))

    def _pwriting(self, file: int, data: bytes, offset: int) -> int:
        def write(part: bytes) -> int:
            nonlocal offset
            offset += self._pwrite(file, part, offset)
            return len(part)

        return self.halves("pwrite", _path(file), data, write)

    def _streaming(self, file: int, *mode: Any, **options: Any) -> Any:
        stream = self._fdopen(file, *mode, **options)
        return _Stream(stream, self, _path(file)) if "w" in stream.mode else stream

    def halves(self, call: str, path: str, data: bytes, write: Callable[[bytes], Any]) -> int:
        half = len(data) // 2
        self.at("before", call, path)
        write(data[:half])
        self.at("within", call, path)
        write(data[half:])
        self.at("after", call, path)
        return len(data)


class _Stream:
    """An open file that a fault can meet while it is written."""

    def __init__(self, stream: IO[bytes], points: _Points, path: str) -> None:
        self._stream, self._points, self._path = stream, points, path

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def write(self, data: bytes) -> int:
        return self._points.halves("write", self._path, data, self._flushed)

    def flush(self) -> None:
        """What was written has been flushed."""

    def _flushed(self, data: bytes) -> None:
        self._stream.write(data)
        self._stream.flush()


def _path(file: int) -> str:
    return str(Path(f"/proc/self/fd/{file}").readlink())
