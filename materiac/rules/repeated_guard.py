"""`repeated-guard`: a second edge with the same condition."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from materiac.diagnostic import Finding, Fix, Removal, Severity
from materiac.rules.rule import LoadoutView, Rule, Stage


def check(view: LoadoutView) -> Iterator[Finding]:
    for id_, socket in view.graph.sockets.items():
        first: dict[str, int] = {}
        guarded = takewhile(lambda edge: edge.when != "always", socket.written.edges)
        for i, edge in enumerate(guarded):
            other = first.setdefault(edge.when, i)
            if other != i:
                yield RULE.finding(
                    f"edge of '{id_}' to '{edge.to}' is a second one for '{edge.when}': it is never taken",
                    (*socket.at, "edges", i),
                    related=[((*socket.at, "edges", other), "the first one")],
                    fix=Fix("remove the edge", (Removal((*socket.at, "edges", i)),), safe=True),
                )


RULE = Rule(
    "repeated-guard", Severity.WARNING, "a second edge has the same condition", Stage.MEANING, check=check
)
