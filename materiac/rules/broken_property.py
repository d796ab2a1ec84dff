"""`broken-property`: what is said of every cast does not hold for some."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from materiac.diagnostic import Finding, Severity
from materiac.properties import parse
from materiac.rules.rule import LoadoutView, Rule, Stage
from materiac.rules.wording import steps, way
from materiac.source import Pointer

if TYPE_CHECKING:
    from materiac.flow.ways import Way
    from materiac.graph import LoadoutGraph


def check(view: LoadoutView) -> Iterator[Finding]:
    graph, written = view.graph, view.loadout.properties
    if not written:
        return
    from materiac.flow.breaches import Breaches  # noqa: PLC0415 - listing rules does without models

    breaches = Breaches(graph, view.file.frame.limits.max_no_advance_cycles)
    for i, entry in enumerate(written):
        at, rule = (*graph.base, "properties", i), parse(entry.said)
        found = breaches.of(rule)
        if isinstance(found, tuple):
            words = f"{rule} does not hold: a cast may go {way(found, graph)}"
            yield RULE.finding(words, at, related=_last_step(graph, found), way=steps(found, graph))
        elif found is not None:
            words = f"{rule} cannot be proved: there are too many ways to look at"
            advice = "every run is watched for it"
            yield RULE.finding(words, at, help=advice, severity=Severity.WARNING)


def _last_step(graph: LoadoutGraph, found: Way) -> Iterator[tuple[Pointer, str]]:
    """Where the step is written that breaks the property."""
    for source in found[-2:-1]:
        route = next((route for route in graph.routes[source] if route.target == found[-1]), None)
        if route is not None:
            yield route.at, "this step breaks it"


RULE = Rule(
    "broken-property",
    Severity.ERROR,
    "what is said of every cast does not hold for some",
    Stage.MEANING,
    check=check,
    tolerable=True,
)
