"""`generator-output`: a generator that takes its work items from somewhere else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from materiac.diagnostic import Finding, Severity
from materiac.rules.rule import FileView, LoadoutView, Rule, Stage
from materiac.source import Pointer

_TARGET = "workItems"
_SOURCE = "$.workItems"


def check(view: LoadoutView) -> Iterator[Finding]:
    for id_, socket in view.graph.sockets.items():
        if socket.generator:
            yield from _wrong(f"generator '{id_}'", socket.written.assign, socket.at)


def check_file(file: FileView) -> Iterator[Finding]:
    for name, materia in file.materia.items():
        if materia.generator:
            yield from _wrong(f"generator materia '{name}'", materia.assign, ("materia", name))


def _wrong(words: str, assign: Mapping[str, str], at: Pointer) -> Iterator[Finding]:
    source = assign.get(_TARGET, _SOURCE)
    if source != _SOURCE:
        yield RULE.finding(
            f"{words} assigns '{_TARGET}' from '{source}', expected '{_SOURCE}'",
            (*at, "assign", _TARGET),
            help="leave it out: a generator assigns them by itself",
        )


RULE = Rule(
    "generator-output",
    Severity.ERROR,
    "a generator takes its work items from somewhere else",
    Stage.MEANING,
    check=check,
    check_file=check_file,
)
