"""A cast that runs in a process of its own: a job for it, what comes of it line by line, its end."""

from __future__ import annotations

import asyncio
import json
import os
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

Json = dict[str, Any]

_MAX_LINE: Final = 256 * 1024**2
_MAX_COMPLAINT: Final = 64 * 1024
_PATIENCE_S: Final = 12.0
"""How long a cast may take to stop. It takes two seconds; what takes longer hangs."""


@dataclass(frozen=True, slots=True)
class Job:
    """The words of a command, the text for it, the session that it is done for."""

    words: tuple[str, ...]
    text: str | None
    session: str


class Casting:
    """A job under way."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._complaint = asyncio.ensure_future(_end_of(process))

    @classmethod
    async def begin(cls, command: Sequence[str], cwd: Path, job: Job) -> Casting:
        """Start the process, in a session of its own, with its job."""
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            cwd=cwd,
            env={**os.environ, "PWD": str(cwd)},
            limit=_MAX_LINE,
            start_new_session=True,
        )
        casting = cls(process)
        line = {"words": job.words, "text": job.text, "session": job.session}
        with suppress(ConnectionError):  # it ended at once: its exit code tells
            await casting._send(json.dumps(line).encode() + b"\n")
        return casting

    async def lines(self) -> AsyncIterator[Json]:
        """What happens, until it is over."""
        assert self._process.stdout is not None  # noqa: S101 - it was made with pipes
        while line := await self._process.stdout.readline():
            yield json.loads(line)

    def stop(self) -> None:
        """Have the cast stop: its process ends when its input does."""
        if self._process.stdin is not None:
            self._process.stdin.close()

    async def end(self) -> tuple[int, str]:
        """The exit code, and what was complained about; the process is killed if it does not stop."""
        self.stop()
        try:
            async with asyncio.timeout(_PATIENCE_S):
                await self._process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                self._process.kill()
        return await self._process.wait(), await self._complaint

    async def _send(self, data: bytes) -> None:
        assert self._process.stdin is not None  # noqa: S101
        self._process.stdin.write(data)
        await self._process.stdin.drain()


async def _end_of(process: Process) -> str:
    """The end of what a process writes to standard error."""
    assert process.stderr is not None  # noqa: S101
    end = b""
    while chunk := await process.stderr.read(_MAX_COMPLAINT):
        end = (end + chunk)[-_MAX_COMPLAINT:]
    return end.decode(errors="replace").strip()
