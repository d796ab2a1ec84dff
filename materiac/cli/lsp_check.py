"""The process that checks texts for the language server: jobs on standard input, looks on standard output."""

from __future__ import annotations

import contextlib
import os
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from materiac.cli import loading
from materiac.diagnostic import Finding, Located, Severity
from materiac.environment import unsecret
from materiac.fixing.pieces import TextEdit
from materiac.lsp import checker, facts, trials
from materiac.lsp.checker import Question
from materiac.lsp.looks import Job, Look, Mending, Trials, Visits
from materiac.pipeline import Checked, Text, examine
from materiac.report import ordered
from materiac.resources import folder
from materiac.scenario.read import findings_of

_PATIENCE_S: Final = 1.5
"""Fixes are tried for so long."""

_LARGEST: Final = 1_000
"""Of loadouts with more sockets nobody waits for what they take at most."""


@dataclass
class _Last:
    """The text that was looked at last: what was found, how long that took, which fixes were tried in it."""

    job: Job
    look: Look
    checked: Checked
    took_s: float
    proved: dict[tuple[TextEdit, ...], str] = field(default_factory=dict)
    mended: list[str | None] | None = None


class Desk:
    """Answers, and remembers what it looked at last: it is asked about that."""

    def __init__(self) -> None:
        self._last: _Last | None = None

    def answer(self, question: Question) -> Any:
        """The look at a text, or what is asked about the text of a job."""
        try:
            return self._answer(question)
        except Exception as fault:  # noqa: BLE001 (the editor is told, and goes on)
            if os.environ.get("MATERIAC_DEBUG"):
                traceback.print_exception(fault)
            return _faulty(fault) if isinstance(question, Job) else None

    def _answer(self, question: Question) -> Any:
        match question:
            case Job():
                self._last = None
                return self._of(question).look
            case Visits():
                return self._most(question)
            case Trials():
                last = self._of(question.job)
                return trials.held(question, last.look.found, last.proved, _trial(question.job, last))
            case Mending():
                last = self._of(question.job)
                if last.mended is None:
                    last.mended = [trials.mended(question.job, _trial(question.job, last))]
                return last.mended[0]

    def _of(self, job: Job) -> _Last:
        """What was found in the text of a job, which is looked at once."""
        if self._last is None or self._last.job != job:
            begun = time.monotonic()
            look, checked = _look(job)
            self._last = _Last(job, look, checked, time.monotonic() - begun)
        return self._last

    def _most(self, visits: Visits) -> str | None:
        from materiac.flow.bounds import CYCLES, visits_of

        checked = self._of(visits.job).checked
        graph = checked.graphs.get(visits.loadout)
        broken = any(part.finding.severity is Severity.ERROR for part in checked.findings)
        if graph is None or broken or visits.socket not in graph.sockets or len(graph.sockets) > _LARGEST:
            return None
        limits = checked.layered.data.get("limits", {}) if checked.layered else {}
        return str(visits_of(graph, visits.socket, limits.get("maxNoAdvanceCycles", CYCLES)))


def _trial(job: Job, last: _Last) -> trials.Trial:
    """Looks at other texts of the same file, as long as there is time for that."""
    end = time.monotonic() + _PATIENCE_S

    def found_in(text: str) -> Sequence[Located]:
        if time.monotonic() + last.took_s > end:
            raise trials.LateError
        return _look(replace(job, raw=text.encode()))[0].found

    return found_in


def _faulty(fault: Exception) -> Look:
    told = unsecret(f"a fault of materiac itself: {type(fault).__name__}: {fault}")
    return Look((Located(Finding("fault", Severity.ERROR, told, ()), None),))


def look(job: Job) -> Look:
    """What `materiac check` would find in a text in that folder, and what it knows then."""
    return _look(job)[0]


def _look(job: Job) -> tuple[Look, Checked]:
    with contextlib.chdir(job.folder):
        try:
            layers = loading.surroundings(job.opened)
        except loading.UnreadableError:
            layers = loading.Layers(())
        texts = layers.on_top(Text(job.name, job.raw, language=job.language), opened=job.opened).texts
        checked = examine(texts)
        scenarios = findings_of(job.name, job.raw, job.language)
        found = ordered([*checked.findings, *scenarios], checked.suppressed)
        files = {text.name: _file(text.name) for text in texts}
        return _told(checked, Look(tuple(found), files), texts[-1]), checked


def _file(name: str) -> Path:
    bundled = name.removeprefix(loading.BUNDLED)
    return folder("loadouts") / bundled if bundled != name else Path(os.path.abspath(name))  # noqa: PTH100


def _told(checked: Checked, look: Look, top: Text) -> Look:
    layered = checked.layered
    if layered is None:
        return look
    sound = bool(layered.documents) and layered.top.source.name == top.name
    came = {part.at: part.came for part in top.imports if isinstance(part.came, str)}
    imports = tuple((layered.top.span(at), name) for at, name in came.items()) if sound else ()
    return Look(
        look.found,
        look.files,
        imports,
        facts.behaviours(layered),
        facts.loadouts(layered),
        facts.stations(layered, checked.graphs),
        facts.sockets(layered),
        sound,
    )


def main() -> None:
    """Answer until the server closes the pipe."""
    with contextlib.suppress(BrokenPipeError):
        checker.serve(sys.stdin.buffer, os.fdopen(_own_output(), "wb"), Desk().answer)


def _own_output() -> int:
    """Standard output for looks alone: whatever is printed goes to standard error."""
    own = os.dup(1)
    os.dup2(2, 1)
    return own


if __name__ == "__main__":
    main()
