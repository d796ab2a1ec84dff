"""The person at the terminal, for sockets with `multiTurn`."""

from __future__ import annotations

import sys

from materiac.cli.progress import Progress
from materiac.cli.wording import lines
from materiac.runtime.visit import VisitWaits

CONTINUE = "/continue"


class Terminal:
    """Reads what the person says from standard input, a line at a time; `/continue` ends the talk."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def say(self, answer: str) -> str | None:
        """Show the answer and read a line. Raises `VisitWaits` at the end of the input."""
        with self._progress.paused():
            print("", *lines(answer), "", sep="\n", file=sys.stderr)
            while True:
                print(f"your reply, or {CONTINUE} for the final form> ", end="", file=sys.stderr, flush=True)
                line = sys.stdin.readline()
                if not line:
                    print(file=sys.stderr)
                    raise VisitWaits("the talk waits for a person")
                if words := line.strip():
                    return None if words == CONTINUE else words
