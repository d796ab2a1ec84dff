"""What ships with materiac, by name: built-in utilities, tools of agents, names of other implementations.

Names only: rules and the compiler look here, `materiac.utilities` holds the programs behind them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

BUILTIN_WRITES: Final[Mapping[str, tuple[str, ...]]] = {
    "project.ensureIgnored": ("artifactIgnore",),
    "vcs.detect": ("vcs",),
    "vcs.checkpoint": ("checkpoint",),
    "handoff.checkTitles": (),
    "echo": (),
    "noop": (),
}
"""The built-in utilities, and the state keys that each patches."""

SCRIPTS: Final[Mapping[str, str | None]] = {
    "ensure-ignored.mjs": "project.ensureIgnored",
    "detect-vcs.mjs": "vcs.detect",
    "commit-sigil.mjs": "handoff.checkTitles",
    "blackbelt-maintain.mjs": "vcs.checkpoint",
    "mime-maintain.mjs": "vcs.checkpoint",
    "blackbelt-bootstrap.mjs": None,
    "mime-bootstrap.mjs": None,
    "blackbelt-gh-pr.mjs": None,
    "mime-gh-pr.mjs": None,
    "blackbelt-ado-pr.mjs": None,
    "mime-ado-pr.mjs": None,
}
"""Scripts that an older implementation ships: the built-in that does the same, or None."""

UNBUILT: Final = frozenset({"vcs.spawnJjWorkspace", "vcs.integrateJjWorkspaces", "vcs.finalizeJjWorkspace"})
"""Utilities that an older implementation has built in and that have no counterpart here."""

READ_ONLY_TOOLS: Final = ("read", "grep", "find", "ls")
CODING_TOOLS: Final = (*READ_ONLY_TOOLS, "bash", "edit", "write")
SCOPES: Final[Mapping[str, tuple[str, ...]]] = {
    "none": (),
    "readOnly": READ_ONLY_TOOLS,
    "coding": CODING_TOOLS,
}
"""The tools of each scope that an agent may be given."""
