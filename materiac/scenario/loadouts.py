"""The loadouts that scenarios are about: each compiled once."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from materiac.pipeline import Compiled, Text, compile_loadout
from materiac.scenario.model import Target


class LoadoutError(Exception):
    """The file of a loadout cannot be read."""


Layering = Callable[[Path | None], Sequence[Text]]
"""Gives the texts that a file is compiled from, the file's on top; without one, those below. Raises
`LoadoutError`."""


class Loadouts:
    """Compiles loadouts, and remembers them."""

    def __init__(self, layering: Layering) -> None:
        self._layering = layering
        self._compiled: dict[tuple[Path | None, str | None], Compiled] = {}

    def get(self, target: Target, folder: Path) -> Compiled:
        """What came of compiling a loadout whose file is named from `folder`. Raises `LoadoutError`."""
        file = None if target.file is None else _short(folder / target.file)
        key = (None if file is None else file.resolve(), target.name)
        if key not in self._compiled:
            self._compiled[key] = compile_loadout(self._layering(file), target.name)
        return self._compiled[key]


def _short(file: Path) -> Path:
    """A file without steps up and down in its name, unless a link among them leads elsewhere."""
    short = Path(os.path.normpath(file))
    return short if short.resolve() == file.resolve() else file
