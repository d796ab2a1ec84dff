"""How a program that is an agent stands on this machine: where it is, and which version."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

from materiac.agents.protocol import Abilities, Standing
from materiac.environment import clean
from materiac.process import StartError, run

_TIMEOUT_S: Final = 20.0
_MAX_BYTES: Final = 64 * 1024


def of_program(name: str, *, keys: tuple[str, ...] = (), abilities: Abilities | None = None) -> Standing:
    """Look for a program on the PATH, and ask it for its version.

    `keys` are the variables that it looks for keys in; it is asked without them.
    """
    can = abilities or Abilities(scopes=frozenset())
    if shutil.which(name) is None:
        return Standing(False, why_not=f"there is no '{name}' on the PATH", keys=keys, abilities=can)
    version, fault = _version(name)
    return Standing(True, version, fault, keys, can)


def _version(name: str) -> tuple[str | None, str | None]:
    """The first line of what it says to `--version`, or why it says nothing."""
    try:
        done = run(
            [name, "--version"],
            stdin=b"",
            cwd=Path.cwd(),
            env=clean(os.environ, ()),
            timeout_s=_TIMEOUT_S,
            max_bytes=_MAX_BYTES,
        )
    except StartError as error:
        return None, str(error)
    lines = [line for line in done.stdout.decode(errors="replace").splitlines() if line.strip()]
    if done.timed_out:
        return None, f"'{name} --version' gave no answer in {_TIMEOUT_S:g} s"
    if done.code != 0:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        return None, f"'{name} --version' failed" + (f": {said[-1].strip()}" if said else "")
    return (lines[0].strip() if lines else None), None
