"""What ships with materiac, by name: built-in utilities, agents and their tools, other implementations.

Names only: rules and the compiler look here, `materiac.utilities` holds the programs behind them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

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


class BackEnd(NamedTuple):
    """A kind of agent: how one is written, and the module of `materiac.agents` that makes it.

    `scopes` are the tool scopes that it holds an agent to; None where only the agent itself can tell.
    """

    form: str
    module: str
    scopes: frozenset[str] | None


_ALL: Final = frozenset({*SCOPES, "custom"})

BACK_ENDS: Final[Mapping[str, BackEnd]] = {
    "scripted": BackEnd("scripted:FILE", "scripted", _ALL),
    "command": BackEnd("command:PROGRAM ARGUMENT…", "command", frozenset()),
    "pi": BackEnd("pi", "pi", _ALL),
    "llm": BackEnd("llm:PROVIDER:MODEL", "llm", _ALL),
    "local": BackEnd("local", "local", frozenset({"none"})),
    "acp": BackEnd("acp:PROGRAM ARGUMENT…", "acp", frozenset({"coding"})),
    "codex": BackEnd("codex", "preset", frozenset(SCOPES)),
    "claude": BackEnd("claude", "preset", _ALL),
    "gemini": BackEnd("gemini", "preset", _ALL),
    "opencode": BackEnd("opencode", "preset", _ALL),
    "qwen": BackEnd("qwen", "preset", _ALL),
    "preset": BackEnd("preset:FILE", "preset", None),
    "ask": BackEnd("ask", "ask", _ALL),
    "several": BackEnd('several:{"default": AGENT, "scopes": {…}, "materia": {…}}', "several", None),
}
"""The kinds of agents by name."""


def back_end_of(spec: str) -> str:
    """The name of the back end that the text of an agent begins with, be there one of that name or not."""
    return re.split("[:?]", spec, maxsplit=1)[0]
