"""Early forms of a file, seen as those of today: a loadout `pipeline`, and `roles` that are materia."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from materiac.source import Pointer

PIPELINE: Final = "pipeline"
ROLES: Final = "roles"


def today(data: Any) -> Any:
    """The value of a file with its early loadout and materia where they stand today."""
    if not isinstance(data, dict) or (PIPELINE not in data and ROLES not in data):
        return data
    rest = {key: value for key, value in data.items() if key not in (PIPELINE, ROLES)}
    loadouts, materia = _object(data, "loadouts"), _object(data, "materia")
    if PIPELINE in data:
        loadouts = {PIPELINE: data[PIPELINE], **loadouts}
    return {**rest, "loadouts": loadouts, "materia": {**_object(data, ROLES), **materia}}


def _object(data: dict[str, Any], key: str) -> dict[str, Any]:
    found = data.get(key)
    return found if isinstance(found, dict) else {}


def written_loadouts(data: Any) -> Iterator[tuple[Pointer, Any]]:
    """The loadouts of a file, and where they stand; of an early one its name is that of its key."""
    if not isinstance(data, dict):
        return
    loadouts = _object(data, "loadouts")
    for name, loadout in loadouts.items():
        yield ("loadouts", name), loadout
    if PIPELINE not in loadouts and isinstance(data.get(PIPELINE), dict):
        yield (PIPELINE,), data[PIPELINE]


def pointer_today(at: Pointer) -> Pointer:
    """Where the value at a pointer stands in `today`."""
    if at[:1] == (PIPELINE,):
        return ("loadouts", *at)
    return ("materia", *at[1:]) if at[:1] == (ROLES,) else at
