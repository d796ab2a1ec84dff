"""Pi as the agent: one process a lane, in its RPC mode, with the user's own models and keys.

    pi                                            the `pi` on the PATH, its default model
    pi?provider=anthropic&model=claude-sonnet-4-6 another one, where the materia has none
    pi:/path/to/pi                                a program
    pi:["/path/to/node", "/path/to/cli.js"]       a program with arguments, as a JSON list

    provider, model, thinking    as Pi's own options of these names; what a materia has comes first
    env                          names of variables that Pi needs beside the usual ones, with commas between

A colon in the value of an option is written `%3A`. Pi sees the variables of `KEYS`, those that its own
configuration names, and those of `env`; the commands that its agent runs see none of them, unless the
materia lists them. Nothing else of the user's configuration is used: no extensions, skills, prompts,
themes, context files.
"""

from __future__ import annotations

import importlib
import os
from typing import Final

from materiac.agents.pi.keys import KEYS
from materiac.agents.pi.spec import NAME, read
from materiac.agents.protocol import Abilities, Agent, Standing
from materiac.agents.standing import of_program

ABILITIES: Final = Abilities(sessions=True, tool_server=True, usage=True)
_COMMON: Final = KEYS[:4]
_NEEDS: Final = "Pi needs Node 22.19 or newer: look at what 'node --version' says"


def make(spec: str) -> Agent:
    """The agent of `pi`, `pi?…` or `pi:…`. Raises `AgentError`, also where there is no such program."""
    module = importlib.import_module("materiac.agents.pi.agent")
    agent: Agent = module.Pi(read(spec))
    return agent


def inspect(_name: str) -> Standing:
    """Whether there is a `pi` that starts, and which."""
    keys = tuple(name for name in KEYS if name in _COMMON or name in os.environ)
    standing = of_program(NAME, keys=keys, abilities=ABILITIES)
    if not standing.installed or standing.usable:
        return standing
    why = f"{standing.why_not}; {_NEEDS}"
    return Standing(True, standing.version, why, standing.keys, ABILITIES)
