"""Ctrl-C and its like: the first one interrupts the cast, and no other disturbs its end."""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import Any, Final, Self

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopping:
    """A context in which the first signal raises `KeyboardInterrupt`, and further ones do nothing.

    A signal that was ignored before, as `nohup` does it, stays ignored. After one that came, all of them
    do nothing until the process has ended, which is expected to be soon.
    """

    def __init__(self) -> None:
        self._came = False
        self._deaf = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        for number in SIGNALS:
            before = signal.getsignal(number)
            if before is not signal.SIG_IGN:
                self._before[number] = before
                signal.signal(number, self._stop)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, before in self._before.items():
            signal.signal(number, signal.SIG_IGN if self._came else before)

    def too_late(self) -> None:
        """From now on there is nothing left to stop."""
        self._deaf = True

    def _stop(self, _: int, __: FrameType | None) -> None:
        self._came = True
        if not self._deaf:
            self._deaf = True
            raise KeyboardInterrupt
