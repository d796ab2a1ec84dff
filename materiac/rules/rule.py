"""What a rule is, and what it is given to look at."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from materiac.diagnostic import Bilingual, Finding, Fix, Related, Severity, Step
from materiac.source import Pointer

if TYPE_CHECKING:  # `materiac rules` lists the rules without loading what they look at
    from materiac import model
    from materiac.flow.formula import Formula
    from materiac.graph import LoadoutGraph


class Stage(enum.IntEnum):
    """When a rule looks. A loadout with an error in one stage is not looked at in the next."""

    SHAPE = 1
    """Found while a text is read and given its shape; such a rule has no check of its own."""
    NAMES = 2
    """Do the names lead somewhere? These rules look even where the shape has errors."""
    MEANING = 3
    """What would a cast of it do?"""


class Allowance(NamedTuple):
    """What casts may take at most, as the call of a command has it; `items` is how many items they have."""

    turns: Formula | None = None
    usd: Formula | None = None
    items: int | None = None


@dataclass(frozen=True)
class FileView:
    """A file with the layers below it. `dropped` are the pointers that had no usable shape; `layer` is the
    number of the layer that a value is written in, counted from below; `allowed` is what the call allows."""

    data: Mapping[str, Any]
    frame: model.Frame
    materia: Mapping[str, model.Materia]
    known_materia: frozenset[str]
    known_loadouts: frozenset[str]
    dropped: frozenset[Pointer]
    layer: Callable[[Pointer], int]
    allowed: Allowance | None = None

    def utilities(self) -> Iterator[tuple[str, model.UtilityMateria]]:
        """The materia that a program performs, by name."""
        for name, materia in self.materia.items():
            if materia.type == "utility":
                yield name, materia

    def agents(self) -> Iterator[tuple[Pointer, str]]:
        """Where the file says who answers, and who that is."""
        agents = self.frame.agents
        if agents.default is not None:
            yield ("agents", "default"), agents.default
        yield from ((("agents", "scopes", scope), spec) for scope, spec in agents.by_scope().items())
        yield from ((("agents", "materia", name), spec) for name, spec in agents.materia.items())

    @cached_property
    def dropped_sockets(self) -> Mapping[str, frozenset[str]]:
        """For each loadout, the sockets that are written and had no usable shape."""
        found: dict[str, set[str]] = {}
        for pointer in self.dropped:
            match pointer:
                case ("loadouts", str(loadout), "sockets", str(socket)):
                    found.setdefault(loadout, set()).add(socket)
        return {loadout: frozenset(sockets) for loadout, sockets in found.items()}


@dataclass(frozen=True)
class LoadoutView:
    """One loadout of a file, as a graph; `graphs` are those of all loadouts that are looked at."""

    file: FileView
    graph: LoadoutGraph
    graphs: Sequence[LoadoutGraph] = ()

    @property
    def loadout(self) -> model.Loadout:
        return self.graph.loadout

    @cached_property
    def known_sockets(self) -> frozenset[str]:
        """The ids that are written, those of sockets without a usable shape too."""
        dropped = self.file.dropped_sockets.get(self.graph.name, frozenset())
        return dropped | self.graph.sockets.keys()


class Rule(NamedTuple):
    """A rule: its name, how bad a breach is, one line about it, and the function that looks.

    `check` looks at one loadout, `check_file` at the file around them; a rule has either, both, or
    none where its findings are made by the phases before (`Stage.SHAPE`). Errors of one that is
    `tolerable` may be suppressed: a cast can run all the same. What is found `on_demand` is looked for by
    some commands alone.
    """

    name: str
    severity: Severity
    summary: str
    stage: Stage
    check: Callable[[LoadoutView], Iterable[Finding]] | None = None
    check_file: Callable[[FileView], Iterable[Finding]] | None = None
    tolerable: bool = False
    on_demand: bool = False

    @property
    def may_be_suppressed(self) -> bool:
        return self.tolerable or self.severity is not Severity.ERROR

    def finding(
        self,
        message: str,
        at: Pointer,
        *,
        related: Iterable[tuple[Pointer, str]] = (),
        help: str | Bilingual | None = None,  # noqa: A002 (the word of the reports)
        severity: Severity | None = None,
        fix: Fix | None = None,
        way: Iterable[Step] = (),
    ) -> Finding:
        """A breach of this rule; `related` are pairs of a pointer and a few words."""
        pairs = tuple(Related(*pair) for pair in related)
        return Finding(self.name, severity or self.severity, message, at, pairs, help, fix, tuple(way))
