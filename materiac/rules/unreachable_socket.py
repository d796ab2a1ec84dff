"""`unreachable-socket`: no cast comes to a socket."""

from __future__ import annotations

from collections.abc import Iterator

from materiac.diagnostic import Finding, Severity
from materiac.rules.rule import LoadoutView, Rule, Stage
from materiac.rules.unreachable_loop import is_unreachable
from materiac.source import KEY


def check(view: LoadoutView) -> Iterator[Finding]:
    graph = view.graph
    whole = {id_ for loop in graph.loops.values() if is_unreachable(loop, graph) for id_ in loop.sockets}
    for id_, socket in graph.sockets.items():
        if id_ not in graph.reached and id_ not in whole:
            yield RULE.finding(f"no way leads from '{graph.entry}' to '{id_}'", (*socket.at, KEY))


RULE = Rule("unreachable-socket", Severity.WARNING, "no way leads to a socket", Stage.MEANING, check=check)
