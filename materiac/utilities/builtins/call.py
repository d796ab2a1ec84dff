"""Reading the object that a utility is called with."""

from __future__ import annotations

from pathlib import Path
from typing import Any


class UtilityError(Exception):
    """A utility could not do its work. The message is shown to the person."""


def params(call: dict[str, Any]) -> dict[str, Any]:
    """The parameters, an object; none is an empty one."""
    value = call.get("params")
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise UtilityError(f"'params' is {kind(value)}, expected an object")
    return value


def working_folder(call: dict[str, Any]) -> Path:
    """The working folder of the cast, without links; by hand, the current one."""
    folder = follow("'cwd'", Path(), call.get("cwd", "."))
    if not folder.is_dir():
        raise UtilityError(f"'cwd' leads to '{folder}', which is no folder")
    return folder


def follow(what: str, base: Path, value: Any) -> Path:
    """The place that a path leads to, through all links. Raises `UtilityError`."""
    try:
        path = (base / text(what, value)).resolve()
        path.exists()  # raises for a name that is too long
    except (OSError, RuntimeError) as error:
        raise UtilityError(f"{what} leads nowhere: '{value}'") from error
    return path


def text(what: str, value: Any) -> str:
    """A text that is not blank and has no NUL in it. Raises `UtilityError`, which says what it should be."""
    if not isinstance(value, str):
        raise UtilityError(f"{what} is {kind(value)}, expected a text")
    if not value.strip():
        raise UtilityError(f"{what} is blank")
    if "\0" in value:
        raise UtilityError(f"{what} has a NUL character in it")
    return value


def kind(value: Any) -> str:
    """What a JSON value is, in words for a message."""
    if isinstance(value, bool):
        return "true or false"
    names: tuple[tuple[type | tuple[type, ...], str], ...] = (
        (dict, "an object"),
        (list, "a list"),
        (str, "a text"),
        ((int, float), "a number"),
    )
    return next((name for types, name in names if isinstance(value, types)), "null")
