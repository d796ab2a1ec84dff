"""What a session can be set to: the model and the thinking that a materia asks for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from acp.client import ClientSideConnection
from acp.schema import SessionConfigOptionBoolean, SessionConfigOptionSelect, SessionConfigSelectOption

from materiac.agents.acp.news import News
from materiac.agents.protocol import AgentError, Request
from materiac.names import suggestion

Option = SessionConfigOptionSelect | SessionConfigOptionBoolean

_MODEL: Final = "model"
_THINKING: Final = "thought_level"
_SHOWN: Final = 10


async def make(
    connection: ClientSideConnection, session: str, options: Sequence[Option], request: Request, news: News
) -> None:
    """Set what the materia asks for, as far as the program lets one choose; what it does not is told.

    Raises `AgentError` where it offers models, and not the one that is asked for.
    """
    for what, category, wanted in (
        ("model", _MODEL, request.model),
        ("thinking", _THINKING, request.thinking),
    ):
        if wanted is None:
            continue
        option = _of(options, category)
        values = [] if option is None else _values(option)
        if option is None:
            news.tell("note", f"the agent has no choice of {what}: '{wanted}' is left out")
        elif wanted in values:
            await connection.set_config_option(config_id=option.id, session_id=session, value=wanted)
        elif category == _MODEL:
            raise AgentError(f"the agent has no model '{wanted}': {_guess(wanted, values)}")
        else:
            news.tell("note", f"the agent knows no {what} '{wanted}': {_guess(wanted, values)}")


def _of(options: Iterable[Option], category: str) -> SessionConfigOptionSelect | None:
    selects = (option for option in options if isinstance(option, SessionConfigOptionSelect))
    return next((option for option in selects if category in (option.category, option.id)), None)


def _values(option: SessionConfigOptionSelect) -> list[str]:
    values = []
    for part in option.options:
        inner = [part] if isinstance(part, SessionConfigSelectOption) else part.options
        values += [choice.value for choice in inner]
    return values


def _guess(wanted: str, values: Sequence[str]) -> str:
    listed = ", ".join(f"'{value}'" for value in values[:_SHOWN])
    more = f" and {len(values) - _SHOWN} more" if len(values) > _SHOWN else ""
    return suggestion(wanted, values) or f"it has {listed or 'none'}{more}"
