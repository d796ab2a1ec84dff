"""`stall-guard`: a cycle inside an item loop that nothing ends but the stall guard."""

from __future__ import annotations

from collections.abc import Iterator

from materiac.diagnostic import Finding, Severity
from materiac.flow.termination import item_cycles
from materiac.rules.rule import LoadoutView, Rule, Stage
from materiac.rules.wording import remedy, way


def check(view: LoadoutView) -> Iterator[Finding]:
    for cycle in item_cycles(view.graph):
        words = f"nothing but the stall guard bounds the cycle {way(cycle.nodes, view.graph)} of an item"
        yield RULE.finding(words, cycle.at, help=remedy(cycle, view.graph))


RULE = Rule(
    "stall-guard",
    Severity.INFO,
    "within an item, nothing but the stall guard ends a cycle",
    Stage.MEANING,
    check=check,
)
