"""Ctrl-C and its like: the first one interrupts the cast, and no other disturbs its end."""

from __future__ import annotations

import signal
import sys
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""SIGQUIT is among them since the commands of a cast, in sessions of their own, would outlive us."""

PATIENCE_S: Final = 5.0
"""How long the end of a cast is not disturbed. It takes two seconds; what takes longer hangs."""
_AGAIN_S: Final = 0.02


class Stopping:
    """A context in which the first signal raises `KeyboardInterrupt`, and further ones do nothing.

    What comes later raises it again, but only when `patience_s` have gone by. A signal that was ignored
    before, as `nohup` does it, stays ignored. After one that came, all of them do nothing until the process
    has ended, which is expected to be soon.
    """

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._came = False
        self._deaf = False
        self._due = False
        self._before: dict[signal.Signals, Any] = {}
        self._hook = sys.unraisablehook

    def __enter__(self) -> Self:
        self._hook, sys.unraisablehook = sys.unraisablehook, self._note_lost
        self._before[signal.SIGALRM] = signal.signal(signal.SIGALRM, self._listen)
        for number in SIGNALS:
            before = signal.getsignal(number)
            if before is not signal.SIG_IGN:
                self._before[number] = before
                signal.signal(number, self._stop)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.too_late()
        # One that came while its handler is taken away would be complained about.
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        for number, before in self._before.items():
            signal.signal(number, signal.SIG_IGN if self._came and number in SIGNALS else before)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        sys.unraisablehook = self._hook

    def too_late(self) -> None:
        """From now on there is nothing left to stop."""
        self._deaf = True
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _stop(self, _: int, __: FrameType | None) -> None:
        # Signals that come faster than they are handled would nest without end.
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        self._came = self._due = True
        if not self._deaf:
            self._interrupt()

    def _listen(self, _: int, __: FrameType | None) -> None:
        """Interrupt for what has come in the meantime, and hear what comes from now on."""
        if self._due:
            self._interrupt()
        self._deaf = False
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)

    def _interrupt(self) -> None:
        self._deaf, self._due = True, False
        signal.setitimer(signal.ITIMER_REAL, self._patience_s)
        raise KeyboardInterrupt

    def _note_lost(self, lost: UnraisableHookArgs) -> None:
        """A destructor cannot raise: what it was interrupted by is raised again in a moment."""
        if not issubclass(lost.exc_type, KeyboardInterrupt):
            self._hook(lost)
        elif signal.getitimer(signal.ITIMER_REAL)[0]:
            self._due = True
            signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
