"""What every agent back end does: one turn, a request in, a reply out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

Json = dict[str, Any]

StopReason = Literal["stop", "length", "error", "aborted"]
Fault = Literal["transport", "rate", "context", "tool", "provider"]
"""What an error came from: the connection or the server, a limit of requests, a context that is full, a
tool that ran out of time, or anything else that the provider says. All but the last may pass."""
ProgressKind = Literal["text", "thinking", "tool", "result", "retry", "note"]


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
class Progress:
    """Something that happens in a turn: a piece of the answer, a tool that is called, what it gave."""

    kind: ProgressKind
    text: str


@dataclass(frozen=True, slots=True)
class ToolServer:
    """An MCP server over standard input and output that has one tool, by which the object is handed over."""

    name: str
    tool: str
    command: tuple[str, ...]
    env: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Request:
    """One turn. `turn` counts from 1 within the visit; `session` is what the last reply gave.

    Before it the cast had `asked_of_socket` turns of this socket, `asked_of_item` of them at this item.
    `env` are the names of the secret variables that a program may see, `max_bytes` is the most that an
    answer may have, `tokens_left` what the budget of the cast has left, where it has one. `schema` is the
    JSON Schema of the object that is wanted, where one is; `handoff` says how it shall come: in the `text`,
    forced by the `schema`, or through the `tool_server`. Turns of one `lane` come one after the other. A
    back end may keep what it has to remember in the folder `sessions`, which lasts as long as the cast's
    files. What it starts belongs to `owner`. The turn ends when `stop` is set; `progress` hears of what
    happens in it, in any thread.
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
    system: str = ""
    schema: Json | None = None
    handoff: str = "text"
    tool_server: ToolServer | None = None
    lane: str = ""
    sessions: Path | None = None
    owner: str = ""
    stop: threading.Event | None = None
    tokens_left: int | None = None
    progress: Callable[[Progress], None] | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of a turn. `usage` is None where the back end does not know it.

    `data` is the object, where the back end was made to give one; `text` then is that object as JSON. An
    `error` has the `fault` that it came from, and maybe how long to wait until another try. `events` are
    what the program told in the turn, for whoever looks into it later.
    """

    text: str
    usage: Usage | None = None
    session: str | None = None
    stop: StopReason = "stop"
    error: str | None = None
    model: str | None = None
    provider: str | None = None
    data: Json | None = None
    fault: Fault | None = None
    retry_after_s: float | None = None
    events: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a back end can do, and what it can promise.

    `scopes` are the tool scopes that it holds an agent to; under any other an agent may do more than its
    materia says.
    """

    scopes: frozenset[str] = frozenset({"none", "readOnly", "coding", "custom"})
    sessions: bool = False
    schema: bool = False
    tool_server: bool = False
    usage: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """How a back end stands on this machine: what is there of it, and whether it can run.

    `why_not` says what keeps it from running, and what to do. `keys` are the names of the variables that
    it looks for keys in.
    """

    installed: bool
    version: str | None = None
    why_not: str | None = None
    keys: tuple[str, ...] = ()
    abilities: Abilities = Abilities()

    @property
    def usable(self) -> bool:
        return self.installed and self.why_not is None


class Agent(Protocol):
    """A back end. `spec` is how it was chosen, as in `--agent`."""

    spec: str

    def turn(self, request: Request) -> Reply:
        """Ask once. Raises `AgentError`; a provider's failure may also be a reply with stop `error`."""
        ...

    def close(self) -> None:
        """End what the back end started; may be called twice."""
        ...
