"""The process that checks texts for the language server: jobs on standard input, looks on standard output."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from materiac.cli import loading
from materiac.lsp import checker, facts
from materiac.lsp.looks import Job, Look
from materiac.pipeline import Checked, Text, examine
from materiac.report import ordered
from materiac.resources import folder
from materiac.scenario.read import findings_of


def look(job: Job) -> Look:
    """What `materiac check` would find in a text in that folder, and what it knows then."""
    with contextlib.chdir(job.folder):
        top = Text(job.name, job.raw, language=job.language)
        try:
            layers = loading.surroundings(job.opened)
        except loading.UnreadableError:
            layers = loading.Layers(())
        texts = layers.on_top(top, opened=job.opened).texts
        checked = examine(texts)
        found = ordered([*checked.findings, *findings_of(job.name, job.raw, job.language)])
        files = {text.name: _file(text.name) for text in texts}
        return _told(checked, Look(tuple(found), files), texts[-1])


def _file(name: str) -> Path:
    bundled = name.removeprefix(loading.BUNDLED)
    return folder("loadouts") / bundled if bundled != name else Path(os.path.abspath(name))  # noqa: PTH100


def _told(checked: Checked, look: Look, top: Text) -> Look:
    layered = checked.layered
    if layered is None:
        return look
    came = {part.at: part.came for part in top.imports if isinstance(part.came, str)}
    imports = tuple((layered.top.span(at), name) for at, name in came.items())
    return Look(
        look.found,
        look.files,
        imports,
        facts.behaviours(layered),
        facts.loadouts(layered),
        facts.stations(layered, checked.graphs),
    )


def main() -> None:
    """Answer until the server closes the pipe."""
    with contextlib.suppress(BrokenPipeError):
        checker.serve(sys.stdin.buffer, os.fdopen(_own_output(), "wb"), look)


def _own_output() -> int:
    """Standard output for looks alone: whatever is printed goes to standard error."""
    own = os.dup(1)
    os.dup2(2, 1)
    return own


if __name__ == "__main__":
    main()
