"""What is served to editors: the loadouts of a folder, its casts, and how one is run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Offered:
    """A loadout that a person can choose."""

    name: str
    description: str | None = None


class Desk(Protocol):
    """Knows the configuration, which the server does not. `command` runs the jobs of `casting`."""

    @property
    def command(self) -> Sequence[str]: ...

    def loadouts(self, cwd: Path) -> tuple[list[Offered], str | None]:
        """The loadouts that can be run in a folder, and the one that runs where none is chosen."""
        ...

    def artifacts(self, cwd: Path) -> Path:
        """Where the casts of a folder are kept."""
        ...

    def words(self, loadout: str | None) -> list[str]:
        """The command that runs a loadout, without its request."""
        ...

    def ending(self, folder: Path) -> str:
        """What a person is told of a cast that rests, and how to go on with it."""
        ...
