"""From the text of `--agent` to a back end; each is imported when it is chosen."""

from __future__ import annotations

import importlib
import re
from typing import Final

from materiac.agents.protocol import Agent, AgentError
from materiac.names import suggestion

FORMS: Final = {
    "scripted": "scripted:FILE",
    "command": "command:PROGRAM ARGUMENT…",
    "ask": "ask",
}
"""The back ends, and how each is written; `materiac.agents.<name>` has `make(spec) -> Agent`."""


def make(spec: str) -> Agent:
    """The back end that a text like `scripted:answers.json` stands for. Raises `AgentError`."""
    name = re.split("[:?]", spec, maxsplit=1)[0]
    if name not in FORMS:
        raise AgentError(_unknown(name))
    agent: Agent = importlib.import_module(f"materiac.agents.{name}").make(spec)
    return agent


def _unknown(name: str) -> str:
    guess = suggestion(name, FORMS)
    choices = ", ".join(f"'{form}'" for form in FORMS.values())
    return f"there is no agent '{name}', expected one of {choices}" + (f": {guess}" if guess else "")
