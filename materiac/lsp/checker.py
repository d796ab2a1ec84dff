"""The process that checks: asked by pickles in a pipe, ended where its answer is no longer wanted.

It is a process, and no thread, so that a check that takes long holds up nothing, can be ended at any time,
and takes nothing with it when it fails.
"""

from __future__ import annotations

import pickle
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, BinaryIO, Final

from materiac.lsp.looks import Job, Look, Visits

_PATIENCE_S: Final = 1.0


class Checker:
    """Asks the process, which is started anew where it has gone.

    `since` is when the question was asked that it is busy with.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self.since: float | None = None
        self._closed = False
        self._lock = threading.Lock()

    def look(self, job: Job) -> Look | None:
        """What is in a text; None where the process was ended, or failed. Blocks until then."""
        with self._lock:
            self.since = time.monotonic()
            try:
                look: Look | None = self._answer(job)
            finally:
                self.since = None
            return look

    def most(self, visits: Visits) -> str | None:
        """How often a socket is visited at most; None where that is not known, or something else goes on."""
        if not self._lock.acquire(timeout=_PATIENCE_S):
            return None
        try:
            words: str | None = self._answer(visits)
            return words
        finally:
            self._lock.release()

    def _answer(self, question: Job | Visits) -> Any:
        try:
            return _asked(self._running(), question)
        except (EOFError, OSError, pickle.UnpicklingError):
            self._end()
            return None

    def start(self) -> None:
        """Start the process, so that it is there when it is needed."""
        with self._lock:
            self._running()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._closed:
            raise EOFError
        if self._process is not None and self._process.poll() is not None:
            self._end()
        if self._process is None:
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(self._command, stdin=pipe, stdout=pipe)
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            with suppress(BrokenPipeError):  # what was not written yet
                process.communicate()

    def stop(self) -> None:
        """End what it does, which `look` sees then; the process is started anew for the next text."""
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """End the process; there will be no more questions."""
        self._closed = True
        self.stop()
        with self._lock:
            self._end()


def _asked(process: subprocess.Popen[bytes], question: Job | Visits) -> Any:
    if process.stdin is None or process.stdout is None:
        raise EOFError
    pickle.dump(question, process.stdin)
    process.stdin.flush()
    # It comes from the process that was started above, and from nobody else.
    return pickle.load(process.stdout)  # noqa: S301


def serve(reader: BinaryIO, writer: BinaryIO, answer: Callable[[Any], Look | str | None]) -> None:
    """Be the process: answer until there are no more questions."""
    with suppress(EOFError, BrokenPipeError):
        while True:
            pickle.dump(answer(pickle.load(reader)), writer)  # noqa: S301 (the server asks)
            writer.flush()
