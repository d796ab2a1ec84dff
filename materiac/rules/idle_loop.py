"""`idle-loop`: a loop that never steps its cursor."""

from __future__ import annotations

from collections.abc import Iterator

from materiac.diagnostic import Bilingual, Finding, Severity
from materiac.rules.rule import LoadoutView, Rule, Stage
from materiac.source import KEY


def check(view: LoadoutView) -> Iterator[Finding]:
    graph = view.graph
    for loop in graph.loops.values():
        if not loop.foreach and all(graph.sockets[id_].advance is None for id_ in loop.sockets):
            yield RULE.finding(
                f"no socket of loop '{loop.id}' has an 'advance': it stays at its first item",
                (*loop.at, KEY),
                help=Bilingual(
                    f'"advance": {{"cursor": "{loop.cursor}", "items": "{loop.items}"}} goes to the next',
                    f"'advance {loop.cursor} over {loop.items}' goes to the next",
                ),
            )


RULE = Rule(
    "idle-loop", Severity.WARNING, "a loop never comes to its second item", Stage.MEANING, check=check
)
