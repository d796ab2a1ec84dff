"""What is done about a turn that failed: it is tried again, after a pause, with a hint, or it is not."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final

from materiac.agents.protocol import Reply
from materiac.program import Recovery

HINT: Final = (
    "## A tool ran out of time\n\nIn your last try a tool took too long and was ended. Take smaller steps: "
    "run less at once, give commands a limit of their own, and leave nothing running in the background."
)
_PASSING: Final = ("transport", "rate")
"""Faults of the way to the model, which may pass if one waits."""


@dataclass(frozen=True, slots=True)
class Again:
    """Another try: after a pause, maybe with a hint behind the prompt, maybe in a fresh session."""

    pause_s: float = 0.0
    hint: str = ""
    fresh: bool = False


class Patience:
    """The tries of one turn. `tries` counts those that failed."""

    def __init__(self, recovery: Recovery) -> None:
        self.tries = 0
        self._recovery = recovery
        self._until = time.monotonic() + recovery.deadline_ms / 1000
        self._timeouts = 0
        self._was_fresh = False
        self._last: str | None = None
        self._same = 0

    def again(self, reply: Reply, *, in_session: bool) -> Again | None:
        """What to do about a turn that failed; None where nothing would help."""
        self.tries += 1
        self._same = self._same + 1 if reply.error == self._last else 1
        self._last = reply.error
        if reply.fault == "tool":
            self._timeouts += 1
            return Again(hint=HINT) if self._timeouts <= self._recovery.tool_timeouts else None
        if reply.fault == "context" and in_session and not self._was_fresh:
            self._was_fresh = True
            return Again(fresh=True)
        if reply.fault in _PASSING and self.tries < self._recovery.attempts:
            pause = self._pause_s(reply)
            return Again(pause) if time.monotonic() + pause < self._until else None
        return None

    def told(self, reason: str) -> str:
        """The failure of the last try, with how often it came."""
        if self.tries < 2:
            return f"the agent failed: {reason}"
        if self._same > 1:
            return f"the agent failed {self.tries} times, the last {self._same} in the same way: {reason}"
        return f"the agent failed {self.tries} times, lastly: {reason}"

    def _pause_s(self, reply: Reply) -> float:
        """Twice as long each time, or as long as the provider says; never longer than the longest."""
        doubled = self._recovery.first_pause_ms / 1000 * float(1 << min(self.tries - 1, 32))
        return min(max(doubled, reply.retry_after_s or 0.0), self._recovery.longest_pause_ms / 1000)
