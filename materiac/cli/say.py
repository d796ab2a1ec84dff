"""`materiac say`: answer the agent that a cast waits with."""

from __future__ import annotations

import argparse
import sys

from materiac.cli import places, resume


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("cast", metavar="CAST", help="its id, the beginning of it, or its folder")
    parser.add_argument("words", metavar="TEXT", help="what to say; - reads it from standard input")
    places.add_artifacts(parser)
    resume.add_surroundings(parser)


def run(options: argparse.Namespace) -> int:
    """As `resume`."""
    from materiac.cli import loading
    from materiac.runtime.resume import Allowed

    words = _read() if options.words == "-" else options.words
    if not words.strip():
        loading.complain("there is nothing to say")
        return 2
    return resume.go_on(options, Allowed(change=options.accept_change), talks=False, words=Once(words))


def _read() -> str:
    return sys.stdin.buffer.read().decode("utf-8", "replace")


class Once:
    """A person who says one thing, and is gone then. None asks for the final form."""

    def __init__(self, words: str | None) -> None:
        self._words = [words]

    def say(self, answer: str) -> str | None:  # noqa: ARG002 - it was read before
        """The words. Raises `VisitWaits` when they have been said."""
        from materiac.runtime.visit import VisitWaits

        if not self._words:
            raise VisitWaits("the talk waits for a person")
        return self._words.pop()
