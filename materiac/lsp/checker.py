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

from materiac.lsp.looks import Job, Look, Mending, Trials, Visits

_PATIENCE_S: Final = 1.0
_GLANCE_S: Final = 0.15
"""A hover does not wait for longer while something else is checked."""

Question = Job | Visits | Trials | Mending


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
        words: str | None = self._beside(visits, _GLANCE_S)
        return words

    def held(self, trials: Trials) -> list[str | None]:
        """Why each fix does not hold, the empty text where it does; None where that is not known in time."""
        found: list[str | None] | None = self._beside(trials, _PATIENCE_S)
        return found or [None] * len(trials.fixes)

    def mended(self, mending: Mending) -> str | None:
        """A text with its safe fixes made; None where not all of that is known in time."""
        text: str | None = self._beside(mending, _PATIENCE_S)
        return text

    def _beside(self, question: Question, patience_s: float) -> Any:
        """The answer to a small question; None where something else goes on for longer."""
        if not self._lock.acquire(timeout=patience_s):
            return None
        try:
            return self._answer(question)
        finally:
            self._lock.release()

    def _answer(self, question: Question) -> Any:
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


def _asked(process: subprocess.Popen[bytes], question: Question) -> Any:
    if process.stdin is None or process.stdout is None:
        raise EOFError
    pickle.dump(question, process.stdin)
    process.stdin.flush()
    # It comes from the process that was started above, and from nobody else.
    return pickle.load(process.stdout)  # noqa: S301


def serve(reader: BinaryIO, writer: BinaryIO, answer: Callable[[Any], Any]) -> None:
    """Be the process: answer until there are no more questions."""
    with suppress(EOFError, BrokenPipeError):
        while True:
            pickle.dump(answer(pickle.load(reader)), writer)  # noqa: S301 (the server asks)
            writer.flush()
