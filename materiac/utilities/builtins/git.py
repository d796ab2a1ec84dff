"""A checkpoint with git. A failed one leaves the changes staged and the files as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from materiac.utilities.builtins.checkpoint import CLEAN, Outcome, RefusedError, committed
from materiac.utilities.builtins.repository import ask

_UNDER_WAY: Final = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
}


def commit(root: Path, message: str, casts: str | None) -> Outcome:
    """Commit all changes below `root` but those below `casts`. Raises `RefusedError`."""
    _refuse_unfinished(root)
    _stage(root, casts)
    if ask("git", "diff", "--cached", "--quiet", cwd=root).code == 0:
        return CLEAN
    _git(root, "commit", "--quiet", "--cleanup=whitespace", f"--message={message}")
    on_branch = ask("git", "symbolic-ref", "--quiet", "HEAD", cwd=root).code == 0
    note = "" if on_branch else ", on no branch: HEAD is detached"
    return committed(message, _git(root, "rev-parse", "HEAD"), note)


def _refuse_unfinished(root: Path) -> None:
    # To stage everything would call every conflict solved.
    folder = Path(_git(root, "rev-parse", "--absolute-git-dir"))
    found = next((words for name, words in _UNDER_WAY.items() if (folder / name).exists()), None)
    if found is None and _git(root, "ls-files", "--unmerged"):
        found = "a merge of conflicting files"
    if found is not None:
        raise RefusedError(f"nothing is committed: {found} is under way in '{root}'")


def _stage(root: Path, casts: str | None) -> None:
    paths = [":/"]
    # git takes the exclusion of an ignored path for a wish to add it.
    if casts is not None and ask("git", "check-ignore", "--quiet", "--", casts, cwd=root).code != 0:
        paths.append(f":(top,exclude,literal){casts}")
    _git(root, "add", "--all", "--", *paths)
    if casts is not None:
        _git(root, "reset", "--quiet", "--", f":(top,literal){casts}")


def _git(root: Path, *arguments: str) -> str:
    answer = ask("git", *arguments, cwd=root)
    if answer.code != 0:
        raise RefusedError(f"nothing is committed: git {arguments[0]} failed: {answer.complaint}")
    return answer.output
