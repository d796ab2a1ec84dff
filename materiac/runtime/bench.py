"""What visits work with: the files, the journal, the agent, the person, the surroundings."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from materiac.agents.protocol import Agent, Progress
from materiac.environment import Mask
from materiac.process import Completed
from materiac.program import Budget, Limits, Program, Recovery
from materiac.runtime.artifacts import CastFolder
from materiac.runtime.chronicle import Chronicle
from materiac.runtime.usage import Tally, over
from materiac.runtime.visit import Visit


class Person(Protocol):
    """Whoever refines the answers of a socket with `multiTurn`."""

    def say(self, answer: str) -> str | None:
        """What the person says to an answer; None asks for the final form.

        Raises `VisitWaits` where nobody is there.
        """
        ...


Hears = Callable[[str | None, Progress], None]
"""Hears what an agent does in a turn of a stream, or of the cast itself, in any thread."""
StandIn = Callable[[Visit], Completed | None]
"""What takes the place of utilities: what one came to in a visit, or None where it shall really run."""


@dataclass(frozen=True)
class Bench:
    """The surroundings of a cast. `cwd` is where agents and utilities work; `budget` is the program's,
    or a higher one. `programs` are those that the cast has gone on with, by the file that each is in.

    One of its streams has surroundings of its own: the stream's name, and what ends its commands.
    """

    program: Program
    budget: Budget
    limits: Limits
    recovery: Recovery
    cast_id: str
    request: str
    folder: CastFolder
    journal: Chronicle
    tally: Tally
    agent: Agent
    person: Person | None
    cwd: Path
    environ: Mapping[str, str]
    mask: Mask
    stand_in: StandIn | None = None
    stream: str | None = None
    stop: threading.Event | None = None
    hears: Hears | None = None
    programs: Mapping[str, Program] = field(default_factory=dict)

    @property
    def files(self) -> CastFolder:
        """The folder to write to, as long as the journal is written, and does not tell that this was done."""
        works = self.journal.writes and self.journal.told is None
        return self.folder if works else replace(self.folder, dry=True)

    def over_budget(self) -> str | None:
        """Say which limit of the budget has been reached."""
        return over(self.budget, self.tally)
