"""What a program asked of a model, whichever protocol it speaks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Json = dict[str, Any]
Protocol = Literal["chat", "responses", "messages", "gemini"]

Role = Literal["user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message: of the user, of the model with the tools that it called, or what a tool gave.

    What a program adds beside the results of tools is of the role `tool` too, and has no `call_id`.
    """

    role: Role
    text: str = ""
    calls: tuple[str, ...] = ()
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, parsed. `number` counts from 1; `tools` are the names of those that are offered.

    `custom` are the tools that take plain text instead of an object. `schema` is the JSON Schema that the
    answer is held to, where there is one.
    """

    protocol: Protocol
    model: str
    system: str
    messages: tuple[Message, ...]
    tools: tuple[str, ...]
    stream: bool
    body: Json
    number: int = 0
    path: str = ""
    headers: Mapping[str, str] | None = None
    custom: frozenset[str] = frozenset()
    schema: Json | None = None

    @property
    def prompt(self) -> str:
        """What the user said last; messages of the user one after the other are one."""
        said: list[str] = []
        for message in reversed(self.messages):
            if message.role == "user":
                said.append(message.text)
            elif said:
                break
        return "\n".join(reversed(said))

    @property
    def step(self) -> int:
        """How often the model has answered since then: 0 for the first answer to a prompt."""
        after = 0
        for message in reversed(self.messages):
            if message.role == "user":
                break
            after += message.role == "assistant"
        return after

    @property
    def results(self) -> tuple[str, ...]:
        """What the tools gave that the model called in its last answer."""
        given: list[str] = []
        for message in reversed(self.messages):
            if message.role != "tool":
                break
            if message.call_id:
                given.append(message.text)
        return tuple(reversed(given))


def texts(content: Any) -> str:
    """The text of a content: a string, or blocks of which some have text."""
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(block["text"] for block in content if isinstance(block.get("text"), str))
