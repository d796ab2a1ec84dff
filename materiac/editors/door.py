"""The messages between us and an editor, on standard input and output."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from contextlib import suppress
from typing import Any, Final

from acp.stdio import stdio_streams

MAX_LINE: Final = 64 * 1024**2


class NoEditorError(Exception):
    """There is nobody to speak with on standard input and output."""


class Door:
    """A transport of the library, to which only sound requests and notifications come."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def standard(cls) -> Door:
        """The one of this process. Raises `NoEditorError`."""
        for number, name in ((0, "input"), (1, "output")):
            mode = os.fstat(number).st_mode
            if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
                raise NoEditorError(f"standard {name} is no pipe from an editor: docs/editors.md tells how")
        return cls(*await stdio_streams(limit=MAX_LINE))

    async def send(self, message: dict[str, Any]) -> None:
        """Write a message. Raises `ConnectionError` where nobody reads any more."""
        self._writer.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        await self._writer.drain()

    async def receive(self) -> dict[str, Any] | None:
        """The next request or notification; None where there will be none."""
        while True:
            try:
                line = await self._reader.readline()
            except ValueError:  # a line that is too long, which is passed over
                continue
            if not line:
                return None
            with suppress(ValueError, RecursionError):
                message = json.loads(line)
                if isinstance(message, dict) and isinstance(message.get("method"), str):
                    return message

    async def close(self) -> None:
        """Nothing: the streams are those of the process."""
