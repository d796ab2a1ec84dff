"""`repeated-exit`: two exits of a loop for the same socket and condition."""

from __future__ import annotations

from collections.abc import Iterator

from materiac.diagnostic import Finding, Severity
from materiac.rules.rule import LoadoutView, Rule, Stage
from materiac.source import Pointer


def check(view: LoadoutView) -> Iterator[Finding]:
    for loop in view.graph.loops.values():
        first: dict[tuple[str, str], Pointer] = {}
        for route in loop.exits:
            other = first.setdefault((route.source, route.condition), route.at)
            if other != route.at:
                yield RULE.finding(
                    f"second exit of loop '{loop.id}' from '{route.source}' for '{route.condition}'",
                    route.at,
                    related=[(other, "the first one")],
                    help="keep one of them",
                )


RULE = Rule(
    "repeated-exit",
    Severity.ERROR,
    "two exits of a loop are for the same socket and condition",
    Stage.MEANING,
    check=check,
)
