"""The ids of casts, which are the names of their folders too."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from materiac.runtime.artifacts import ArtifactError, make_folder, make_folders, refuse_detour
from materiac.runtime.journal import sync_folder

_TRIES: Final = 1000


def new(now: datetime, token: str) -> str:
    """An id like `20310504-102030-123456-3f9a`: the time in UTC, to the microsecond, then the token."""
    return f"{now.astimezone(UTC):%Y%m%d-%H%M%S-%f}-{token}"


def create(root: Path, draw: Callable[[], str] | None = None, *, durable: bool = True) -> tuple[str, Path]:
    """Make the folder of a new cast below the artifact folder `root`, for the owner alone.

    The file system decides who has an id: one that is taken is drawn again. Missing folders above are
    made, and it is synced if it shall be `durable`. Raises `ArtifactError`.
    """
    refuse_detour(root)
    make_folders(root)
    for _ in range(_TRIES):
        cast_id = (draw or _draw)()
        with contextlib.suppress(FileExistsError):
            return cast_id, _made(root / cast_id, durable=durable)
    raise ArtifactError(f"no new cast id is to be had in '{root}': {_TRIES} were taken")


def _made(folder: Path, *, durable: bool) -> Path:
    try:
        make_folder(folder)
        if durable:
            sync_folder(folder.parent)
    except FileExistsError:
        raise
    except OSError as error:
        raise ArtifactError(f"cannot make the folder '{folder}': {error.strerror}") from error
    return folder


def _draw() -> str:
    return new(datetime.now(UTC), secrets.token_hex(2))
