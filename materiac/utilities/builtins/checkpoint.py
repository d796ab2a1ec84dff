"""What came of a checkpoint, for jj and git alike."""

from __future__ import annotations

from dataclasses import dataclass


class RefusedError(Exception):
    """Nothing was committed. The message says why, and reaches the next prompt."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether all is committed, in words too; `revision` is that of the new commit, if there is one."""

    satisfied: bool
    context: str
    revision: str | None = None


CLEAN = Outcome(satisfied=True, context="nothing to commit")


def committed(message: str, revision: str, note: str = "") -> Outcome:
    """The outcome of a new commit."""
    return Outcome(True, f"committed '{message.strip().splitlines()[0]}'{note}", revision)
