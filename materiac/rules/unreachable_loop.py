"""`unreachable-loop`: no cast comes to any socket of a loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from materiac.diagnostic import Finding, Severity
from materiac.rules.rule import LoadoutView, Rule, Stage
from materiac.source import KEY

if TYPE_CHECKING:
    from materiac.graph import LoadoutGraph, LoopView


def check(view: LoadoutView) -> Iterator[Finding]:
    graph = view.graph
    for loop in graph.loops.values():
        if is_unreachable(loop, graph):
            yield RULE.finding(
                f"no way leads from '{graph.entry}' to a socket of loop '{loop.id}'", (*loop.at, KEY)
            )


def is_unreachable(loop: LoopView, graph: LoadoutGraph) -> bool:
    """Whether this is about the loop as a whole; a lone socket is told of by itself."""
    return not loop.foreach and not any(id_ in graph.reached for id_ in loop.sockets)


RULE = Rule("unreachable-loop", Severity.WARNING, "no way leads to a loop", Stage.MEANING, check=check)
