"""The repository around a folder, and calling jj and git."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from materiac.utilities.builtins.call import UtilityError

_NO_REPOSITORY: Final = ("not a git repository", "must be run in a work tree")
_EXCERPT: Final = 600


@dataclass(frozen=True, slots=True)
class Repository:
    """What keeps a folder's versions. `root` is its top, None where nothing keeps them."""

    kind: Literal["jj", "git", "none"]
    root: Path | None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool said: its exit code, its output without the last line break, the end of its complaint."""

    code: int
    output: str
    complaint: str


def find(cwd: Path) -> Repository:
    """The nearest repository around a folder; jj where both share the root."""
    jj, git = _jj_root(cwd), _git_root(cwd)
    if jj is not None and (git is None or git == jj or not git.is_relative_to(jj)):
        return Repository("jj", jj)
    return Repository("none" if git is None else "git", git)


def ask(tool: str, *arguments: str, cwd: Path, env: dict[str, str] | None = None) -> Answer:
    """Run jj or git in our own process group, so that it ends with us. Raises `UtilityError`."""
    try:
        done = subprocess.run(
            [tool, *arguments], cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
    except OSError as error:
        raise UtilityError(f"'{tool}' cannot be run: {error.strerror}") from error
    output, complaint = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
    return Answer(
        done.returncode, output.removesuffix("\n"), (complaint.strip() or output.strip())[-_EXCERPT:]
    )


def available(tool: str) -> bool:
    """Whether jj or git is on the PATH."""
    return shutil.which(tool) is not None


def _jj_root(cwd: Path) -> Path | None:
    if available("jj"):
        answer = ask("jj", "root", cwd=cwd)
        if answer.code == 0 and answer.output:
            return Path(answer.output).resolve()
    return next((folder for folder in (cwd, *cwd.parents) if (folder / ".jj").is_dir()), None)


def _git_root(cwd: Path) -> Path | None:
    if not available("git"):
        return None
    answer = ask("git", "rev-parse", "--show-toplevel", cwd=cwd, env={**os.environ, "LC_ALL": "C"})
    if answer.code == 0:
        return Path(answer.output).resolve()
    if any(words in answer.complaint for words in _NO_REPOSITORY):
        return None
    raise UtilityError(f"git cannot tell the root of '{cwd}': {answer.complaint}")
