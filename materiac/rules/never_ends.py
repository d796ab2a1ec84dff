"""`never-ends`: sockets that a cast comes to and never gets out of."""

from __future__ import annotations

from collections.abc import Iterator

from materiac.diagnostic import Finding, Severity
from materiac.flow.termination import traps
from materiac.rules.rule import LoadoutView, Rule, Stage
from materiac.rules.wording import listed, way
from materiac.source import KEY


def check(view: LoadoutView) -> Iterator[Finding]:
    graph = view.graph
    for trap in traps(graph):
        inside = f"{listed(trap.sockets)} lead only to each other"
        if len(trap.sockets) == 1:
            inside = f"{listed(trap.sockets)} leads only to itself"
        there = f"a cast comes here by {way(trap.way, graph)}; " if len(trap.way) > 1 else ""
        yield RULE.finding(
            f"{inside}: 'end' is out of reach",
            (*graph.socket_at(trap.sockets[0]), KEY),
            help=f"{there}let an edge lead out, to 'end' for one",
        )


RULE = Rule(
    "never-ends",
    Severity.ERROR,
    "from some sockets 'end' is out of reach",
    Stage.MEANING,
    check=check,
    tolerable=True,
)
