"""Where a cast of a program may end, but for failures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from materiac.digraph import breadth_first
from materiac.program import END, Loop, Program, Socket

VERDICTS = frozenset({"satisfied", "not_satisfied"})


@dataclass(frozen=True, slots=True)
class End:
    """A socket after whose visit a cast may end, or a loop whose list may be used up or empty then."""

    kind: Literal["socket", "loop"]
    id: str

    @property
    def words(self) -> str:
        """The end as messages name it."""
        return f"'{self.id}'" if self.kind == "socket" else f"the list of loop '{self.id}'"


def ends(program: Program) -> tuple[End, ...]:
    """The ends that can be reached from the entry, each once, in written order."""
    reached = breadth_first([program.entry], lambda id_: _after(program, id_))
    found = {end: None for id_ in reached for end, to in _ways(program, program.sockets[id_]) if to == END}
    order = [End("socket", id_) for id_ in program.sockets] + [End("loop", id_) for id_ in program.loops]
    return tuple(end for end in order if end in found)


def falls_through(socket: Socket) -> bool:
    """Whether a visit may end without an edge that holds."""
    guards = {edge.when for edge in socket.edges}
    return "always" not in guards and not guards >= VERDICTS


def _after(program: Program, id_: str) -> Iterator[str]:
    return (to for _, to in _ways(program, program.sockets[id_]) if to != END)


def _ways(program: Program, socket: Socket) -> Iterator[tuple[End, str]]:
    """Each step that may be taken from a socket, with whom it belongs to."""
    own = End("socket", socket.id)
    for edge in socket.edges:
        yield own, edge.to
        if edge.when == "always":
            break
    if falls_through(socket):
        yield own, END
    loop = program.loops.get(socket.loop or "")
    if loop is not None:
        yield from ((End("loop", loop.id), to) for to in _past(socket, loop))


def _past(socket: Socket, loop: Loop) -> Iterator[str]:
    """Where control goes when the list of the loop is used up after a socket, or empty before it."""
    yield loop.empty
    if socket.advance is None:
        return
    ways = [way for way in loop.exits if way.source == socket.id]
    yield from (way.to for way in ways)
    if not {way.condition for way in ways} & {"always", socket.advance.when}:
        yield socket.advance.done or loop.done
