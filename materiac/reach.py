"""Where control may go in a program, and so what a cast of it may come to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from materiac.digraph import breadth_first
from materiac.program import END, Advance, Exit, Loop, Program, Socket
from materiac.verdict import Verdict, holds


@dataclass(frozen=True, slots=True)
class Reach:
    """The sockets that a cast may come to, nearest first, and those of them from which it may end.

    It comes to a socket also where the loop of that is found empty.
    """

    sockets: tuple[str, ...]
    ending: frozenset[str]


def reach(program: Program) -> Reach:
    """What casts may come to, whatever is answered; budgets and limits of visits are passed over."""
    after = ways(program)
    found = breadth_first([program.entry], lambda id_: (to for to in after[id_] if to != END))
    before: dict[str, list[str]] = {}
    for id_ in found:
        for to in after[id_]:
            before.setdefault(to, []).append(id_)
    ending = breadth_first([END], lambda id_: before.get(id_, ()))
    return Reach(tuple(found), frozenset(ending) - {END})


def ways(program: Program) -> dict[str, tuple[str, ...]]:
    """For each socket, where control may go from it; past its loop too, which may be found empty."""
    return dict(_ways(program))


def _ways(program: Program) -> Iterator[tuple[str, tuple[str, ...]]]:
    exits: dict[str, list[Exit]] = {}
    for loop in program.loops.values():
        for way in loop.exits:
            exits.setdefault(way.source, []).append(way)
    past = {region.loop: region.after for region in program.regions.values()}
    for socket in program.sockets.values():
        found = [_edge(socket, verdict) for verdict in _verdicts(socket)]
        if socket.loop is not None:
            around = program.loops[socket.loop]
            found += _passing(around, past.get(around.id, around.empty))
            found += _used_up(socket, around, exits.get(socket.id, []))
        yield socket.id, tuple(dict.fromkeys(found))


def _passing(loop: Loop, to: str) -> Iterator[str]:
    """The way past a loop that is found empty; one that leads back to it ends, by the stall guard."""
    yield to
    if to in loop.sockets:
        yield END


def _verdicts(socket: Socket) -> tuple[Verdict, ...]:
    """What may come as a verdict of an accepted output; edges and advances ask for one, exits do not."""
    guards = [edge.when for edge in socket.edges] + [(socket.advance or Advance()).when]
    if any(when != "always" for when in guards):
        return (True, False)
    return (None,) if socket.parse == "text" else (True, False, None)


def _edge(socket: Socket, verdict: Verdict) -> str:
    return next((edge.to for edge in socket.edges if holds(edge.when, verdict)), END)


def _used_up(socket: Socket, loop: Loop, exits: list[Exit]) -> Iterator[str]:
    """Where control goes when a visit has used the list of its loop up."""
    if socket.advance is None:
        return
    mine: Mapping[str, str] = {way.condition: way.to for way in reversed(exits)}
    for verdict in _verdicts(socket):
        if holds(socket.advance.when, verdict):
            exact = {True: "satisfied", False: "not_satisfied", None: "always"}[verdict]
            yield mine.get(exact) or mine.get("always") or socket.advance.done or loop.done
