"""`acyclic-loop`: no edge of a loop leads back, so it cannot come to its second item."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from materiac.diagnostic import Finding, Severity
from materiac.digraph import strong_components
from materiac.rules.rule import LoadoutView, Rule, Stage

if TYPE_CHECKING:
    from materiac.graph import LoadoutGraph, LoopView


def check(view: LoadoutView) -> Iterator[Finding]:
    for loop in view.graph.loops.values():
        if not loop.foreach and not _has_cycle(loop, view.graph):
            yield RULE.finding(
                f"no edge among the sockets of loop '{loop.id}' leads back",
                (*loop.at, "sockets"),
                help="let the last of them lead to the first",
            )


def _has_cycle(loop: LoopView, graph: LoadoutGraph) -> bool:
    members = frozenset(loop.sockets)
    after = {
        id_: [edge.to for edge in graph.sockets[id_].written.edges if edge.to in members] for id_ in members
    }
    return any(len(part) > 1 or part[0] in after[part[0]] for part in strong_components(after))


RULE = Rule("acyclic-loop", Severity.ERROR, "no edge of a loop leads back", Stage.MEANING, check=check)
