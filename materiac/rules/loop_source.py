"""`loop-source`: a loop consumes from something else than the one generator that feeds it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from materiac.diagnostic import Finding, Severity
from materiac.flow.generators import Feeders
from materiac.rules.rule import LoadoutView, Rule, Stage
from materiac.rules.wording import listed

if TYPE_CHECKING:
    from materiac.graph import LoadoutGraph, LoopView


def check(view: LoadoutView) -> Iterator[Finding]:
    graph = view.graph
    consuming = [(loop, loop.source) for loop in graph.loops.values() if loop.source is not None]
    if not consuming:
        return
    feeders = Feeders(graph)
    for loop, source in consuming:
        if feeders.only(loop, source):
            continue
        before = feeders.before(loop)
        # A materia that is nowhere may be a generator.
        if all(graph.sockets[id_].materia is not None for id_ in [source, *before]):
            yield _finding(loop, source, sorted(id_ for id_ in before if graph.sockets[id_].generator), graph)


def _finding(loop: LoopView, source: str, generators: list[str], graph: LoadoutGraph) -> Finding:
    said = f"loop '{loop.id}' takes its items from '{source}'"
    advice = f"say '{generators[0]}'" if len(generators) == 1 else None
    if not graph.sockets[source].generator:
        words = f"{said}, which is no generator"
    elif source in loop.sockets:
        words = f"{said}, which is in the loop itself"
    elif source not in generators:
        words = f"{said}, which does not lead to it"
    else:
        others = [id_ for id_ in generators if id_ != source]
        words = f"{said}, but it is fed by {listed(others)} too"
        advice = "let one generator alone lead to the loop"
    if len(generators) > 1 and source not in generators:
        advice = f"{listed(generators)} lead to it: let one of them, and name that"
    return RULE.finding(words, (*loop.at, "consumes", "from"), help=advice)


RULE = Rule(
    "loop-source",
    Severity.ERROR,
    "a loop does not consume from the one generator that feeds it",
    Stage.MEANING,
    check=check,
)
