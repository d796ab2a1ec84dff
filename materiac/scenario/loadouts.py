"""The loadouts that scenarios are about: each compiled once, on top of the layers below it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from materiac.pipeline import Compiled, Text, compile_loadout
from materiac.scenario.model import Target


class LoadoutError(Exception):
    """The file of a loadout cannot be read."""


class Loadouts:
    """Compiles loadouts on top of the texts `below`, and remembers them."""

    def __init__(self, below: Sequence[Text]) -> None:
        self._below = tuple(below)
        self._compiled: dict[tuple[Path | None, str | None], Compiled] = {}

    def get(self, target: Target, folder: Path) -> Compiled:
        """What came of compiling a loadout whose file is named from `folder`. Raises `LoadoutError`."""
        file = None if target.file is None else _short(folder / target.file)
        key = (None if file is None else file.resolve(), target.name)
        if key not in self._compiled:
            self._compiled[key] = compile_loadout(self.texts(file), target.name)
        return self._compiled[key]

    def texts(self, file: Path | None) -> tuple[Text, ...]:
        """The texts of all layers, the file's on top; one that is among those below moves there."""
        if file is None:
            return self._below
        try:
            raw = file.read_bytes()
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise LoadoutError(f"cannot read the loadout '{file}': {why}") from error
        return (*(text for text in self._below if not _is(text, file)), Text(str(file), raw))


def _short(file: Path) -> Path:
    """A file without steps up and down in its name, unless a link among them leads elsewhere."""
    short = Path(os.path.normpath(file))
    return short if short.resolve() == file.resolve() else file


def _is(text: Text, file: Path) -> bool:
    try:
        return Path(text.name).samefile(file)
    except OSError:
        return False
