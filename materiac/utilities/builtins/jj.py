"""A checkpoint with jj: the working copy's change is described, and a new one begun."""

from __future__ import annotations

import json
from pathlib import Path

from materiac.utilities.builtins.checkpoint import CLEAN, Outcome, RefusedError, committed
from materiac.utilities.builtins.ensure_ignored import add_lines
from materiac.utilities.builtins.repository import ask, available


def commit(root: Path, message: str, casts: str | None) -> Outcome:
    """Describe the changes below `root`, without those below `casts`. Raises `RefusedError`."""
    if not available("jj"):
        raise RefusedError(f"nothing is committed: '{root}' is a jj repository and jj is not on the PATH")
    if casts is not None and (root / casts).is_dir():
        _hide(root, casts)
    if not _jj(root, "diff", "--summary"):
        return CLEAN
    _jj(root, "describe", f"--message={message}")
    _jj(root, "new")
    return committed(message, _jj(root, "log", "--no-graph", "--revisions=@-", "--template=commit_id"))


def _hide(root: Path, casts: str) -> None:
    # jj takes every file that is not ignored into the working copy's change, and forgets none by itself.
    add_lines(root / casts / ".gitignore", ["*"])
    _jj(root, "file", "untrack", f"root:{json.dumps(casts, ensure_ascii=False)}")


def _jj(root: Path, *arguments: str) -> str:
    answer = ask("jj", "--no-pager", "--color=never", *arguments, cwd=root)
    if answer.code != 0:
        raise RefusedError(f"nothing is committed: jj {arguments[0]} failed: {answer.complaint}")
    return answer.output
