"""`empty-list-skips`: with no item, a loop takes none of its exits."""

from __future__ import annotations

from collections.abc import Iterator

from materiac.diagnostic import Finding, Severity
from materiac.flow.regions import regions
from materiac.rules.rule import LoadoutView, Rule, Stage
from materiac.source import KEY


def check(view: LoadoutView) -> Iterator[Finding]:
    # Without streams a parallel generator leads to where they would lead.
    streamed = {region.loop.id for region in regions(view.graph) if region.loop is not None}
    for loop in (loop for id_, loop in view.graph.loops.items() if id_ not in streamed):
        conditions = [route.condition for route in loop.exits]
        if loop.early is not None:
            conditions.append(loop.early.when)
        if loop.exits and "always" not in conditions:
            key = "exit" if loop.exits[0].at[-1] == "exit" else "exits"
            skipped = next(
                (f", to '{route.to}' for one" for route in loop.exits if route.to != loop.empty), ""
            )
            yield RULE.finding(
                f"no exit of loop '{loop.id}' is 'always': an empty list leads to '{loop.empty}'",
                (*loop.at, key, KEY),
                help=f"add an 'always' exit where it should lead{skipped}",
            )


RULE = Rule(
    "empty-list-skips",
    Severity.WARNING,
    "an empty list takes no exit of its loop",
    Stage.MEANING,
    check=check,
)
