"""The casts of an artifact folder, and the one that a person means."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from materiac.names import suggestion

JOURNAL: Final = "events.jsonl"

_ID: Final = re.compile(r"\d{8}-\d{6}-\d{6}-[0-9a-f]{4,}")
_DATE: Final = len("20310504-")
_SHOWN: Final = 10


class NoCastError(Exception):
    """There is no such cast, or more than one; the message says which there are."""


def casts(root: Path) -> list[Path]:
    """The folders of the casts in an artifact folder, the newest first. Raises `NoCastError`.

    Links are not followed. A folder that does not exist has no casts.
    """
    try:
        with os.scandir(root) as entries:
            names = [
                entry.name
                for entry in entries
                if _ID.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
            ]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise NoCastError(f"cannot read '{root}': {error.strerror}") from error
    return [root / name for name in sorted(names, reverse=True)]


def find(root: Path, name: str) -> Path:
    """The cast that a name means: an id, the beginning of one, with or without its date, or a folder.

    What has a `/` in it is a folder, as `.` and `..` are. Raises `NoCastError`.
    """
    if os.sep in name or name in (os.curdir, os.pardir):
        return _folder(Path(name))
    known = casts(root)
    found = [cast for cast in known if name and _begins(cast.name, name)]
    exact = [cast for cast in found if cast.name == name]
    if len(exact or found) == 1:
        return (exact or found)[0]
    if found:
        raise NoCastError(f"'{name}' begins {len(found)} casts: {_listed(found)}")
    if name:
        with contextlib.suppress(NoCastError):
            return _folder(Path(name))
    raise NoCastError(_none(root, name, known))


def _begins(cast_id: str, name: str) -> bool:
    return cast_id.startswith(name) or cast_id[_DATE:].startswith(name)


def _folder(path: Path) -> Path:
    try:
        linked, folder = path.is_symlink(), path.resolve()
        known = folder.is_dir() and (_ID.fullmatch(folder.name) or (folder / JOURNAL).is_file())
    except OSError as error:
        raise NoCastError(f"cannot look at '{path}': {error.strerror}") from error
    if linked:
        raise NoCastError(f"'{path}' is a symbolic link, the folder of a cast was expected")
    if not known:
        raise NoCastError(f"'{path}' is no folder of a cast")
    return folder


def _listed(found: Sequence[Path]) -> str:
    more = len(found) - _SHOWN
    names = ", ".join(f"'{cast.name}'" for cast in found[:_SHOWN])
    return f"{names} and {more} more" if more > 0 else names


def _none(root: Path, name: str, known: Sequence[Path]) -> str:
    if not known:
        return f"there is no cast in '{root}'"
    guess = suggestion(name, [cast.name for cast in known])
    return f"there is no cast '{name}' in '{root}': {guess or f'the newest is {known[0].name!r}'}"
