"""A program as the agent that speaks the Agent Client Protocol (ACP), as editors talk to agents.

    acp:gemini --acp                            split as a shell would; no shell runs
    acp:["pi-acp"]                              the same, as a JSON list
    acp?env=GEMINI_API_KEY:gemini --acp         with secrets of the environment, by name
    acp?files=own:gemini --acp                  it reads and writes files by itself

The program asks before it uses a tool, if it asks at all, and reads and writes files through us, if it
likes to. What it asks for is answered by the tools of the materia. What it does without asking is not held
back: of the tool scopes only `coding`, which has a shell in it, is one that nothing can be held back of.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import json
import re
import shlex
import shutil
from typing import Final

from materiac.agents.preset import read_options
from materiac.agents.protocol import Abilities, Agent, AgentError, Standing

ABILITIES: Final = Abilities(scopes=frozenset({"coding"}), sessions=True, tool_server=True)
OPTIONS: Final = ("env", "files")
_FILES: Final = ("ours", "own")
_LIBRARY: Final = "acp"
_DISTRIBUTION: Final = "agent-client-protocol"
_MISSING: Final = f"'acp' needs {_DISTRIBUTION}: install it with pip install 'materiac[acp]'"
_SPEC: Final = re.compile(r"acp(?:\?([^:]*))?:(.*)", re.DOTALL)


def make(spec: str) -> Agent:
    """The agent of `acp:…`. Raises `AgentError`, also where the library or the program is missing."""
    match = _SPEC.fullmatch(spec)
    argv = _argv(match[2]) if match else []
    if match is None or not argv:
        raise AgentError(f"'{spec}' names no program, expected 'acp:PROGRAM ARGUMENT…'")
    options = _options(match[1] or "")
    if shutil.which(argv[0]) is None:
        where = "does not exist or cannot be run" if "/" in argv[0] else "is not on the PATH"
        raise AgentError(f"the agent's program '{argv[0]}' {where}")
    try:
        module = importlib.import_module("materiac.agents.acp.agent")
    except ModuleNotFoundError as error:
        raise AgentError(f"{_MISSING} ('{error.name}' is missing)") from error
    env = tuple(filter(None, options.get("env", "").split(",")))
    agent: Agent = module.Acp(spec, argv, env, serves_files=options.get("files") != "own")
    return agent


def inspect(_name: str) -> Standing:
    """Whether the library is there, without loading it; which programs are, is not looked for."""
    if importlib.util.find_spec(_LIBRARY) is None:
        return Standing(installed=False, why_not=_MISSING, abilities=ABILITIES)
    return Standing(installed=True, version=importlib.metadata.version(_DISTRIBUTION), abilities=ABILITIES)


def _argv(text: str) -> list[str]:
    try:
        words = json.loads(text) if text.lstrip().startswith("[") else shlex.split(text)
    except (ValueError, RecursionError) as error:
        raise AgentError(f"the agent's program cannot be read: {error}: {text}") from error
    if not all(isinstance(word, str) for word in words) or not all(words[:1]):
        raise AgentError(f"the agent's program is no list of texts: {text}")
    return list(words)


def _options(text: str) -> dict[str, str]:
    options = read_options(text, OPTIONS, "program by 'acp'")
    files = options.get("files", _FILES[0])
    if files not in _FILES:
        raise AgentError(f"'files' is '{files}', expected {' or '.join(map(repr, _FILES))}")
    return options
