"""`empty-list-skips`: with no item, a loop takes none of its exits."""

from __future__ import annotations

from collections.abc import Iterator

from materiac.diagnostic import Finding, Severity
from materiac.rules.rule import LoadoutView, Rule, Stage
from materiac.source import KEY


def check(view: LoadoutView) -> Iterator[Finding]:
    for loop in view.graph.loops.values():
        conditions = [route.condition for route in loop.exits]
        if loop.early is not None:
            conditions.append(loop.early.when)
        if loop.exits and "always" not in conditions:
            first = loop.exits[0]
            key = ("exit",) if first.at[-1] == "exit" else ("exits",)
            yield RULE.finding(
                f"no exit of loop '{loop.id}' is 'always': an empty list leads to '{loop.empty}'",
                (*loop.at, *key, KEY),
                help=f"add an 'always' exit where it should lead, to '{first.to}' for one",
            )


RULE = Rule(
    "empty-list-skips",
    Severity.WARNING,
    "an empty list takes no exit of its loop",
    Stage.MEANING,
    check=check,
)
