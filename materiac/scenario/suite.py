"""Judging scenarios: which loadout, whether it is sound, what the cast came to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from materiac.diagnostic import Located, Severity
from materiac.languages import may_hold_scenarios
from materiac.pipeline import Compiled
from materiac.runtime.artifacts import ArtifactError
from materiac.runtime.journal import JournalError
from materiac.scenario.loadouts import LoadoutError, Loadouts
from materiac.scenario.play import Played, faults, play
from materiac.scenario.read import ENDING, Placed

Outcome = Literal["passed", "failed", "broken"]

_PASSED_OVER: Final = ("node_modules", "__pycache__")


@dataclass(frozen=True)
class Verdict:
    """What came of a scenario.

    It is broken where it could not be played: `findings` or `trouble` say why.
    """

    placed: Placed
    compiled: Compiled | None = None
    played: Played | None = None
    findings: tuple[Located, ...] = ()
    trouble: str | None = None

    @property
    def outcome(self) -> Outcome:
        if self.played is None:
            return "broken"
        return "failed" if self.played.misfits else "passed"


def judge(placed: Placed, loadouts: Loadouts, environ: Mapping[str, str]) -> Verdict:
    """Play a scenario, if there is nothing wrong with it and its loadout."""
    try:
        compiled = loadouts.get(placed.target, placed.file.parent)
    except LoadoutError as error:
        return Verdict(placed, trouble=str(error))
    if compiled.image is None:
        errors = (part for part in compiled.findings if part.finding.severity is Severity.ERROR)
        return Verdict(placed, compiled, findings=tuple(errors))
    wrong = faults(placed, compiled.image.program)
    if wrong:
        return Verdict(placed, compiled, findings=tuple(wrong))
    try:
        return Verdict(placed, compiled, play(placed.scenario, compiled.image, environ))
    except (ArtifactError, JournalError, OSError) as error:
        return Verdict(placed, compiled, trouble=f"it could not be played: {error}")


def files_below(path: Path) -> Iterator[Path]:
    """A file itself; of a folder, the scenario files below it, in order, but for hidden folders."""
    if not path.is_dir():
        yield path
        return
    for part in sorted(path.iterdir()):
        if part.is_dir() and not part.is_symlink():
            if not part.name.startswith(".") and part.name not in _PASSED_OVER:
                yield from files_below(part)
        elif part.name.endswith(ENDING) or may_hold_scenarios(part.name, part.read_bytes):
            yield part
