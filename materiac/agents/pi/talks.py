"""The files in which Pi keeps its talks: no secret of the environment stays in them.

A tool may have shown one to the model. Pi adds to a file by its name, so another can be put in its place
while Pi waits for a prompt.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from materiac.environment import unsecret

_FILES: Final = "*.jsonl"


def mask_all(folder: Path, before: float) -> None:
    """Mask the talks in a folder that nobody has added to since a time, in seconds of the epoch."""
    for file in folder.glob(_FILES):
        with suppress(FileNotFoundError):
            if file.stat().st_mtime < before:
                mask(file)


def mask(file: Path) -> None:
    """Mask the secrets in the file of a talk, if there are any in it."""
    with suppress(OSError):  # nothing was said yet
        text = file.read_bytes().decode(errors="surrogateescape")
        masked = unsecret(text)
        if masked != text:
            _replace(file, masked.encode(errors="surrogateescape"))


def _replace(file: Path, content: bytes) -> None:
    beside = file.with_suffix(".masked")
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
            out.write(content)
        beside.rename(file)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
