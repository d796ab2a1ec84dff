"""The messages between us and a program, as the library takes them.

It is handed only what it can take: objects that are requests, or answers to ours. Updates of a session go
another way, in the order in which they come, so that all of them are heard before the answer behind them.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from materiac.agents.protocol import AgentError, Json
from materiac.process.lines import EndedError, Lines, LineTooLongError

MAX_LINE: Final = 64 * 1024**2
_UPDATE: Final = "session/update"
_INTERNAL_ERROR: Final = -32603
_CHATTER: Final = 10
"""How many of the last lines are kept that are no messages."""


class Wire:
    """A transport of the library. `over` says whether it came to its end, `fault` why, where the program
    did not end."""

    def __init__(self, lines: Lines, hear: Callable[[Any], None]) -> None:
        self.over = False
        self.fault: AgentError | None = None
        self.chatter: deque[str] = deque(maxlen=_CHATTER)
        self._lines = lines
        self._hear = hear

    async def send(self, message: dict[str, Any]) -> None:
        """Write a message."""
        self._lines.send(json.dumps(message).encode())

    async def receive(self) -> dict[str, Any] | None:
        """The next message for the library; None where there will be none."""
        try:
            return await self._received()
        except EndedError:
            pass
        except LineTooLongError as error:
            self.fault = AgentError(f"it wrote {error}")
        except AgentError as error:
            self.fault = error
        self.over = True
        return None

    async def close(self) -> None:
        """Nothing: the program is ended by whoever started it."""

    async def _received(self) -> Json:
        while True:
            await asyncio.sleep(0)  # a flood of updates must not keep others from their turn
            line = self._lines.receive(0)
            if line is None:
                await self._readable()
            elif (message := self._passed(line)) is not None:
                return message

    def _passed(self, line: bytes) -> Json | None:
        """The message in a line, if it is one for the library. Raises what hearing it raises."""
        message = self._message(line)
        if message is None:
            return None
        if "method" not in message:
            return _answer(message) if isinstance(message.get("id"), int) else None
        if "id" in message:
            return message if isinstance(message["method"], str) else None
        if message["method"] == _UPDATE:
            self._hear(message.get("params"))
        return None

    def _message(self, line: bytes) -> Json | None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self.chatter.append(line[:1000].decode(errors="replace"))
            return None
        return message if isinstance(message, dict) else None

    async def _readable(self) -> None:
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        number = self._lines.fileno()
        loop.add_reader(number, ready.set)
        try:
            await ready.wait()
        finally:
            loop.remove_reader(number)


def _answer(message: Json) -> Json:
    """An answer to us; the error in it, if there is one, has a code and a text."""
    error = message.get("error")
    if error is None:
        return message
    found = error if isinstance(error, dict) else {"message": error}
    code, text = found.get("code"), found.get("message")
    sound = {
        "code": code if isinstance(code, int) else _INTERNAL_ERROR,
        "message": text if isinstance(text, str) else json.dumps(text),
        "data": found.get("data"),
    }
    return {"id": message["id"], "error": sound}
