"""A program as a Python module that stands alone: the machine, on top of `transitions` and no more."""

from __future__ import annotations

import pprint
from pathlib import Path
from typing import Any, Final

from materiac.program import Image, Json, Program, to_data

_TEMPLATE: Final = Path(__file__).with_name("standalone.py")
_TITLE: Final = '"""TITLE'
_PROGRAM: Final = "PROGRAM: dict[str, Any] = {}"


def render(image: Image) -> str:
    """The source of the module. It is the text of `standalone` with the program filled in."""
    program = image.program
    title = f'"""The loadout {program.name!a} as a state machine.'.replace("\\", "\\\\")
    data = pprint.pformat(_data(program), width=100, sort_dicts=False)
    source = _TEMPLATE.read_text(encoding="utf-8")
    return source.replace(_TITLE, title, 1).replace(_PROGRAM, f"PROGRAM: dict[str, Any] = {data}", 1)


def _data(program: Program) -> Json:
    """What the machine needs; what is not there is left out."""
    whole = to_data(program)
    return {
        "name": program.name,
        "entry": program.entry,
        "sockets": {part.pop("id"): _told(part) for part in whole["sockets"]},
        "loops": {part.pop("id"): _told(part) for part in whole["loops"]},
        "materia": {part.pop("name"): _told(part) for part in whole["materia"]},
        "max_no_advance_cycles": program.max_no_advance_cycles,
    }


def _told(value: Any) -> Any:
    """A value without the members that say nothing."""
    if isinstance(value, dict):
        # Parameters are the user's own: there a null, or an empty list, may say something.
        members = {key: part if key == "params" else _told(part) for key, part in value.items()}
        return {key: part for key, part in members.items() if part not in (None, False, "", [], {})}
    return [_told(part) for part in value] if isinstance(value, list) else value
