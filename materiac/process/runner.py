"""Running a command to its end or its time: no shell, bounded memory, nothing left behind.

The command gets a session of its own, so it can neither ask at the terminal nor outlive its time in it.
"""

from __future__ import annotations

import fcntl
import math
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Final, Protocol

from materiac.process.descendants import Descendants, adopting, new_mark, with_mark
from materiac.process.start import StartError, start

_CHUNK: Final = 64 * 1024
_ASKED_S: Final = 1.0
"""How long a tree may take to end by itself after SIGTERM."""
_KILLED_S: Final = 0.85
"""How long SIGKILL is repeated, for what a dying tree still starts."""
_LAST_WORDS_S: Final = 0.1
"""How long a command that has ended is read from while its children hold the pipes."""
_LOOK_S: Final = 0.05
"""How often a dying tree, or the stop of another thread, is looked at."""
_POLL_S: Final = 0.01
"""How often an exit is looked for where the system has no pidfd."""
_LONGEST_S: Final = 3600.0
"""How long is waited at a time: the system refuses to wait for some weeks, or for ever as a number."""
_PIPE_CHUNKS: Final = 16
"""The most that a pipe holds, in chunks; a wide one halves the time of a flood."""


class StoppedError(Exception):
    """The command was ended because its caller said so."""


class Stop(Protocol):
    """What tells that a command shall end, as a `threading.Event` does."""

    def is_set(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Completed:
    """What came of a command.

    `stdout` is its beginning and `stderr` its end, each within its limit; the counts are of all that
    came. `code` is None where a signal ended it, `signal` is None where none did.
    """

    stdout: bytes
    stderr: bytes
    stdout_bytes: int
    stderr_bytes: int
    code: int | None
    signal: int | None
    timed_out: bool
    seconds: float


def run(
    command: Sequence[str],
    *,
    stdin: bytes,
    cwd: Path,
    env: Mapping[str, str],
    timeout_s: float,
    max_bytes: int,
    max_stderr_bytes: int | None = None,
    stop: Stop | None = None,
    owner: str = "",
    hear: Callable[[bytes], None] | None = None,
) -> Completed:
    """Run a command and wait for its end. Raises `StartError` where it cannot be started.

    A name without a slash is looked for on the PATH of `env`, a relative path with one in `cwd`. `env` is
    the whole environment; the command sees one more variable, `MARK`. When the time is up its whole tree
    is asked to end (SIGTERM) and killed a second later. A command that ended by itself has ended: what it
    left in its process group is killed, what went to a session of its own may go on. Any exception that
    reaches this call, KeyboardInterrupt too, ends the tree first; so does `stop`, as a `StoppedError`.
    `hear` gets the standard output as it comes, in chunks, all of it.
    Where this process itself is killed, `end_leftovers` finds the tree by its `owner`, a name without
    dots and colons.
    """
    started = time.monotonic()
    mark = new_mark(owner)
    out = _Head(max_bytes) if hear is None else _Heard(max_bytes, hear)
    err = _Tail(max_bytes if max_stderr_bytes is None else max_stderr_bytes)
    tree, talk = Descendants(mark), None
    try:
        process = start(command, cwd, with_mark(env, mark))
        tree.leader = process.pid
        talk = _Talk(process, stdin, out, err)
        timed_out = not _in_time(talk, started + timeout_s, stop)
        if timed_out:
            _end(tree, talk)
        else:
            talk.last_words()
            tree.send_group(signal.SIGKILL)
        code = talk.reap()
    except StartError:
        raise
    except BaseException:
        _abandon(tree, talk)
        raise
    finally:
        if talk is not None:
            talk.close()
    seconds = time.monotonic() - started
    died = -code if code is not None and code < 0 else None
    code = code if died is None else None
    return Completed(out.kept(), err.kept(), out.count, err.count, code, died, timed_out, seconds)


def _in_time(talk: _Talk, deadline: float, stop: Stop | None) -> bool:
    look_s = math.inf if stop is None else _LOOK_S
    while not talk.ended:
        now = time.monotonic()
        if now >= deadline:
            return False
        if stop is not None and stop.is_set():
            raise StoppedError
        talk.step(min(deadline - now, look_s))
    return True


def _end(tree: Descendants, talk: _Talk) -> None:
    """Ask the tree to end, then kill it; what it still writes is read, so that nothing waits for us."""
    with adopting():
        try:
            tree.send(signal.SIGTERM)
            tree.send(signal.SIGCONT)  # one that stands still hears nothing else
            _watch(tree, talk, _ASKED_S)
        finally:
            until = time.monotonic() + _KILLED_S
            tree.send(signal.SIGKILL)
            while (not talk.ended or tree.alive()) and time.monotonic() < until:
                talk.step(_POLL_S)
                tree.send(signal.SIGKILL)
            tree.reap()
    talk.last_words()


def _abandon(tree: Descendants, talk: _Talk | None) -> None:
    if talk is not None:
        _end(tree, talk)
        talk.reap()
        return
    # An interrupt while the command was being started: there may be no more of it than its mark.
    tree.leader = None
    with adopting():
        until = time.monotonic() + _KILLED_S
        while tree.alive() and time.monotonic() < until:
            tree.send(signal.SIGKILL)
            time.sleep(_POLL_S)
        tree.reap()


def _watch(tree: Descendants, talk: _Talk, seconds: float) -> None:
    until = time.monotonic() + seconds
    while (now := time.monotonic()) < until and (not talk.ended or tree.alive()):
        pause = min(until, now + _LOOK_S)
        while (left := pause - time.monotonic()) > 0:
            talk.step(left)


class _Head:
    """Keeps the beginning of what comes, and counts the rest."""

    def __init__(self, limit: int) -> None:
        self.count = 0
        self._limit = limit
        self._kept = bytearray()

    def add(self, chunk: bytes) -> None:
        self.count += len(chunk)
        room = self._limit - len(self._kept)
        if room > 0:
            self._kept += chunk[:room]

    def kept(self) -> bytes:
        return bytes(self._kept)


class _Heard(_Head):
    """Hands on what comes, and keeps its beginning."""

    def __init__(self, limit: int, hear: Callable[[bytes], None]) -> None:
        super().__init__(limit)
        self._hear = hear

    def add(self, chunk: bytes) -> None:
        super().add(chunk)
        self._hear(chunk)


class _Tail:
    """Keeps the end of what comes: of an error, the last lines say what it is."""

    def __init__(self, limit: int) -> None:
        self.count = 0
        self._limit = limit
        self._kept = bytearray()

    def add(self, chunk: bytes) -> None:
        self.count += len(chunk)
        self._kept += chunk
        if len(self._kept) > self._limit:
            del self._kept[: len(self._kept) - self._limit]

    def kept(self) -> bytes:
        start = 0
        if self.count > len(self._kept):
            start = next((i for i, byte in enumerate(self._kept[:4]) if byte & 0xC0 != 0x80), 0)
        return bytes(self._kept[start:])


class _Talk:
    """The pipes of a running command and the news of its end, served by one selector."""

    def __init__(self, process: subprocess.Popen[bytes], stdin: bytes, out: _Head, err: _Tail) -> None:
        self.ended = False
        self._process = process
        self._rest = memoryview(stdin)
        self._selector = selectors.DefaultSelector()
        self._readers = 0
        self._pidfd = _pidfd(process.pid)
        if self._pidfd is not None:
            self._selector.register(self._pidfd, selectors.EVENT_READ, self._note_end)
        for pipe, capture in ((process.stdout, out), (process.stderr, err)):
            self._listen(pipe, capture.add)
        if process.stdin is not None:
            os.set_blocking(process.stdin.fileno(), False)
            self._selector.register(process.stdin, selectors.EVENT_WRITE, self._write)

    def step(self, seconds: float) -> bool:
        """Move what can be moved, waiting until something can; False where the time went by unused."""
        if self._pidfd is None and not self.ended:
            self.ended = self._process.poll() is not None
            seconds = 0 if self.ended else min(seconds, _POLL_S)
        ready = self._selector.select(min(seconds, _LONGEST_S))
        for key, _ in ready:
            key.data(key.fileobj)
        return bool(ready)

    def last_words(self) -> None:
        """Read what an ended command has written, and for a moment what its children still write."""
        self._drop(self._process.stdin)
        until = time.monotonic() + _LAST_WORDS_S
        rounds = 0
        while self._readers and self.step(max(0.0, until - time.monotonic())):
            rounds += 1
            if rounds > _PIPE_CHUNKS and time.monotonic() > until:
                break

    def reap(self) -> int | None:
        """The exit code, negative for a signal."""
        # A process in an uninterruptible system call outlives even SIGKILL; nobody waits for it.
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(timeout=0.2)
        return None

    def close(self) -> None:
        """Close every pipe; the process is left to its owner."""
        self._selector.close()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
        if self._pidfd is not None:
            os.close(self._pidfd)

    def _listen(self, pipe: IO[bytes] | None, take: Callable[[bytes], None]) -> None:
        if pipe is not None:
            os.set_blocking(pipe.fileno(), False)
            _widen(pipe)
            self._selector.register(pipe, selectors.EVENT_READ, partial(self._read, take))
            self._readers += 1

    def _read(self, take: Callable[[bytes], None], pipe: IO[bytes]) -> None:
        with suppress(BlockingIOError):
            chunk = os.read(pipe.fileno(), _CHUNK)
            take(chunk)
            if not chunk:
                self._readers -= 1
                self._drop(pipe)

    def _write(self, pipe: IO[bytes]) -> None:
        try:
            if self._rest:
                self._rest = self._rest[os.write(pipe.fileno(), self._rest[:_CHUNK]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._rest = memoryview(b"")
        if not self._rest:
            self._drop(pipe)

    def _note_end(self, pidfd: int) -> None:
        self.ended = True
        self._selector.unregister(pidfd)

    def _drop(self, pipe: IO[bytes] | None) -> None:
        if pipe is not None and not pipe.closed:
            self._selector.unregister(pipe)
            pipe.close()


def _widen(pipe: IO[bytes]) -> None:
    # Linux alone knows the call, and it may refuse: the pipe works at its own width too.
    with suppress(OSError, AttributeError):
        fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_CHUNKS * _CHUNK)


def _pidfd(pid: int) -> int | None:
    # Not on every system, and a sandbox may refuse it: the exit is polled for then.
    opener = getattr(os, "pidfd_open", None)
    with suppress(OSError):
        return None if opener is None else int(opener(pid))
    return None
