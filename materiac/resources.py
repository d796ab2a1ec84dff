"""Where the files that ship with the package lie: beside it when installed, in the tree of a checkout."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

_PACKAGE: Final = Path(__file__).resolve().parent
_IN_CHECKOUT: Final = {
    "loadouts": Path("loadouts"),
    "rules": Path("docs", "rules"),
    "grammar": Path("grammar"),
}


def folder(name: Literal["loadouts", "rules", "grammar"]) -> Path:
    """The folder of the bundled loadouts, of the pages of the rules, or of the grammar."""
    installed = _PACKAGE / "data" / name
    return installed if installed.is_dir() else _PACKAGE.parent / _IN_CHECKOUT[name]
