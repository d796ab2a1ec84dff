"""Scenario files as tests of pytest: each scenario is an item, and fails as `materiac test` says it does."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from materiac.scenario.loadouts import Loadouts
    from materiac.scenario.read import Placed
    from materiac.scenario.suite import Verdict

_ENDING = ".scenario.json"
_LOADOUTS: pytest.StashKey[Loadouts] = pytest.StashKey()


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ScenarioFile | None:
    """Collect files that end in `.scenario.json`, and `.materia` files that hold scenarios."""
    if file_path.name.endswith(_ENDING) or _holds_scenarios(file_path):
        return ScenarioFile.from_parent(parent, path=file_path)
    return None


def _holds_scenarios(file: Path) -> bool:
    if file.suffix != ".materia":
        return False
    from materiac.languages import may_hold_scenarios

    return may_hold_scenarios(file.name, file.read_bytes)


class ScenarioError(Exception):
    """A scenario file, or a scenario, that cannot be played; the message says why."""


class ScenarioFailure(Exception):
    """A scenario that does not come out as it expects; the message says how."""


class ScenarioFile(pytest.File):
    """A file with scenarios."""

    def collect(self) -> Iterator[ScenarioItem]:
        """One item a scenario. Raises `ScenarioError` where the file is not sound."""
        from materiac.report import text
        from materiac.scenario.read import read

        placed, findings = read(_shown(self.path), self.path.read_bytes())
        if findings:
            raise ScenarioError(text.render(findings, colour=False))
        if not placed and self.session.isinitpath(self.path):
            raise ScenarioError(f"there is no scenario in '{_shown(self.path)}'")
        for part in placed:
            yield ScenarioItem.from_parent(self, name=part.scenario.name, placed=part)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> Any:  # type: ignore[override]
        """The findings of a file that is not sound, as they are."""
        return _message(excinfo) or super().repr_failure(excinfo)


class ScenarioItem(pytest.Item):
    """A scenario."""

    def __init__(self, *, placed: Placed, **rest: Any) -> None:
        super().__init__(**rest)
        self.placed = placed

    def runtest(self) -> None:
        """Play it. Raises `ScenarioFailure`, or `ScenarioError` where it cannot be played."""
        from materiac.scenario.suite import judge

        verdict = judge(self.placed, self._loadouts(), os.environ)
        if verdict.outcome != "passed":
            kind = ScenarioFailure if verdict.outcome == "failed" else ScenarioError
            raise kind(_told(verdict))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> Any:  # type: ignore[override]
        """What the command says of it."""
        return _message(excinfo) or super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int, str]:
        place = self.placed.place()
        return self.path, place.source.position(place.span.start).line - 1, f"scenario '{self.name}'"

    def _loadouts(self) -> Loadouts:
        from materiac.cli.scenario_loadouts import from_here

        if _LOADOUTS not in self.config.stash:
            self.config.stash[_LOADOUTS] = from_here()
        return self.config.stash[_LOADOUTS]


def _message(excinfo: pytest.ExceptionInfo[BaseException]) -> str | None:
    if isinstance(excinfo.value, ScenarioError | ScenarioFailure):
        return str(excinfo.value)
    return None


def _told(verdict: Verdict) -> str:
    from materiac.scenario import wording

    return "\n".join(wording.lines(verdict))


def _shown(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
