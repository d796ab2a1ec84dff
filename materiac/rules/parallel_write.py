"""`parallel-write`: what streams write to their own states is read when they are done."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from materiac.diagnostic import Finding, Severity
from materiac.flow.regions import regions
from materiac.rules.rule import LoadoutView, Rule, Stage
from materiac.rules.wording import loop_words
from materiac.source import KEY

if TYPE_CHECKING:
    from materiac.flow.lost_writes import Lost
    from materiac.flow.regions import RegionView
    from materiac.graph import LoadoutGraph


def check(view: LoadoutView) -> Iterator[Finding]:
    from materiac.flow.lost_writes import lost_writes  # noqa: PLC0415 - listing rules does without models

    for region in regions(view.graph):
        if region.loop is not None and not region.obstacles:
            for lost in lost_writes(view.graph, region):
                yield _finding(view.graph, region, lost)


def _finding(graph: LoadoutGraph, region: RegionView, lost: Lost) -> Finding:
    writer = graph.sockets[lost.writer]
    own = next((part.at for part in writer.assign if part.at[0] != "materia" and lost.is_of(part)), None)
    passed = graph.ways_past.get(lost.reader)
    reader = loop_words(passed) if passed is not None else f"'{lost.reader}'"
    return RULE.finding(
        f"'{writer.id}' writes '{lost.key}' in the streams of '{region.generator.id}', and {reader} reads it"
        " after them: a stream has a state of its own, which ends with it",
        (*own, KEY) if own is not None else (*writer.at, "materia"),
        related=[(lost.read.at, f"read here, as '{lost.read.written}'")],
        help="'state.parallelFanIn' has the outputs of the streams",
    )


RULE = Rule(
    "parallel-write",
    Severity.WARNING,
    "a key that streams write is read after them, where it is lost",
    Stage.MEANING,
    check=check,
)
