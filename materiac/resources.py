"""Where the files that ship with the package lie: beside it when installed, in the tree of a checkout."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

_PACKAGE: Final = Path(__file__).resolve().parent
_IN_CHECKOUT: Final = {"loadouts": Path("loadouts"), "rules": Path("docs", "rules")}


def folder(name: Literal["loadouts", "rules"]) -> Path:
    """The folder of the bundled loadouts, or that of the pages of the rules."""
    installed = _PACKAGE / "data" / name
    return installed if installed.is_dir() else _PACKAGE.parent / _IN_CHECKOUT[name]
