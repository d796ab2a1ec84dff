"""`unbounded-loop`: a cycle that nothing ends but the stall guard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from materiac.diagnostic import Finding, Severity
from materiac.fixes import bounded
from materiac.flow.termination import Cycle, free_cycles, growing_lists, late_limits, repeated_runs
from materiac.rules.rule import LoadoutView, Rule, Stage
from materiac.rules.wording import loop_words, remedy, way

if TYPE_CHECKING:
    from materiac.graph import LoadoutGraph


def check(view: LoadoutView) -> Iterator[Finding]:
    graph = view.graph
    told = set()
    for cycle in repeated_runs(graph):
        told.add(cycle.at)
        words = f"nothing but the stall guard bounds {_cycle(cycle, graph)}, which runs {_loop(cycle)} again"
        yield _finding(words, cycle, graph)
    for cycle in free_cycles(graph):
        if cycle.at not in told:
            yield _finding(f"nothing but the stall guard bounds {_cycle(cycle, graph)}", cycle, graph)
    for cycle in growing_lists(graph):
        words = f"'{cycle.culprit}' may replace the list of {_loop(cycle)} while it is under way"
        yield _finding(f"{words}: nothing bounds {_cycle(cycle, graph)}", cycle, graph)
    for cycle in late_limits(graph, view.file.frame.limits.max_no_advance_cycles):
        words = (
            f"the limit of '{cycle.culprit}' comes too late: the stall guard may end {_cycle(cycle, graph)}"
        )
        yield _finding(f"{words} before that", cycle, graph)


def _finding(message: str, cycle: Cycle, graph: LoadoutGraph) -> Finding:
    fix = bounded(cycle.bound.at) if cycle.bound is not None else None
    return RULE.finding(message, cycle.at, help=remedy(cycle, graph), fix=fix)


def _cycle(cycle: Cycle, graph: LoadoutGraph) -> str:
    return f"the cycle {way(cycle.nodes, graph)}"


def _loop(cycle: Cycle) -> str:
    return loop_words(cycle.loop) if cycle.loop else ""


RULE = Rule(
    "unbounded-loop", Severity.WARNING, "nothing but the stall guard ends a cycle", Stage.MEANING, check=check
)
