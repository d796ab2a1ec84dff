"""Where the texts of findings lie on the disk, for programs that look there themselves."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

_NO_FILES: Final = ("<stdin>", "bundled:")
"""How the names of texts begin that came from no file of the user."""


def is_file(name: str) -> bool:
    """Whether a text of this name was read from a file that others can find."""
    return not name.startswith(_NO_FILES)


def absolute(name: str) -> Path:
    """The file of a text, as the working folder has it; links are not followed."""
    return Path(os.path.abspath(name))  # noqa: PTH100 - resolve() follows links


def below(name: str, folder: Path) -> Path | None:
    """The way from a folder down to the file of a text; None where it lies elsewhere."""
    file = absolute(name)
    return file.relative_to(folder) if file.is_relative_to(folder) else None
