"""What the sockets and loops of a loadout really say: every default of the language filled in, once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from materiac import model, shipped
from materiac.names import END
from materiac.path import WORK_ITEMS, Path, PathError, parse_source, parse_target
from materiac.source import Pointer
from materiac.verdict import Verdict, holds

WORK_ITEM = "workItem"
WORK_ITEM_INDEX = "workItemIndex"


class Assignment(NamedTuple):
    """One merged assignment of a socket, and where it is written."""

    target: str
    source: str
    at: Pointer


class Step(NamedTuple):
    """The advance of a socket, its own or the one that an early exit says."""

    when: str
    done: str | None
    at: Pointer


class ExitRoute(NamedTuple):
    """A way out of a loop that is used up; `at` is the exit, `to_at` its target."""

    id: str
    source: str
    condition: str
    to: str
    at: Pointer
    to_at: Pointer


@dataclass(frozen=True)
class LoopView:
    """An iterating loop, or a lone socket with `foreach`."""

    id: str
    sockets: tuple[str, ...]
    items: str
    alias: str
    cursor: str
    done: str | None
    exits: tuple[ExitRoute, ...]
    at: Pointer
    source: str | None = None
    max_concurrency: int | None = None
    foreach: bool = False
    early: model.EarlyExit | None = None

    @cached_property
    def path(self) -> Path | None:
        """Where the list is; None where `items` is no path."""
        return _path(self.items)

    def is_list(self, items: str) -> bool:
        """Whether a text names the list of the loop; a text that is no path may have meant it."""
        path = _path(items)
        return (
            path is None
            or self.path is None
            or (path.root, path.segments) == (self.path.root, self.path.segments)
        )

    @cached_property
    def empty(self) -> str:
        """Where control goes when there is no item."""
        always = (route.to for route in self.exits if route.condition == "always")
        early = END if self.early is not None and self.early.when == "always" else None
        return next(always, None) or early or self.done or END

    def exit_for(self, source: str, verdict: Verdict) -> ExitRoute | None:
        """The exit that is taken when a visit of `source` has used the list up."""
        exact = {True: "satisfied", False: "not_satisfied", None: "always"}[verdict]
        return self._first_exit.get((source, exact)) or self._first_exit.get((source, "always"))

    @cached_property
    def _first_exit(self) -> dict[tuple[str, str], ExitRoute]:
        return {(route.source, route.condition): route for route in reversed(self.exits)}


@dataclass(frozen=True)
class SocketView:
    """A socket with its materia's defaults and those of the language filled in."""

    id: str
    at: Pointer
    written: model.Socket
    materia: model.Materia | None
    parse: str
    assign: tuple[Assignment, ...]
    advance: Step | None
    loop: LoopView | None

    @property
    def generator(self) -> bool:
        return self.materia is not None and self.materia.generator

    @property
    def utility(self) -> bool:
        return isinstance(self.materia, model.UtilityMateria)

    @cached_property
    def asks_verdict(self) -> bool:
        """Whether an edge or the advance needs `satisfied` in the output; exits alone do not."""
        guards = [edge.when for edge in self.written.edges]
        return any(when != "always" for when in [*guards, self.advance.when if self.advance else "always"])

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        """What may come as a verdict of an accepted output.

        A text that is asked for a verdict is an error, which is to be read as JSON in all likelihood.
        """
        if self.asks_verdict:
            return (True, False)
        return (None,) if self.parse == "text" else (True, False, None)

    def advances(self, verdict: Verdict) -> bool:
        """Whether a visit with this verdict steps the cursor."""
        return self.advance is not None and holds(self.advance.when, verdict)

    def edge_for(self, verdict: Verdict) -> int | None:
        """The index of the first edge whose condition holds."""
        return next((i for i, edge in enumerate(self.written.edges) if holds(edge.when, verdict)), None)

    @cached_property
    def writes(self) -> tuple[tuple[str, ...], ...]:
        """The paths below the state that a visit is known to write."""
        return tuple(self._writes())

    def _writes(self) -> Iterator[tuple[str, ...]]:
        for assignment in self.assign:
            try:
                yield parse_target(assignment.target)
            except PathError:
                continue
        if isinstance(self.materia, model.UtilityMateria):
            script = self.materia.script
            builtin = shipped.SCRIPTS.get(script.name) if script else self.materia.utility
            keys = [*self.materia.writes, *shipped.BUILTIN_WRITES.get(builtin or "", ())]
            yield from ((key,) for key in keys)

    def replaces(self, items: Path | None) -> bool:
        """Whether a visit is known to write what a path leads to."""
        if items is None or items.root not in ("state", "lastJson"):
            return False
        if items.root == "lastJson":
            return self.parse == "json"
        return any(_overlap(path, items.segments) for path in self.writes)

    def may_replace(self, items: Path | None) -> bool:
        """As `replaces`, and where a utility reads JSON: it may send any key of the state."""
        return self.replaces(items) or (self.utility and self.parse == "json")


def _path(text: str) -> Path | None:
    """The path that a text is; None where it is none."""
    try:
        return parse_source(text)
    except PathError:
        return None


def _overlap(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    shared = min(len(one), len(other))
    return one[:shared] == other[:shared]


def loop_view(id_: str, loop: model.Loop, at: Pointer) -> LoopView:
    """An iterating loop as it is meant; `at` is its pointer."""
    iterator, consumes = loop.iterator, loop.consumes
    return LoopView(
        id=id_,
        sockets=tuple(loop.sockets),
        items=iterator.items if iterator else WORK_ITEMS,
        alias=(iterator and iterator.alias) or (consumes and consumes.alias) or WORK_ITEM,
        cursor=(iterator and iterator.cursor) or (consumes and consumes.cursor) or WORK_ITEM_INDEX,
        done=iterator.done if iterator else None,
        exits=tuple(_exits(loop, at)),
        at=at,
        source=consumes.source if consumes else None,
        max_concurrency=loop.parallel.max_concurrency if loop.parallel else None,
        early=loop.exit,
    )


def _exits(loop: model.Loop, at: Pointer) -> Iterator[ExitRoute]:
    for i, route in enumerate(loop.exits):
        here = (*at, "exits", i)
        to_at = (*here, "targetSocketId")
        yield ExitRoute(route.id or "", route.source, route.condition, route.target_socket_id, here, to_at)
    early = loop.exit
    if early is not None and early.to != END:
        yield ExitRoute("", early.source, early.when, early.to, (*at, "exit"), (*at, "exit", "to"))


def foreach_view(id_: str, foreach: model.Foreach, at: Pointer) -> LoopView:
    """The loop that a lone socket is by its `foreach`."""
    return LoopView(
        id=f"foreach:{id_}",
        sockets=(id_,),
        items=foreach.items,
        alias=foreach.alias,
        cursor=foreach.cursor or f"{id_}Index",
        done=foreach.done,
        exits=(),
        at=at,
        foreach=True,
    )


def assignments(at: Pointer, socket: model.Socket, behaviour: model.Materia | None) -> tuple[Assignment, ...]:
    """The materia's first; the socket wins on a target, in its place; a generator's list comes last."""
    merged: dict[str, Assignment] = {}
    inherited = behaviour.assign if behaviour else {}
    for target, source in inherited.items():
        merged[target] = Assignment(target, source, ("materia", socket.materia, "assign", target))
    for target, source in socket.assign.items():
        merged[target] = Assignment(target, source, (*at, "assign", target))
    if behaviour is not None and behaviour.generator:
        written = merged.pop("workItems", None)
        merged["workItems"] = written or Assignment("workItems", "$.workItems", at)
    return tuple(merged.values())


def step(id_: str, at: Pointer, socket: model.Socket, loop: LoopView | None) -> Step | None:
    """The advance of a socket, if it has one; an early exit of its loop says one too."""
    if socket.advance is not None:
        return Step(socket.advance.when, socket.advance.done, (*at, "advance"))
    if loop is not None and loop.early is not None and loop.early.source == id_:
        return Step(loop.early.when, None, (*loop.at, "exit"))
    return None
