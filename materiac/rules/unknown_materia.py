"""`unknown-materia`: a socket names a materia that is defined nowhere."""

from __future__ import annotations

from collections.abc import Iterator

from materiac.diagnostic import Finding, Severity
from materiac.names import suggestion
from materiac.rules.rule import LoadoutView, Rule, Stage


def check(view: LoadoutView) -> Iterator[Finding]:
    known = view.file.known_materia
    for id_, socket in view.loadout.sockets.items():
        if socket.materia not in known and ("materia",) not in view.file.dropped:
            yield RULE.finding(
                f"socket '{id_}' names the materia '{socket.materia}', which is defined nowhere",
                (*view.graph.socket_at(id_), "materia"),
                help=suggestion(socket.materia, known),
            )


RULE = Rule(
    "unknown-materia", Severity.ERROR, "a materia is named that is not there", Stage.NAMES, check=check
)
