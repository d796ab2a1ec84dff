"""What is heard of an agent in one turn: its answer piece by piece, its tools, what its session has cost.

Updates are read as they come, as plain JSON: what is not known, or not as it should be, is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from materiac.agents.protocol import AnswerLimitError, Json, Progress, ProgressKind

_SHOWN: Final = 200
_MAX_TOLD: Final = 1000
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
_OVER: Final = ("completed", "failed")


class News:
    """Hears the updates of a turn. Raises `AnswerLimitError` at an answer of more than `max_bytes`."""

    def __init__(self, progress: Callable[[Progress], None] | None, max_bytes: int) -> None:
        self.told: list[Json] = []
        self.cost: float | None = None
        self._progress = progress
        self._max_bytes = max_bytes
        self._bytes = 0
        self._messages: list[list[str]] = [[]]
        self._message: str | None = None
        self._titles: dict[str, str] = {}

    @property
    def text(self) -> str:
        """The last message that says something; a tool that is called ends a message, as a new id does."""
        said = ("".join(pieces) for pieces in reversed(self._messages))
        return next((text for text in said if text.strip()), "")

    def tell(self, kind: ProgressKind, text: str) -> None:
        """Tell something that is no piece of a stream, and keep it."""
        line = _line(text)
        if len(self.told) < _MAX_TOLD:
            self.told.append({"type": kind, "text": line})
        self._hand_on(kind, line)

    def hear(self, update: Json) -> None:
        """Take an update of the session."""
        kind = update.get("sessionUpdate")
        if kind == "agent_message_chunk":
            self._piece(_text(update.get("content")), update.get("messageId"))
        elif kind == "agent_thought_chunk":
            self._hand_on("thinking", _text(update.get("content")))
        elif kind in ("tool_call", "tool_call_update"):
            self._tool(update, begins=kind == "tool_call")
        elif kind == "usage_update":
            self.cost = _dollars(update.get("cost"))

    def _piece(self, text: str, message: Any) -> None:
        if isinstance(message, str) and message != self._message:
            self._message = message
            self._messages.append([])
        self._bytes += len(text.encode())
        if self._bytes > self._max_bytes:
            raise AnswerLimitError(f"the answer has more than {self._max_bytes} bytes")
        self._messages[-1].append(text)
        self._hand_on("text", text)

    def _tool(self, update: Json, *, begins: bool) -> None:
        id_, title = str(update.get("toolCallId")), update.get("title")
        if isinstance(title, str) and title:
            self._titles[id_] = title
        if begins:
            self._messages.append([])
            self.tell("tool", _called(self._titles.get(id_, "a tool"), update.get("rawInput")))
        elif update.get("status") in _OVER:
            failed = "failed: " if update["status"] == "failed" else ""
            self.tell("result", f"{failed}{_contents(update.get('content')) or self._titles.get(id_, '')}")

    def _hand_on(self, kind: ProgressKind, text: str) -> None:
        if self._progress is not None and text:
            self._progress(Progress(kind, text))


def _text(content: Any) -> str:
    """The text of a block of content, without halves of characters."""
    text = content.get("text") if isinstance(content, dict) and content.get("type") == "text" else None
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text) if isinstance(text, str) else ""


def _contents(parts: Any) -> str:
    blocks = (
        [part.get("content") for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    )
    return " ".join(filter(None, map(_text, blocks)))


def _called(title: str, given: Any) -> str:
    """A tool in one line, with what it was given where that is not in its title."""
    arguments = [f"{key}={value}" for key, value in given.items()] if isinstance(given, dict) else []
    return " ".join([title, *arguments])


def _dollars(cost: Any) -> float | None:
    """What the session has cost, where that is told in US dollars."""
    if not isinstance(cost, dict) or cost.get("currency") != "USD":
        return None
    amount = cost.get("amount")
    return float(amount) if isinstance(amount, int | float) and 0 <= amount < float("inf") else None


def _line(text: str) -> str:
    line = " ".join(_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text[: 4 * _SHOWN]).split())
    return line if len(line) <= _SHOWN and len(text) <= 4 * _SHOWN else f"{line[:_SHOWN]} …"
