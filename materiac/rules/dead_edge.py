"""`dead-edge`: an edge after one that is always taken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from materiac.diagnostic import Finding, Fix, Insertion, Removal, Severity
from materiac.rules.rule import LoadoutView, Rule, Stage

if TYPE_CHECKING:
    from materiac.graph import SocketView

_OTHER: Final = {"satisfied": "not_satisfied", "not_satisfied": "satisfied"}


def check(view: LoadoutView) -> Iterator[Finding]:
    for id_, socket in view.graph.sockets.items():
        edges = socket.written.edges
        first = next((i for i, edge in enumerate(edges) if edge.when == "always"), len(edges))
        for i, edge in enumerate(edges[first + 1 :], first + 1):
            yield RULE.finding(
                f"edge of '{id_}' to '{edge.to}' is never taken",
                (*socket.at, "edges", i),
                related=[((*socket.at, "edges", first), "this edge before it is always taken")],
                fix=_fix(socket, first, i),
            )


def _fix(socket: SocketView, first: int, dead: int) -> Fix:
    """The edge goes; or the one before it is for the other verdict, where nobody has said what it is for."""
    at, edges = (*socket.at, "edges"), socket.written.edges
    other = _OTHER.get(edges[dead].when)
    guards = [edge.when for edge in edges]
    forgotten = "when" not in edges[first].model_fields_set and other not in guards
    if other is not None and forgotten and dead == first + 1 and socket.parse == "json":
        words = f"take the edge before it when '{other}'"
        return Fix(words, (Insertion((*at, first), other, "when"),))
    return Fix("remove the edge", (Removal((*at, dead)),), safe=True)


RULE = Rule(
    "dead-edge", Severity.ERROR, "an edge stands after one that is always taken", Stage.MEANING, check=check
)
