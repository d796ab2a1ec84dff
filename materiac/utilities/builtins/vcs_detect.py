"""`vcs.detect`: which tool keeps the project."""

from __future__ import annotations

from typing import Any

from materiac.utilities.builtins.call import working_folder
from materiac.utilities.builtins.repository import available, find


def run(call: dict[str, Any]) -> dict[str, Any]:
    """The kind of the repository, its root, and which tools are there."""
    repository = find(working_folder(call))
    result = {
        "kind": repository.kind,
        "root": None if repository.root is None else str(repository.root),
        "available": {tool: available(tool) for tool in ("jj", "git")},
    }
    return {**result, "state": {"vcs": result}}
