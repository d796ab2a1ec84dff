"""When texts are checked: a moment after the last change, one at a time, each as it is then."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import replace
from typing import Final

from materiac.lsp.buffers import Buffer
from materiac.lsp.checker import Checker
from materiac.lsp.looks import Job, Look
from materiac.lsp.ours import is_ours
from materiac.lsp.texts import Texts

DELAY_S: Final = 0.2
"""Nothing is checked while someone types faster than this."""

_GRACE_S: Final = 1.0
"""A check that nobody waits for any more may take so long to its end; starting anew takes time too."""


class Checks:
    """Checks buffers in a process, and tells what was found of those that are still the same then."""

    def __init__(
        self,
        texts: Texts,
        checker: Checker,
        pool: Executor,
        job: Callable[[Buffer], Job],
        tell: Callable[[Buffer, Look], None],
    ) -> None:
        self._texts, self._checker, self._pool, self._job, self._tell = texts, checker, pool, job, tell
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._due: dict[str, None] = {}
        self._current: str | None = None
        self._task: asyncio.Task[None] | None = None

    def soon(self, uri: str, delay: float = DELAY_S) -> None:
        """Check a buffer in a while; a check of what it was before is ended."""
        self.forget(uri)
        if uri == self._current and self._is_late():
            self._checker.stop()
        self._timers[uri] = asyncio.get_running_loop().call_later(delay, self._begin, uri)

    def forget(self, uri: str) -> None:
        """Do not check a buffer after all."""
        self._due.pop(uri, None)
        timer = self._timers.pop(uri, None)
        if timer is not None:
            timer.cancel()

    def _is_late(self) -> bool:
        since = self._checker.since
        return since is not None and time.monotonic() - since > _GRACE_S

    def _begin(self, uri: str) -> None:
        self._timers.pop(uri, None)
        self._due[uri] = None
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._work())

    async def _work(self) -> None:
        try:
            while self._due:
                self._current = next(iter(self._due))
                del self._due[self._current]
                buffer = self._texts.get(self._current)
                if buffer is not None:
                    with suppress(Exception):  # the next change is another chance
                        await self._one(buffer)
        finally:
            self._current = self._task = None

    async def _one(self, buffer: Buffer) -> None:
        loop = asyncio.get_running_loop()
        reading = loop.run_in_executor(self._pool, self._texts.reading, buffer)
        look = await loop.run_in_executor(self._pool, self._checker.look, self._job(buffer))
        read = await reading
        ours = await loop.run_in_executor(self._pool, is_ours, buffer, read)
        if look is not None and self._texts.get(buffer.uri) is buffer:
            look = look if ours else replace(look, found=())
            self._texts.looked(buffer, look)
            self._tell(buffer, look)
