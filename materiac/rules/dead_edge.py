"""`dead-edge`: an edge after one that is always taken."""

from __future__ import annotations

from collections.abc import Iterator

from materiac.diagnostic import Finding, Fix, Removal, Severity
from materiac.rules.rule import LoadoutView, Rule, Stage


def check(view: LoadoutView) -> Iterator[Finding]:
    for id_, socket in view.graph.sockets.items():
        edges = socket.written.edges
        first = next((i for i, edge in enumerate(edges) if edge.when == "always"), len(edges))
        for i, edge in enumerate(edges[first + 1 :], first + 1):
            yield RULE.finding(
                f"edge of '{id_}' to '{edge.to}' is never taken",
                (*socket.at, "edges", i),
                related=[((*socket.at, "edges", first), "this edge before it is always taken")],
                fix=Fix("remove the edge", (Removal((*socket.at, "edges", i)),), safe=True),
            )


RULE = Rule(
    "dead-edge", Severity.ERROR, "an edge stands after one that is always taken", Stage.MEANING, check=check
)
