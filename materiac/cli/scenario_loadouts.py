"""The loadouts of scenarios, layered as `run` does it, but without the user's own file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from materiac.cli import loading
from materiac.pipeline import Text
from materiac.scenario.loadouts import LoadoutError, Loadouts


def from_here() -> Loadouts:
    """Loadouts as they are seen from the working folder, by everybody alike. Raises `UnreadableError`."""
    try:
        below = loading.below(Path.cwd(), {})
    except OSError as error:
        where = error.filename or "the working folder"
        raise loading.UnreadableError(f"cannot read '{where}': {error.strerror}") from error

    def layering(file: Path | None) -> Sequence[Text]:
        if file is None:
            return below.texts
        try:
            return below.on_top(loading.read_text(str(file))).texts
        except loading.UnreadableError as error:
            raise LoadoutError(str(error)) from error

    return Loadouts(layering)
