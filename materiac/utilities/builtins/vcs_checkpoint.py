"""`vcs.checkpoint`: commit what changed in the whole repository, but never the files of casts.

What keeps a commit from being made (no identity, a hook, a merge under way) is an answer, `satisfied:
false`, and no error: the loadout says what happens then. Without a repository there is nothing to commit
to, and no rework would change that: satisfied.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from materiac.utilities.builtins import git, jj
from materiac.utilities.builtins.call import params, text, working_folder
from materiac.utilities.builtins.checkpoint import Outcome, RefusedError
from materiac.utilities.builtins.repository import Repository, find

DEFAULT_MESSAGE: Final = "chore: checkpoint"


def run(call: dict[str, Any]) -> dict[str, Any]:
    """Whether all is committed now, and in which revision."""
    message = _message(call)
    cwd = working_folder(call)
    repository = find(cwd)
    try:
        outcome = _commit(repository, message, cwd, call.get("runDir"))
    except RefusedError as refusal:
        outcome = Outcome(satisfied=False, context=str(refusal))
    checkpoint = {
        "kind": repository.kind,
        "committed": outcome.revision is not None,
        "revision": outcome.revision,
        "message": message,
    }
    return {
        "satisfied": outcome.satisfied,
        "context": outcome.context,
        "state": {"checkpoint": checkpoint},
    }


def _commit(repository: Repository, message: str, cwd: Path, run_dir: Any) -> Outcome:
    root = repository.root
    if root is None:
        return Outcome(
            satisfied=True, context=f"nothing is committed: no jj or git repository around '{cwd}'"
        )
    commit = jj.commit if repository.kind == "jj" else git.commit
    return commit(root, message, _casts(root, cwd, run_dir))


def _message(call: dict[str, Any]) -> str:
    item = call.get("item")
    title = item.get("title") if isinstance(item, dict) else None
    default = title if isinstance(title, str) and title.strip() else DEFAULT_MESSAGE
    return text("the commit message", params(call).get("message", default))


def _casts(root: Path, cwd: Path, run_dir: Any) -> str | None:
    """The folder of all casts, from the root; of this cast alone, where the other holds the project too."""
    if not isinstance(run_dir, str) or not run_dir or "\0" in run_dir:
        return None
    own = (cwd / run_dir).resolve()
    folder = own if cwd.is_relative_to(own.parent) else own.parent
    if not folder.is_relative_to(root) or cwd.is_relative_to(folder):
        return None
    return folder.relative_to(root).as_posix()
