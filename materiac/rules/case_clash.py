"""`case-clash`: two names that differ in upper and lower case alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from materiac.diagnostic import Finding, Severity
from materiac.rules.rule import FileView, LoadoutView, Rule, Stage
from materiac.source import KEY, Pointer


def check(view: LoadoutView) -> Iterator[Finding]:
    yield from _clashes("socket", sorted(view.loadout.sockets), (*view.graph.base, "sockets"))


def check_file(file: FileView) -> Iterator[Finding]:
    yield from _clashes("loadout", _written(file, "loadouts", file.known_loadouts), ("loadouts",))
    yield from _clashes("materia", _written(file, "materia", file.known_materia), ("materia",))


def _written(file: FileView, part: str, known: frozenset[str]) -> list[str]:
    """Names in the order of the layers, so that it is the upper of two files that is complained of."""
    return sorted(known, key=lambda name: (file.layer((part, name)), name))


def _clashes(kind: str, names: Iterable[str], at: Pointer) -> Iterator[Finding]:
    first: dict[str, str] = {}
    for name in names:
        other = first.setdefault(name.casefold(), name)
        if other != name:
            yield RULE.finding(
                f"{kind} '{name}' differs from '{other}' in upper and lower case alone",
                (*at, name, KEY),
                related=[((*at, other, KEY), "the other")],
                help="files named after them are one file on some systems",
            )


RULE = Rule(
    "case-clash",
    Severity.WARNING,
    "two names differ in upper and lower case alone",
    Stage.NAMES,
    check=check,
    check_file=check_file,
)
