"""`unreachable-socket`: no cast comes to a socket."""

from __future__ import annotations

from collections.abc import Iterator

from materiac.diagnostic import Finding, Severity
from materiac.rules.rule import LoadoutView, Rule, Stage
from materiac.rules.unreachable_loop import is_unreachable
from materiac.source import KEY


def check(view: LoadoutView) -> Iterator[Finding]:
    graph = view.graph
    for id_, socket in graph.sockets.items():
        if id_ in graph.reached or (socket.loop is not None and is_unreachable(socket.loop, graph)):
            continue
        yield RULE.finding(f"no way leads from '{graph.entry}' to '{id_}'", (*socket.at, KEY))


RULE = Rule("unreachable-socket", Severity.WARNING, "no way leads to a socket", Stage.MEANING, check=check)
