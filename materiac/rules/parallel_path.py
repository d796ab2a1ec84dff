"""`parallel-path`: no one way leads from a parallel generator through its loop and on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from materiac.diagnostic import Finding, Severity
from materiac.flow.regions import regions
from materiac.rules.rule import LoadoutView, Rule, Stage

if TYPE_CHECKING:
    from materiac.flow.regions import RegionView
    from materiac.graph import LoadoutGraph


def check(view: LoadoutView) -> Iterator[Finding]:
    for region in regions(view.graph):
        for found in region.obstacles:
            yield RULE.finding(found.message, found.at, related=found.related, help=found.help)
        if not region.obstacles:
            yield from _ways_out(view.graph, region)


def _ways_out(graph: LoadoutGraph, region: RegionView) -> Iterator[Finding]:
    """Edges by which a stream leaves its loop before its last item is done: it fails, and the cast too."""
    members = region.loop.sockets if region.loop is not None else ()
    for route in (route for id_ in members for route in graph.routes.get(id_, ())):
        if route.kind == "edge" and route.target not in members:
            yield RULE.finding(
                f"edge of '{route.source}' leads to '{route.target}', out of the streams of"
                f" '{region.generator.id}': a stream that takes it fails",
                (*route.at, "to"),
                help="lead to a socket of the loop: an exit is taken when the items of a stream are done",
                severity=Severity.WARNING,
            )


RULE = Rule(
    "parallel-path",
    Severity.ERROR,
    "no one way leads from a parallel generator through its loop and on",
    Stage.MEANING,
    check=check,
)
