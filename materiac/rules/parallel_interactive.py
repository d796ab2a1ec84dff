"""`parallel-interactive`: a socket runs in streams and talks with a person."""

from __future__ import annotations

from collections.abc import Iterator

from materiac.diagnostic import Finding, Severity
from materiac.flow.regions import regions
from materiac.rules.rule import LoadoutView, Rule, Stage


def check(view: LoadoutView) -> Iterator[Finding]:
    for region in regions(view.graph):
        for id_ in region.members:
            socket = view.graph.sockets.get(id_)
            if socket is None or socket.materia is None or socket.materia.type != "agent":
                continue
            name = socket.written.materia
            if socket.materia.multi_turn:
                yield RULE.finding(
                    f"'{id_}' runs in the streams of '{region.generator.id}', and '{name}' is 'multiTurn'",
                    (*socket.at, "materia"),
                    related=[(("materia", name, "multiTurn"), f"materia '{name}' talks with a person")],
                    help=f"talk in '{region.generator.id}' or before it",
                )


RULE = Rule(
    "parallel-interactive",
    Severity.ERROR,
    "a socket that talks with a person runs in streams",
    Stage.MEANING,
    check=check,
)
