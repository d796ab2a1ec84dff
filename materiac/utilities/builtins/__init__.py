"""The built-in utilities. Each is a module with `run(call)`, loaded when it is called."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from materiac.shipped import BUILTIN_WRITES


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """A built-in utility: its name, the module that holds it, and what it is for, in a few words."""

    name: str
    module: str
    summary: str

    @property
    def writes(self) -> tuple[str, ...]:
        """The keys of the state that it patches."""
        return BUILTIN_WRITES[self.name]

    def run(self, call: dict[str, Any]) -> Any:
        """The result, a JSON value, for the object that utilities get. Raises `UtilityError`."""
        return importlib.import_module(f"{__name__}.{self.module}").run(call)


_ALL: Final = (
    BuiltIn("project.ensureIgnored", "ensure_ignored", "add patterns to .gitignore where they are missing"),
    BuiltIn("vcs.detect", "vcs_detect", "tell whether jj or git keeps the project, and where its root is"),
    BuiltIn("vcs.checkpoint", "vcs_checkpoint", "commit what changed, with jj or git"),
    BuiltIn("handoff.checkTitles", "check_titles", "check that titles of work items are commit headers"),
    BuiltIn("echo", "echo", "give back params.output, else the params"),
    BuiltIn("noop", "noop", "do nothing"),
)

registry: Final[Mapping[str, BuiltIn]] = {builtin.name: builtin for builtin in _ALL}
"""The built-ins by name."""
