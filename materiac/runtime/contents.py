"""The files that a journal names, as they are found on the disk."""

from __future__ import annotations

import hashlib
import json
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final

Json = dict[str, Any]

AS_WRITTEN, CHANGED, GONE, UNREADABLE = "as written", "changed", "gone", "unreadable"

_MACHINE: Final = re.compile(r"machine([-.][0-9]+)?\.json")
_BY_NAME: Final = {"sockets": "id", "materia": "name", "loops": "id", "regions": "generator"}


@dataclass(frozen=True, slots=True)
class Content:
    """A file of a cast: where it is, whether it is as it was written, and its bytes where it is there.

    `fault` says what is wrong with one that is not as it was written.
    """

    file: str
    state: str
    data: bytes | None = None
    fault: str | None = None

    @property
    def text(self) -> str | None:
        """What is in it, as text; bytes that are none are replaced."""
        return None if self.data is None else self.data.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Definition:
    """What a cast ran, as far as it can be read, also by another version: parts by name, as JSON values."""

    sockets: Mapping[str, Json]
    materia: Mapping[str, Json]
    loops: Mapping[str, Json]
    regions: Mapping[str, Json]
    budget: Json


def definition(folder: Path, name: str) -> Definition:
    """The definition in a file like `machine.json`; empty where there is none."""
    found = content(folder, {"file": name}).data if _MACHINE.fullmatch(name) else None
    try:
        program = json.loads(found or b"{}").get("program", {})
        parts = {key: {part[id_]: part for part in program.get(key, ())} for key, id_ in _BY_NAME.items()}
        return Definition(**parts, budget=program.get("budget") or {})
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return Definition({}, {}, {}, {}, {})


def content(folder: Path, listed: Mapping[str, Any]) -> Content:
    """Read a file that a record lists, and hold it against the hash in the record."""
    name = str(listed.get("file"))
    try:
        path = _inside(folder, name)
        data = path.read_bytes() if path is not None else None
    except FileNotFoundError:
        return Content(name, GONE, fault="it is gone")
    except (OSError, ValueError) as error:
        return Content(name, UNREADABLE, fault=f"it cannot be read: {getattr(error, 'strerror', error)}")
    if data is None:
        return Content(name, UNREADABLE, fault="it is no file in the folder of the cast")
    wanted = listed.get("sha256")
    if wanted is not None and hashlib.sha256(data).hexdigest() != wanted:
        return Content(name, CHANGED, data, f"it has been changed: {_sizes(listed, data)}")
    return Content(name, AS_WRITTEN, data)


def _inside(folder: Path, name: str) -> Path | None:
    """The place of a file; None where a link or a name leads out of the folder, or it is no file."""
    parts = PurePosixPath(name).parts
    if not parts or ".." in parts or name.startswith("/"):
        return None
    places = [folder.joinpath(*parts[: length + 1]) for length in range(len(parts))]
    kind = [place.lstat().st_mode for place in places]
    return None if any(map(stat.S_ISLNK, kind)) or not stat.S_ISREG(kind[-1]) else places[-1]


def _sizes(listed: Mapping[str, Any], data: bytes) -> str:
    if listed.get("bytes") in (None, len(data)):
        return f"{len(data):,} bytes as before, with another hash"
    return f"{listed['bytes']:,} bytes were written, {len(data):,} are there"
