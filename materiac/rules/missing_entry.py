"""`missing-entry`: a loadout does not say where it begins."""

from __future__ import annotations

from collections.abc import Iterator

from materiac.diagnostic import Bilingual, Finding, Fix, Insertion, Severity
from materiac.rules.rule import LoadoutView, Rule, Stage
from materiac.source import KEY


def check(view: LoadoutView) -> Iterator[Finding]:
    graph = view.graph
    unclear = (*graph.base, "entry") in view.file.dropped
    if view.loadout.entry is None and not unclear:
        yield RULE.finding(
            f"loadout '{graph.name}' has no 'entry': it begins at '{graph.entry}', the first as written",
            (*graph.base, "sockets", KEY),
            help=_advice(view),
            fix=_fix(view),
        )


def _advice(view: LoadoutView) -> Bilingual:
    """In the DSL `entry: plan` is a socket called `entry`, and hardly ever meant as one."""
    graph = view.graph
    taken = graph.sockets.get("entry")
    meant = taken.written.materia if taken is not None else None
    if meant in graph.sockets:
        return Bilingual(f'add "entry": "{meant}"', f"write 'entry {meant}', without a colon")
    return Bilingual(f'add "entry": "{graph.entry}"', f"add 'entry {graph.entry}'")


def _fix(view: LoadoutView) -> Fix | None:
    """What is meant by a socket called `entry` is not known."""
    graph = view.graph
    if "entry" in graph.sockets:
        return None
    entry = Insertion(graph.base, graph.entry, "entry", first=True)
    return Fix(f"say that it begins at '{graph.entry}'", (entry,), safe=True)


RULE = Rule(
    "missing-entry", Severity.WARNING, "a loadout does not say where it begins", Stage.NAMES, check=check
)
