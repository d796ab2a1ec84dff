"""`unknown-materia`: a socket names a materia that is defined nowhere."""

from __future__ import annotations

from collections.abc import Iterator

from materiac.diagnostic import Finding, Severity
from materiac.fixes import renamed
from materiac.names import suggestion
from materiac.rules.rule import FileView, LoadoutView, Rule, Stage
from materiac.source import KEY


def check(view: LoadoutView) -> Iterator[Finding]:
    known = view.file.known_materia
    for id_, socket in view.loadout.sockets.items():
        if socket.materia not in known and ("materia",) not in view.file.dropped:
            yield RULE.finding(
                f"socket '{id_}' names the materia '{socket.materia}', which is defined nowhere",
                (*view.graph.socket_at(id_), "materia"),
                help=suggestion(socket.materia, known),
                fix=renamed(socket.materia, known, (*view.graph.socket_at(id_), "materia")),
            )


def check_file(file: FileView) -> Iterator[Finding]:
    """What the file says of agents may be meant for materia of other projects: it is warned of."""
    for name in file.frame.agents.materia:
        if name not in file.known_materia and ("materia",) not in file.dropped:
            yield RULE.finding(
                f"'agents' names the materia '{name}', which is defined nowhere",
                ("agents", "materia", name, KEY),
                help=suggestion(name, file.known_materia),
                fix=renamed(name, file.known_materia, ("agents", "materia", name, KEY)),
                severity=Severity.WARNING,
            )


RULE = Rule(
    "unknown-materia",
    Severity.ERROR,
    "a materia is named that is not there",
    Stage.NAMES,
    check=check,
    check_file=check_file,
)
