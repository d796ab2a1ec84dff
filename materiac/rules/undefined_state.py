"""`undefined-state`: something reads a place of the state that nothing writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from materiac.diagnostic import Bilingual, Finding, Fix, Replacement, Severity
from materiac.names import nearest, suggestion
from materiac.path import ITEM_NAMES
from materiac.rules import reading
from materiac.rules.rule import LoadoutView, Rule, Stage
from materiac.rules.wording import listed, loop_words
from materiac.template import references

if TYPE_CHECKING:
    from materiac.flow.accesses import Read
    from materiac.flow.slips import Slip
    from materiac.flow.unwritten import Gap


def check(view: LoadoutView) -> Iterator[Finding]:
    yield from (_misspelt(slip, view) for slip in reading.slips_of(view))
    gaps = [gap for gap in reading.gaps_of(view) if gap.undefined and not gap.follows]
    if not gaps:
        return
    accesses = reading.accesses_of(view)
    patchers = [id_ for id_ in view.graph.reached if id_ in accesses.patchers]
    items = {*ITEM_NAMES, *(loop.alias for loop in view.graph.loops.values())}
    for gap in gaps:
        root, *below = gap.read.place
        if root == "cursor":
            yield _no_cursor(gap, view)
        elif root == "item" or below[0] in items - accesses.keys:
            yield _no_item(gap, view, patched=root == "state" and bool(patchers))
        else:
            yield _finding(gap, view, accesses.known, patchers)


def _misspelt(slip: Slip, view: LoadoutView) -> Finding:
    """A word that means nothing stays as it is in the prompt."""
    return RULE.finding(
        f"'{slip.node}' has '{slip.read.written}' in its prompt, which is no reference and stays a text",
        reading.place(slip, view.graph),
        related=reading.related(slip, view.graph),
        help=f"did you mean '{slip.near}'?",
        severity=Severity.WARNING,
        fix=_correction(slip.read, slip.near, view),
    )


def _no_item(gap: Gap, view: LoadoutView, *, patched: bool) -> Finding:
    return RULE.finding(
        f"{reading.words(gap, view.graph)}, which only a socket in a loop has",
        reading.place(gap, view.graph),
        related=reading.related(gap, view.graph),
        help="assign what is needed of it to the state, in a socket of the loop",
        severity=Severity.INFO if patched else Severity.WARNING,
    )


def _no_cursor(gap: Gap, view: LoadoutView) -> Finding:
    cursors = [loop.cursor for loop in view.graph.loops.values()]
    if gap.read.key in cursors:
        loop = next(loop for loop in view.graph.loops.values() if loop.cursor == gap.read.key)
        why, advice = f"which is there only while {loop_words(loop)} is under way", None
    else:
        why, advice = "which is the cursor of no loop", suggestion(gap.read.key, cursors)
    return RULE.finding(
        f"{reading.words(gap, view.graph)}, {why}",
        reading.place(gap, view.graph),
        related=reading.related(gap, view.graph),
        help=advice,
        severity=Severity.WARNING,
    )


def _finding(gap: Gap, view: LoadoutView, known: Sequence[str], patchers: Sequence[str]) -> Finding:
    graph, read = view.graph, gap.read
    near = nearest(read.key, [key for key in known if key != read.key])
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
    find = read.written.index if read.place[0] == "prompt" else read.written.rindex
    start = find(read.key)
    correct = read.written[:start] + near + read.written[start + len(read.key) :]
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
