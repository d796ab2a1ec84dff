"""A model as the agent, asked from this process, with tools of our own.

    llm:openai:gpt-5.4                                          OpenAI, chat completions
    llm:openai-responses:gpt-5.4                                OpenAI, responses
    llm:anthropic:claude-sonnet-4-6                             Anthropic, messages
    llm?base_url=http://127.0.0.1:8080/v1:openai:qwen3          a server that speaks one of these
    llm?key=WORK_KEY:openai:gpt-5.4                             the variable that holds the key

The tools are held to the working folder, but for `bash`: a shell can do what its user can.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
from typing import Final

from materiac.agents.llm.endpoint import KEYS, read
from materiac.agents.protocol import Abilities, Agent, AgentError, Standing

ABILITIES: Final = Abilities(sessions=True, schema=True, tool_server=True, usage=True)
_LIBRARY: Final = "pydantic_ai"
_MISSING: Final = "'llm' needs pydantic-ai: install it with pip install 'materiac[llm]'"


def make(spec: str) -> Agent:
    """The agent of a spec. Raises `AgentError`, also where the library or the key is missing."""
    endpoint = read(spec)
    endpoint.secret()
    try:
        module = importlib.import_module("materiac.agents.llm.agent")
    except ModuleNotFoundError as error:
        raise AgentError(f"{_MISSING} ('{error.name}' is missing)") from error
    agent: Agent = module.Llm(spec, endpoint)
    return agent


def inspect(_name: str) -> Standing:
    """Whether the library is there, without loading it."""
    keys = tuple(dict.fromkeys(KEYS.values()))
    if importlib.util.find_spec(_LIBRARY) is None:
        return Standing(installed=False, why_not=_MISSING, keys=keys, abilities=ABILITIES)
    version = importlib.metadata.version("pydantic-ai-slim")
    return Standing(installed=True, version=version, keys=keys, abilities=ABILITIES)
