"""A checkout of this project as others get it, and an environment to install it in without a network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
_PARTS: Final = (
    *("materiac", "grammar", "loadouts", "docs", ".github"),
    *("pyproject.toml", "README.md", "LICENSE", "action.yml", ".pre-commit-hooks.yaml"),
)


def copy(to: Path) -> Path:
    """What of this tree it takes to install it, in a repository of its own."""
    to.mkdir(parents=True)
    for part in _PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, to / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / part, to / part)
    commit(to)
    return to


def commit(folder: Path) -> None:
    """Make a folder a repository with one commit of all that is there."""
    for words in (["init", "-q"], ["add", "--all"], ["commit", "-q", "--no-verify", "-m", "all"]):
        subprocess.run(["git", *words], cwd=folder, env=environ(folder), check=True)


def environ(home: Path, **more: str) -> Mapping[str, str]:
    """An environment in which pip finds what it needs among the packages of these tests."""
    person = {
        f"GIT_{role}_{key}": "who@example.org"
        for role in ("AUTHOR", "COMMITTER")
        for key in ("NAME", "EMAIL")
    }
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PIP_", "MATERIA"))
    }
    return {
        **kept,
        **person,
        "HOME": str(home),
        "PATH": os.pathsep.join([sysconfig.get_path("scripts"), *os.get_exec_path()]),
        "PYTHONPATH": sysconfig.get_path("purelib"),
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # how pip wants it said that there is to be none
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        **more,
    }
