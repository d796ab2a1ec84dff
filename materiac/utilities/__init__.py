"""Programs that a cast runs instead of asking an agent: the runner, the environment, the built-ins."""

from __future__ import annotations

import sys


def builtin_command(name: str) -> list[str]:
    """The command that runs a built-in in a process of its own, for the runner."""
    return [sys.executable, "-P", "-m", "materiac", "utility", name]
