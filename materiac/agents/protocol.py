"""What every agent back end does: one turn, a request in, a reply out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

StopReason = Literal["stop", "length", "error", "aborted"]


class AgentError(Exception):
    """An agent could not be asked, or gave no reply. The message is shown to the person."""


class AnswerLimitError(AgentError):
    """An answer has more bytes than the request allows."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What one turn cost: counts of tokens, and US dollars."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class Request:
    """One turn. `turn` counts from 1 within the visit; `session` is what the last reply gave.

    Before it the cast had `asked_of_socket` turns of this socket, `asked_of_item` of them at this item.
    `env` are the names of the secret variables that a program may see, `max_bytes` is the most that an
    answer may have.
    """

    prompt: str
    socket: str
    materia: str
    visit: int
    turn: int
    cwd: Path
    item_key: str | None = None
    scope: str = "none"
    tools: tuple[str, ...] = ()
    model: str | None = None
    thinking: str | None = None
    session: str | None = None
    timeout_s: float | None = None
    asked_of_socket: int = 0
    asked_of_item: int = 0
    env: tuple[str, ...] = ()
    max_bytes: int = 64 * 1024**2


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of a turn. `usage` is None where the back end does not know it."""

    text: str
    usage: Usage | None = None
    session: str | None = None
    stop: StopReason = "stop"
    error: str | None = None
    model: str | None = None
    provider: str | None = None


class Agent(Protocol):
    """A back end. `spec` is how it was chosen, as in `--agent`."""

    spec: str

    def turn(self, request: Request) -> Reply:
        """Ask once. Raises `AgentError`; a provider's failure may also be a reply with stop `error`."""
        ...

    def close(self) -> None:
        """End what the back end started; may be called twice."""
        ...
