"""From the text of `--agent` to a back end; each is imported when it is chosen."""

from __future__ import annotations

import importlib
from typing import Any, Final

from materiac.agents.protocol import Abilities, Agent, AgentError, Standing
from materiac.agents.standing import of_program
from materiac.names import suggestion
from materiac.shipped import BACK_ENDS, back_end_of

FORMS: Final = {name: back_end.form for name, back_end in BACK_ENDS.items()}
"""The back ends, and how each is written."""


def make(spec: str) -> Agent:
    """The back end that a text like `scripted:answers.json` stands for. Raises `AgentError`."""
    name = back_end_of(spec)
    if name not in BACK_ENDS:
        raise AgentError(_unknown(name))
    agent: Agent = _module(name).make(spec)
    return agent


def inspect(name: str) -> Standing:
    """How a back end stands on this machine, as its module tells.

    Of one that does not tell, and is written as a bare name, a program of that name is looked for.
    """
    back_end = BACK_ENDS[name]
    look = getattr(_module(name), "inspect", None)
    if look is not None:
        standing: Standing = look(name)
        return standing
    can = Abilities(scopes=back_end.scopes or frozenset())
    return of_program(name, abilities=can) if back_end.form == name else Standing(True, abilities=can)


def abilities_of(agent: Agent) -> Abilities:
    """What a back end says that it can do; of one that says nothing, what is known of its kind."""
    said = getattr(agent, "abilities", None)
    if isinstance(said, Abilities):
        return said
    kind = BACK_ENDS.get(back_end_of(agent.spec))
    return Abilities(scopes=(kind and kind.scopes) or frozenset())


def models_of(agent: Agent) -> list[str] | None:
    """The models that a back end knows by name; None where it cannot tell."""
    look = getattr(agent, "models", None)
    try:
        models: list[str] | None = look() if look is not None else None
    except AgentError:
        return None
    return models


def _module(name: str) -> Any:
    return importlib.import_module(f"materiac.agents.{BACK_ENDS[name].module}")


def _unknown(name: str) -> str:
    guess = suggestion(name, FORMS)
    choices = ", ".join(f"'{form}'" for form in FORMS.values())
    return f"there is no agent '{name}', expected one of {choices}" + (f": {guess}" if guess else "")
