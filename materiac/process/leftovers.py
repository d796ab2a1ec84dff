"""What the commands of a process that was killed have left running: found by their owner, and ended."""

from __future__ import annotations

import signal
import time
from typing import Final

from materiac.process.descendants import Descendants, adopting, ancestors

_ASKED_S: Final = 1.0
"""How long they may take to end by themselves after SIGTERM."""
_KILLED_S: Final = 0.8
"""How long SIGKILL is repeated, for what they still start."""
_POLL_S: Final = 0.01


def end_leftovers(owner: str) -> int:
    """End every process that comes from a command of `owner`, wherever it went; give how many there were.

    They are asked (SIGTERM), and killed a second later. This process and those that it comes from are
    left alone. Where there is no `/proc` none is found.
    """
    if not owner:
        return 0
    tree = Descendants(f":{owner}.", spared=ancestors())
    with adopting():
        found = tree.alive()
        if found:
            tree.send(signal.SIGTERM)
            tree.send(signal.SIGCONT)  # one that stands still hears nothing else
            found |= _watch(tree, _ASKED_S, None)
            found |= _watch(tree, _KILLED_S, signal.SIGKILL)
            tree.reap()
    return len(found)


def _watch(tree: Descendants, seconds: float, number: signal.Signals | None) -> set[int]:
    """Wait until none is left, sending a signal again and again; give the numbers of those that were seen."""
    seen: set[int] = set()
    until = time.monotonic() + seconds
    while (alive := tree.alive()) and time.monotonic() < until:
        seen |= alive
        if number is not None:
            tree.send(number)
        tree.reap()
        time.sleep(_POLL_S)
    return seen
