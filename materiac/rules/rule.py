"""What a rule is, and what it is given to look at."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from materiac import model
from materiac.diagnostic import Finding, Related, Severity
from materiac.graph import LoadoutGraph
from materiac.source import Pointer


class Stage(enum.IntEnum):
    """When a rule looks. A loadout with an error in one stage is not looked at in the next."""

    SHAPE = 1
    """Found while a text is read and given its shape; such a rule has no check of its own."""
    NAMES = 2
    """Do the names lead somewhere? These rules look even where the shape has errors."""
    MEANING = 3
    """What would a cast of it do?"""


@dataclass(frozen=True)
class FileView:
    """A file with the layers below it. `dropped` are the pointers that had no usable shape."""

    data: Mapping[str, Any]
    frame: model.Frame
    materia: Mapping[str, model.Materia]
    known_materia: frozenset[str]
    known_loadouts: frozenset[str]
    dropped: frozenset[Pointer]


@dataclass(frozen=True)
class LoadoutView:
    """One loadout of a file, as a graph."""

    file: FileView
    graph: LoadoutGraph

    @property
    def loadout(self) -> model.Loadout:
        return self.graph.loadout


@dataclass(frozen=True)
class Rule:
    """A rule: its name, how bad a breach is, one line about it, and the function that looks.

    `check` looks at one loadout, `check_file` at the file around them; a rule has one of the two, or
    none where its findings are made by the phases before (`Stage.SHAPE`).
    """

    name: str
    severity: Severity
    summary: str
    stage: Stage
    check: Callable[[LoadoutView], Iterable[Finding]] | None = None
    check_file: Callable[[FileView], Iterable[Finding]] | None = None

    def finding(
        self,
        message: str,
        at: Pointer,
        *,
        related: Iterable[tuple[Pointer, str]] = (),
        help: str | None = None,  # noqa: A002 (the word of the reports)
        severity: Severity | None = None,
    ) -> Finding:
        """A breach of this rule; `related` are pairs of a pointer and a few words."""
        pairs = tuple(Related(*pair) for pair in related)
        return Finding(self.name, severity or self.severity, message, at, pairs, help)
