"""`maybe-unassigned`: some way leads to a read of the state on which nothing was written there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from materiac.diagnostic import Finding, Severity
from materiac.rules import reading
from materiac.rules.rule import LoadoutView, Rule, Stage
from materiac.rules.wording import way

if TYPE_CHECKING:
    from materiac.flow.unwritten import Gap
    from materiac.graph import LoadoutGraph


def check(view: LoadoutView) -> Iterator[Finding]:
    graph = view.graph
    told = set()
    for gap in reading.gaps_of(view):
        # Of several parts of one value the first says it all.
        about = gap.node, gap.read.kind, gap.read.place[:2]
        if not gap.undefined and about not in told:
            told.add(about)
            yield RULE.finding(
                f"{reading.words(gap, graph)}, {_when(gap, graph)}",
                reading.place(gap, graph),
                related=reading.related(gap, graph),
                help=_advice(gap),
            )


def _when(gap: Gap, graph: LoadoutGraph) -> str:
    nodes = gap.way
    if not nodes:
        return "which may not have been written by then"
    if len(nodes) == 1:
        return "which nothing has written when a cast begins there"
    return f"which nothing has written on the way {way(nodes, graph)}"


def _advice(gap: Gap) -> str:
    if gap.read.kind == "source":
        return "it stays as it is then: say what it is to be at first, in a socket before"
    if gap.read.kind == "list":
        return "the loop is passed by then: assign the list on every way to it"
    return "it is left empty then: assign it on every way, or read '{{lastOutput}}'"


RULE = Rule(
    "maybe-unassigned",
    Severity.WARNING,
    "something may be read from the state before it is written there",
    Stage.MEANING,
    check=check,
)
