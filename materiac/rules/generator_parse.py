"""`generator-parse`: a generator whose output is read as text."""

from __future__ import annotations

from collections.abc import Iterator

from materiac.diagnostic import Finding, Severity
from materiac.rules.rule import FileView, LoadoutView, Rule, Stage

_HELP = "work items are handed over as JSON: say 'json', or leave it out"


def check(view: LoadoutView) -> Iterator[Finding]:
    for id_, socket in view.graph.sockets.items():
        if socket.generator and socket.written.parse == "text":
            yield RULE.finding(
                f"output of the generator '{id_}' is read as text", (*socket.at, "parse"), help=_HELP
            )


def check_file(file: FileView) -> Iterator[Finding]:
    for name, materia in file.materia.items():
        if materia.generator and materia.parse == "text":
            yield RULE.finding(
                f"output of the generator materia '{name}' is read as text",
                ("materia", name, "parse"),
                help=_HELP,
            )


RULE = Rule(
    "generator-parse",
    Severity.ERROR,
    "the output of a generator is read as text",
    Stage.MEANING,
    check=check,
    check_file=check_file,
)
