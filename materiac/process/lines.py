"""Talking with a command line by line, for as long as one likes; it and what it started end with the talk.

A line ends at a line feed and nowhere else. The command gets a session of its own.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from materiac.process.descendants import Descendants, adopting, new_mark, with_mark
from materiac.process.start import start

_CHUNK: Final = 256 * 1024
_MAX_STDERR: Final = 64 * 1024
_ASKED_S: Final = 0.7
"""How long a tree may take to end by itself after SIGTERM."""
_KILLED_S: Final = 0.6
"""How long SIGKILL is repeated, for what a dying tree still starts."""
_POLL_S: Final = 0.01
_LAST_WORDS_S: Final = 0.1
"""How long a command that has ended is read from while its children hold the pipes."""
_MOVES: Final = 64
_LONGEST_S: Final = 3600.0
"""How long is waited at a time: the system refuses to wait for some weeks, or for ever as a number."""


class EndedError(Exception):
    """The command has ended, and there are no more lines of it."""


class LineTooLongError(Exception):
    """The command writes a line that is longer than it may be."""


class Lines:
    """A command that runs, its lines in and out. For one thread at a time.

    Raises `StartError` where it cannot be started. `env` is the whole environment; the command sees one
    more variable, `MARK`, by which `end_leftovers` finds it under the name of its `owner`.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        max_line: int,
        owner: str = "",
    ) -> None:
        mark = new_mark(owner)
        self.code: int | None = None
        self.stderr = b""
        self._max_line = max_line
        self._tree = Descendants(mark)
        self._lines: deque[bytes] = deque()
        self._partial = bytearray()
        self._unsent: deque[memoryview] = deque()
        self._open = self._writes = self._exited = False
        self._pidfd: int | None = None
        self._selector = selectors.DefaultSelector()
        try:
            self._process = start(command, cwd, with_mark(env, mark))
            self._tree.leader = self._process.pid
            self._listen()
        except BaseException:
            self._selector.close()
            self._kill()  # of what an interrupt has left of the start
            raise

    @property
    def alive(self) -> bool:
        """Whether the command still runs, as far as it is known now."""
        moves = 0
        while self._move(0) and moves < _MOVES:
            moves += 1
        return self._open and not self._exited

    def fileno(self) -> int:
        """What is ready to be read when `receive` has something to do: for an event loop."""
        return self._selector.fileno()

    def send(self, line: bytes) -> None:
        """Write a line, which has no line feed in it; what the command does not take yet is kept."""
        stdin = self._process.stdin
        if stdin is None or stdin.closed:
            return
        self._unsent.append(memoryview(line + b"\n"))
        if not self._writes:
            self._selector.register(stdin, selectors.EVENT_WRITE, self._write)
            self._writes = True

    def receive(self, seconds: float) -> bytes | None:
        """The next line, without its line feed; None where there is none in that time.

        Raises `EndedError` and `LineTooLongError`.
        """
        until = time.monotonic() + seconds
        while not self._lines:
            if not self._open:
                raise EndedError
            left = max(0.0, until - time.monotonic())
            if self._move(min(left, _LAST_WORDS_S) if self._exited else left):
                continue
            if self._exited:  # and something that it started holds its pipes
                self._open = False
            elif time.monotonic() >= until:
                return None
        return self._lines.popleft()

    def end(self) -> None:
        """Close the input, ask the whole tree to end, and kill what does not; may be called twice."""
        if self.code is not None:
            return
        self._close_stdin()
        with adopting():
            try:
                self._tree.send(signal.SIGTERM)
                self._tree.send(signal.SIGCONT)  # one that stands still hears nothing else
                self._watch(_ASKED_S)
            finally:
                self._kill()
                self._tree.reap()
        self._close()

    def _listen(self) -> None:
        self._open = True
        for pipe, take in ((self._process.stdout, self._read), (self._process.stderr, self._read_stderr)):
            assert pipe is not None  # noqa: S101 - `start` makes all three
            os.set_blocking(pipe.fileno(), False)
            self._selector.register(pipe, selectors.EVENT_READ, take)
        assert self._process.stdin is not None  # noqa: S101
        os.set_blocking(self._process.stdin.fileno(), False)
        self._pidfd = _pidfd(self._process.pid)
        if self._pidfd is not None:
            self._selector.register(self._pidfd, selectors.EVENT_READ, self._note_end)

    def _note_end(self, pidfd: int) -> None:
        self._selector.unregister(pidfd)
        self._exited = True

    def _move(self, seconds: float) -> bool:
        """Move what can be moved, waiting until something can; False where the time went by unused."""
        if not self._selector.get_map():
            return False
        ready = self._selector.select(min(seconds, _LONGEST_S))
        for key, _ in ready:
            key.data(key.fileobj)
        return bool(ready)

    def _read(self, pipe: IO[bytes]) -> None:
        chunk = _chunk(pipe)
        if chunk is None:
            return
        if not chunk:
            self._selector.unregister(pipe)
            self._open = False
            return
        first, *rest = chunk.split(b"\n")
        self._partial += first
        for part in rest:
            self._lines.append(bytes(self._partial))
            self._partial = bytearray(part)
        if len(self._partial) > self._max_line:
            raise LineTooLongError(f"a line of more than {self._max_line} bytes")

    def _read_stderr(self, pipe: IO[bytes]) -> None:
        chunk = _chunk(pipe)
        if chunk == b"":
            self._selector.unregister(pipe)
        self.stderr = (self.stderr + (chunk or b""))[-_MAX_STDERR:]

    def _write(self, pipe: IO[bytes]) -> None:
        try:
            part = self._unsent[0]
            sent = os.write(pipe.fileno(), part[:_CHUNK])
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._close_stdin()
            return
        self._unsent[0] = part[sent:]
        if not self._unsent[0]:
            self._unsent.popleft()
        if not self._unsent:
            self._selector.unregister(pipe)
            self._writes = False

    def _watch(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while self._runs() and time.monotonic() < until:
            self._drain()

    def _kill(self) -> None:
        until = time.monotonic() + _KILLED_S
        while self._runs() and time.monotonic() < until:
            self._tree.send(signal.SIGKILL)
            self._drain()

    def _runs(self) -> bool:
        # Where there is no `/proc`, what it has open tells.
        return (self._open and not self._exited) or bool(self._tree.alive())

    def _drain(self) -> None:
        """Read on, so that nothing waits for us while it ends."""
        with suppress(LineTooLongError):
            self._move(_POLL_S)
        time.sleep(_POLL_S)

    def _close_stdin(self) -> None:
        stdin = self._process.stdin
        if stdin is None or stdin.closed:
            return
        if self._writes:
            self._selector.unregister(stdin)
            self._writes = False
        self._unsent.clear()
        stdin.close()

    def _close(self) -> None:
        # A process in an uninterruptible system call outlives even SIGKILL; nobody waits for it.
        with suppress(subprocess.TimeoutExpired):
            self.code = self._process.wait(timeout=0.2)
        self.code = -signal.SIGKILL if self.code is None else self.code
        self._selector.close()
        if self._pidfd is not None:
            os.close(self._pidfd)
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
        self._open = False


def _chunk(pipe: IO[bytes]) -> bytes | None:
    """What there is to read; nothing at the end, None where there is none yet."""
    with suppress(BlockingIOError):
        return os.read(pipe.fileno(), _CHUNK)
    return None


def _pidfd(pid: int) -> int | None:
    # Not on every system, and a sandbox may refuse it: the end of the output tells then.
    opener = getattr(os, "pidfd_open", None)
    with suppress(OSError):
        return None if opener is None else int(opener(pid))
    return None
