"""`idle-foreach`: a `foreach` that stays at its first item."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from materiac.diagnostic import Finding, Severity
from materiac.rules.rule import LoadoutView, Rule, Stage
from materiac.source import KEY

if TYPE_CHECKING:
    from materiac.graph import LoadoutGraph


def check(view: LoadoutView) -> Iterator[Finding]:
    graph = view.graph
    lone = [loop for loop in graph.loops.values() if loop.foreach and loop.sockets[0] in graph.reached]
    returning = _returning(graph) if lone else frozenset()
    for loop in lone:
        socket = graph.sockets[loop.sockets[0]]
        missing = "'advance'" if socket.advance is None else "edge back"
        if socket.advance is None or socket.id not in returning:
            yield RULE.finding(
                f"the 'foreach' of '{socket.id}' has no {missing}: it works on the first item alone",
                (*loop.at, KEY),
                help="it goes on with an 'advance' and an edge that leads back",
            )


def _returning(graph: LoadoutGraph) -> frozenset[str]:
    """The sockets that an edge taken within the list leads back to."""
    parts = enumerate(graph.components(lambda _: True))
    part_of = {node: i for i, part in parts for node in part}
    return frozenset(
        route.source
        for node in part_of
        for route in graph.routes[node]
        if route.kind == "edge" and route.progress and part_of.get(route.target) == part_of[node]
    )


RULE = Rule(
    "idle-foreach", Severity.WARNING, "a 'foreach' works on its first item alone", Stage.MEANING, check=check
)
