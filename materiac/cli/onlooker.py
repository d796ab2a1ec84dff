"""Somebody who is told of a cast in place of the screen."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from materiac.agents.protocol import Progress
from materiac.runtime.journal import Record


class Onlooker(Protocol):
    """Is told where the files of a cast lie, of its records, and of what agents do in their turns.

    The last two come from any thread, and nobody waits for what is done about them.
    """

    def begin(self, artifacts: Path) -> None: ...

    def __call__(self, record: Record) -> None: ...

    def hear(self, stream: str | None, part: Progress) -> None: ...
