"""`unbounded-loop`: a cycle that nothing ends but the stall guard."""

from __future__ import annotations

from collections.abc import Iterator

from materiac.diagnostic import Finding, Severity
from materiac.flow.termination import Cycle, free_cycles, growing_lists, repeated_runs
from materiac.rules.rule import LoadoutView, Rule, Stage
from materiac.rules.wording import loop_words, remedy, way


def check(view: LoadoutView) -> Iterator[Finding]:
    graph = view.graph
    told = set()
    for cycle in repeated_runs(graph):
        told.add(cycle.at)
        yield _finding(
            f"nothing but the stall guard bounds {_words(cycle)}, which runs {_loop(cycle)} again", cycle
        )
    for cycle in free_cycles(graph):
        if cycle.at not in told:
            yield _finding(f"nothing but the stall guard bounds {_words(cycle)}", cycle)
    for cycle in growing_lists(graph):
        words = f"'{cycle.culprit}' may replace the list of {_loop(cycle)} while it is under way"
        yield _finding(f"{words}: nothing bounds {_words(cycle)}", cycle)


def _finding(message: str, cycle: Cycle) -> Finding:
    return RULE.finding(message, cycle.at, help=remedy(cycle))


def _words(cycle: Cycle) -> str:
    return f"the cycle {way(cycle.sockets)}"


def _loop(cycle: Cycle) -> str:
    return loop_words(cycle.loop) if cycle.loop else ""


RULE = Rule(
    "unbounded-loop", Severity.WARNING, "nothing but the stall guard ends a cycle", Stage.MEANING, check=check
)
