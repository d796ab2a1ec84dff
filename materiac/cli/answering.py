"""Who answers for the agents of a cast: what was asked for, what the configuration says, or `pi`."""

from __future__ import annotations

import dataclasses
import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from materiac.agents.protocol import Agent
    from materiac.program import Agents, Image, Program

VARIABLE: Final = "MATERIAC_AGENT"
_FALLBACK: Final = "pi"


def asked_for(option: str | None) -> str | None:
    """Who shall answer for all: what the option says, else the environment."""
    return option or os.environ.get(VARIABLE) or None


def answering(spec: str | None, image: Image) -> Agent:
    """Make who answers: the agent of `spec` for all, else what the configuration says, else `pi`.

    What no materia of the program needs is not made. Raises `AgentError`.
    """
    from materiac.agents import choose
    from materiac.agents.nobody import Nobody
    from materiac.agents.several import Several

    needed = [(name, scope) for name, scope, _ in _asking(image.program)]
    if spec:
        agent = choose.make(spec)
    elif needed:
        agent = _configured(image.settings.agents, needed)
    else:
        agent = Nobody()
    if isinstance(agent, Several):
        agent.make_all(needed)
    return agent


def unknown_models(agent: Agent, program: Program) -> Iterator[str]:
    """Say which models of materia the back ends do not know, of those that can tell."""
    from materiac.agents.choose import models_of
    from materiac.agents.several import agent_for
    from materiac.names import suggestion

    known: dict[str, list[str] | None] = {}
    for name, scope, model in _asking(program):
        if model is None:
            continue
        back_end = agent_for(agent, name, scope)
        if back_end.spec not in known:
            known[back_end.spec] = models_of(back_end)
        models = known[back_end.spec]
        if models is not None and model not in models:
            guess = suggestion(model, models)
            words = f"materia '{name}' asks for the model '{model}', which '{back_end.spec}' does not know"
            yield f"warning: {words}" + (f": {guess}" if guess else "")


def standing_choice() -> str | None:
    """Who answers here where no loadout is named: by the environment, the configuration, or `pi`."""
    return asked_for(None) or _by_layers() or fallback()


def _by_layers() -> str | None:
    """What the user's and the project's files say, as far as it can be used."""
    from materiac.agents.several import Several
    from materiac.cli import loading
    from materiac.pipeline import frame_of

    try:
        agents = frame_of(loading.surroundings().texts).agents
    except loading.UnreadableError:
        return None
    by_scope = agents.by_scope()
    if not (by_scope or agents.materia):
        return agents.default
    return Several(agents.default or fallback(), agents.materia, by_scope).spec


def fallback() -> str | None:
    """Who answers where nothing says so: `pi`, where it is installed."""
    return _FALLBACK if shutil.which(_FALLBACK) else None


def choices(whom: str = "") -> str:
    """What to say where nobody answers; `whom` are the words for those that lack an answer."""
    from materiac.agents.choose import FORMS

    forms = ", ".join(f"'{form}'" for form in FORMS.values())
    return f"say who answers{whom}, with --agent, {VARIABLE} or 'agents' in the file: {forms}"


def _configured(agents: Agents, needed: list[tuple[str, str]]) -> Agent:
    from materiac.agents import choose
    from materiac.agents.protocol import AgentError
    from materiac.agents.several import Several

    whole = dataclasses.replace(agents, default=agents.default or fallback())
    without = [f"'{name}'" for name, scope in needed if whole.of(name, scope) is None]
    if without:
        raise AgentError(choices(f" for {', '.join(without)}" if len(without) < len(needed) else ""))
    if whole.default is not None and agents.default is None and not (agents.materia or agents.scopes):
        return choose.make(whole.default)
    return Several(whole.default, whole.materia, whole.scopes)


def _asking(program: Program) -> Iterator[tuple[str, str, str | None]]:
    """The materia that ask an agent, each with its tool scope and its model."""
    for name, materia in program.materia.items():
        if materia.agent is not None:
            yield name, materia.agent.scope, materia.agent.model
