"""Making `manifest.json` and `usage.json` anew from the journal."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from materiac.runtime.find import JOURNAL
from materiac.runtime.holder import holder
from materiac.runtime.journal import JournalError, read
from materiac.runtime.manifest import Manifest
from materiac.runtime.usage import Tally, UsageFile

_FILES: Final = ("manifest.json", "usage.json")


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """A file that was made anew, and in what the one before differed, if it did."""

    file: str
    differed: str | None


def rebuild(folder: Path) -> list[Rebuilt]:
    """Make the files anew that follow from the journal, under its lock.

    Raises `JournalError` where somebody holds that, or the journal is broken, and `ArtifactError`.
    """
    journal = folder / JOURNAL
    with _locked(journal):
        records = read(journal).records
        before = [_bytes(folder / name) for name in _FILES]
        try:
            Manifest(folder / "manifest.json", records)
            UsageFile(folder / "usage.json", Tally(), records)
        except (KeyError, TypeError, AttributeError) as error:
            raise JournalError(f"a record of '{journal}' cannot be summed up: {error!r}") from error
        after = [_bytes(folder / name) for name in _FILES]
    files = zip(_FILES, before, after, strict=True)
    return [Rebuilt(name, _difference(old, new or b"")) for name, old, new in files]


@contextlib.contextmanager
def _locked(journal: Path) -> Iterator[None]:
    try:
        file = os.open(journal, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError as error:
        raise JournalError(f"cannot open '{journal}': {error.strerror}") from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        who = holder(journal) or "another process"
        raise JournalError(f"'{journal}' is being written by {who}") from error
    finally:
        os.close(file)


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _difference(old: bytes | None, new: bytes) -> str | None:
    if old == new:
        return None
    if old is None:
        return "it was missing"
    try:
        was = json.loads(old)
    except (ValueError, RecursionError):
        return "it was no JSON"
    now = json.loads(new)
    if not isinstance(was, dict):
        return "it was no object"
    lacking = ", ".join(f"'{key}'" for key in now if key not in was)
    parts = [_part(key, value, now.get(key)) for key, value in was.items()]
    told = [f"it lacked {lacking}" if lacking else None, *parts]
    return "; ".join(filter(None, told)) or "it was laid out in another way"


def _part(key: str, was: Any, now: Any) -> str | None:
    if was == now:
        return None
    if isinstance(was, list) and isinstance(now, list) and len(was) != len(now):
        return f"'{key}' had {len(was):,} entries, it has {len(now):,}"
    return f"'{key}' was another"
