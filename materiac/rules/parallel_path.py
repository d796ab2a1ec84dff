"""`parallel-path`: no one way leads from a parallel generator through its loop and on."""

from __future__ import annotations

from collections.abc import Iterator

from materiac.diagnostic import Finding, Severity
from materiac.flow.regions import regions
from materiac.rules.rule import LoadoutView, Rule, Stage


def check(view: LoadoutView) -> Iterator[Finding]:
    for region in regions(view.graph):
        for found in region.obstacles:
            yield RULE.finding(found.message, found.at, related=found.related, help=found.help)


RULE = Rule(
    "parallel-path",
    Severity.ERROR,
    "no one way leads from a parallel generator through its loop and on",
    Stage.MEANING,
    check=check,
)
