"""`parallel-unsafe`: a socket runs in streams and its materia does not say that it may."""

from __future__ import annotations

from collections.abc import Iterator

from materiac.diagnostic import Finding, Severity
from materiac.flow.regions import regions
from materiac.rules.rule import LoadoutView, Rule, Stage
from materiac.source import KEY


def check(view: LoadoutView) -> Iterator[Finding]:
    for region in regions(view.graph):
        for id_ in region.members:
            socket = view.graph.sockets.get(id_)
            if socket is None or socket.materia is None or socket.materia.parallel_safe:
                continue
            name = socket.written.materia
            yield RULE.finding(
                f"'{id_}' runs in the streams of '{region.generator.id}', and '{name}' is not 'parallelSafe'",
                (*socket.at, "materia"),
                related=[(("materia", name, KEY), f"materia '{name}'")],
                help="make it 'parallelSafe', if several of it can work at the same time",
            )


RULE = Rule(
    "parallel-unsafe",
    Severity.ERROR,
    "a socket runs in streams and its materia is not 'parallelSafe'",
    Stage.MEANING,
    check=check,
)
