"""`idle-foreach`: a `foreach` that stays at its first item."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from materiac.diagnostic import Finding, Severity
from materiac.digraph import breadth_first
from materiac.rules.rule import LoadoutView, Rule, Stage
from materiac.source import KEY

if TYPE_CHECKING:
    from materiac.graph import LoadoutGraph


def check(view: LoadoutView) -> Iterator[Finding]:
    for loop in view.graph.loops.values():
        id_ = loop.sockets[0]
        if not loop.foreach or (view.graph.sockets[id_].advance is not None and _comes_back(id_, view.graph)):
            continue
        missing = "edge back" if view.graph.sockets[id_].advance is not None else "'advance'"
        yield RULE.finding(
            f"the 'foreach' of '{id_}' has no {missing}: it works on the first item alone",
            (*loop.at, KEY),
            help="it goes on with an 'advance' and an edge that leads back",
        )


def _comes_back(id_: str, graph: LoadoutGraph) -> bool:
    """Whether a way leads back that begins with an edge of the socket, within the list."""
    first = {route.target for route in graph.routes[id_] if route.kind == "edge" and route.progress}
    return id_ in breadth_first(sorted(first), graph.after)


RULE = Rule(
    "idle-foreach", Severity.WARNING, "a 'foreach' works on its first item alone", Stage.MEANING, check=check
)
