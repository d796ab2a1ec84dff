"""`foreign-exit`: an exit of a loop from a socket that is not in it."""

from __future__ import annotations

from collections.abc import Iterator

from materiac.diagnostic import Finding, Severity
from materiac.rules.rule import LoadoutView, Rule, Stage
from materiac.rules.wording import listed
from materiac.source import Pointer


def check(view: LoadoutView) -> Iterator[Finding]:
    for loop in view.graph.loops.values():
        written: list[tuple[str, Pointer]] = [
            (route.source, (*route.at, "from")) for route in loop.exits if route.at[-1] != "exit"
        ]
        if loop.early is not None:
            written.append((loop.early.source, (*loop.at, "exit", "from")))
        members = frozenset(loop.sockets)
        for source, at in written:
            if source not in members:
                yield RULE.finding(
                    f"exit of loop '{loop.id}' is from '{source}', which is not in it",
                    at,
                    related=[((*loop.at, "sockets"), f"in it are {listed(sorted(loop.sockets))}")],
                )


RULE = Rule(
    "foreign-exit", Severity.ERROR, "an exit is from a socket outside the loop", Stage.MEANING, check=check
)
