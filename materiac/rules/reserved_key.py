"""`reserved-key`: an assignment to a key of the state that is taken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from materiac.diagnostic import Finding, Severity
from materiac.path import RESERVED
from materiac.rules.rule import FileView, LoadoutView, Rule, Stage
from materiac.source import KEY, Pointer


def check(view: LoadoutView) -> Iterator[Finding]:
    for id_, socket in view.graph.sockets.items():
        yield from _reserved(f"'{id_}'", socket.written.assign, socket.at)


def check_file(file: FileView) -> Iterator[Finding]:
    for name, materia in file.materia.items():
        yield from _reserved(f"materia '{name}'", materia.assign, ("materia", name))


def _reserved(words: str, assign: Mapping[str, str], at: Pointer) -> Iterator[Finding]:
    for target in assign:
        first = target.split(".")[0]
        if first in RESERVED:
            yield RULE.finding(
                f"{words} assigns to '{target}', but '{first}' is reserved",
                (*at, "assign", target, KEY),
                help=_advice(first, target),
            )


def _advice(first: str, target: str) -> str:
    if first == "state" and "." in target:
        return f"targets are below the state anyhow: write '{target.removeprefix('state.')}'"
    return "choose another name"


RULE = Rule(
    "reserved-key",
    Severity.ERROR,
    "an assignment is to a key that is reserved",
    Stage.MEANING,
    check=check,
    check_file=check_file,
)
