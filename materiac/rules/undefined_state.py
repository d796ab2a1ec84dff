"""`undefined-state`: something reads a place of the state that nothing writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from materiac.diagnostic import Bilingual, Finding, Fix, Replacement, Severity
from materiac.names import nearest
from materiac.rules import reading
from materiac.rules.rule import LoadoutView, Rule, Stage
from materiac.rules.wording import listed
from materiac.template import references

if TYPE_CHECKING:
    from materiac.flow.accesses import Read
    from materiac.flow.unwritten import Gap


def check(view: LoadoutView) -> Iterator[Finding]:
    gaps = [gap for gap in reading.gaps_of(view) if gap.undefined]
    if not gaps:
        return
    accesses = reading.accesses_of(view)
    patchers = [id_ for id_ in view.graph.reached if id_ in accesses.patchers]
    for gap in gaps:
        yield _finding(gap, view, accesses.known, patchers)


def _finding(gap: Gap, view: LoadoutView, known: Sequence[str], patchers: Sequence[str]) -> Finding:
    graph, read = view.graph, gap.read
    near = nearest(read.key, known)
    ending = f"is known to write: {listed(patchers)} may" if patchers else "writes"
    advice = _declaration(read) if patchers else "assign it where it is known, in a socket that runs before"
    return RULE.finding(
        f"{reading.words(gap, graph)}, which nothing {ending}",
        reading.place(gap, graph),
        related=reading.related(gap, graph),
        help=advice if near is None else f"did you mean '{near}'?",
        severity=Severity.INFO if patchers else None,
        fix=_correction(read, near, view) if near is not None else None,
    )


def _correction(read: Read, near: str, view: LoadoutView) -> Fix:
    """The name that may have been meant in the place of the one that is written, in all of a prompt."""
    correct = read.written.replace(read.key, near)
    materia = view.file.materia[str(read.at[1])] if read.kind == "prompt" else None
    if materia is not None and materia.type == "agent":
        correct = _replaced(materia.prompt, read.written, correct)
    return Fix(f"write '{near}'", (Replacement(read.at, correct),))


def _replaced(prompt: str, wrong: str, correct: str) -> str:
    """A prompt with another reference, which may have spaces in it."""
    for reference in reversed(list(references(prompt))):
        if "{{" + reference.name + "}}" == wrong:
            prompt = prompt[: reference.start] + correct + prompt[reference.end :]
    return prompt


def _declaration(read: Read) -> Bilingual:
    key = read.place[1]
    return Bilingual(
        f'say "writes": ["{key}"] in the materia that does', f"say 'writes [{key}]' in the materia that does"
    )


RULE = Rule(
    "undefined-state",
    Severity.ERROR,
    "something is read from the state that nothing writes there",
    Stage.MEANING,
    check=check,
    tolerable=True,
)
