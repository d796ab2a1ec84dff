"""`reserved-key`: a key of the state, or the name of an item, that means something else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from materiac.diagnostic import Finding, Severity
from materiac.path import GUARDED, RESERVED, ROOTS
from materiac.rules.rule import FileView, LoadoutView, Rule, Stage
from materiac.rules.wording import loop_words
from materiac.source import KEY, Pointer

if TYPE_CHECKING:
    from materiac import model
    from materiac.graph import LoopView

_OTHERWISE = "choose another name"
_INSTEAD = {
    "workItems": "send 'workItems' beside 'state', or assign them",
    "satisfied": "send 'satisfied' beside 'state': it is the verdict",
}


def check(view: LoadoutView) -> Iterator[Finding]:
    for id_, socket in view.graph.sockets.items():
        yield from _reserved(f"'{id_}'", socket.written.assign, socket.at)
    for loop in view.graph.loops.values():
        if loop.alias in ROOTS - {"item"}:
            words = f"{loop_words(loop)} calls its item '{loop.alias}', which is reserved"
            yield RULE.finding(words, _alias(view.loadout, loop), help=_OTHERWISE)


def _alias(loadout: model.Loadout, loop: LoopView) -> Pointer:
    """Where a loop says how its item is called."""
    if loop.foreach:
        return (*loop.at, "as")
    iterator = loadout.loops[loop.id].iterator
    return (*loop.at, "iterator" if iterator is not None and iterator.alias else "consumes", "as")


def check_file(file: FileView) -> Iterator[Finding]:
    for name, materia in file.materia.items():
        yield from _reserved(f"materia '{name}'", materia.assign, ("materia", name))
    for name, utility in file.utilities():
        for i, key in enumerate(utility.writes):
            if key in GUARDED:
                words = f"materia '{name}' says that it writes '{key}', which no utility may patch"
                yield RULE.finding(words, ("materia", name, "writes", i), help=_INSTEAD.get(key, _OTHERWISE))


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
    return _OTHERWISE


RULE = Rule(
    "reserved-key",
    Severity.ERROR,
    "a name is written or given that is reserved",
    Stage.MEANING,
    check=check,
    check_file=check_file,
)
