"""Where a cast stands, and whether another definition has room for it there.

Whoever goes on with a cast asks this before anything is written; whoever compares two definitions asks
it for all places at which a cast may be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from materiac.program import END, Loop, Program, Region
from materiac.reach import ways
from materiac.runtime.chronicle import COMMAND, FAILED, FINISHED, RESTARTED, STARTED, TURN, WAITS
from materiac.runtime.journal import Record
from materiac.runtime.under_way import UnderWay

_AT = (STARTED, RESTARTED, FAILED, WAITS)


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a cast is: at a socket, or about to come to it; or in the region of a generator.

    Of a visit that `has_answer` only the step to the next socket has not been told, which is still that
    of the old definition. `streams` are the sockets at which its streams are, those that are done or have
    not begun left out; `loops` are those whose items it goes through, also where it stands outside of them.
    """

    socket: str
    has_answer: bool = False
    in_region: bool = False
    streams: tuple[str, ...] = ()
    loops: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.in_region:
            return f"at '{self.socket}'"
        inside = f", at {', '.join(map(repr, self.streams))}" if self.streams else ""
        return f"in the streams of '{self.socket}'{inside}"


def standing(records: Iterable[Record], programs: Mapping[str, Program]) -> Standing:
    """Where the records of a cast leave it; its programs are by their files, in the order of their use."""
    used = list(programs.values())
    at, under_way = _At(used[-1]), UnderWay(used[0], programs)
    for record in records:
        at.take(record)
        under_way.take(record)
    return replace(at.standing(), loops=under_way.loops)


def standings(program: Program, reached: Iterable[str]) -> Iterator[Standing]:
    """All places where a cast may be that comes to these sockets; of several streams one at a time.

    A loop that is under way outside of its sockets has the same lack as at one of them.
    """
    region_of = {id_: region for region in program.regions.values() for id_ in region.sockets(program)}
    for id_ in reached:
        if id_ in region_of:
            yield Standing(region_of[id_].generator, in_region=True, streams=(id_,))
        else:
            yield Standing(id_)
        if id_ in program.regions:
            yield Standing(id_, in_region=True)


def lacking(at: Standing, old: Program, new: Program) -> str | None:
    """What `new` lacks, or has otherwise, that a cast of `old` stands at; None where it can go on."""
    if at.socket == END:
        return None
    own = old.sockets[at.socket].loop if not at.in_region else None
    lost = next((id_ for id_ in filter(None, (own, *at.loops)) if id_ not in new.loops), None)
    if lost is not None:
        return _lost(old.loops[lost])
    return _lacking_streams(at, old, new) if at.in_region else _lacking_socket(at, old, new)


def _lost(loop: Loop) -> str:
    if loop.foreach:
        return f"the cast goes through the items of '{loop.sockets[0]}', which its new definition does not"
    return f"the cast goes through loop '{loop.id}', which its new definition does not have"


def _lacking_streams(at: Standing, old: Program, new: Program) -> str | None:
    was, now = old.regions[at.socket], new.regions.get(at.socket)
    whose = f"the cast runs the streams of '{at.socket}'"
    if now is None:
        return f"{whose}, of which its new definition makes none"
    if at.streams and was.loop != now.loop:
        return f"{whose} through loop '{was.loop}', its new definition through '{now.loop}'"
    inside = now.sockets(new)
    found = (_astray(id_, at.socket, old, new, is_inside=id_ in inside) for id_ in at.streams)
    return next(filter(None, found), None)


def _lacking_socket(at: Standing, old: Program, new: Program) -> str | None:
    if at.socket not in new.sockets:
        return _gone(at.socket)
    if _is_taken_out(at.socket, old, new):
        return f"the cast stands at {_taken_out(at.socket, old)}"
    if not at.has_answer:
        return None
    if at.socket in old.regions:
        return lacking(Standing(at.socket, in_region=True), old, new)
    return next(_lacking_onward(at, old, new), None)


def _lacking_onward(at: Standing, old: Program, new: Program) -> Iterator[str]:
    words = f"the cast has the answer of '{at.socket}', which may lead it to"
    for to in ways(old)[at.socket]:
        if to not in (END, *new.sockets):
            yield f"{words} '{to}': its new definition does not have that"
        elif _is_taken_out(to, old, new):
            yield f"{words} {_taken_out(to, old)}"


def _gone(socket: str) -> str:
    return f"the cast stands at '{socket}', which its new definition does not have"


def _is_taken_out(socket: str, old: Program, new: Program) -> bool:
    """Whether a socket was in a loop that it is not in any more: which item it is at would be forgotten."""
    was = old.sockets[socket].loop if socket in old.sockets else None
    return was is not None and socket in new.sockets and new.sockets[socket].loop != was


def _taken_out(socket: str, old: Program) -> str:
    return f"'{socket}', which its new definition takes out of loop '{old.sockets[socket].loop}'"


def _astray(socket: str, generator: str, old: Program, new: Program, *, is_inside: bool) -> str | None:
    if socket not in new.sockets:
        return _gone(socket)
    stands = f"a stream of '{generator}' stands at"
    if not is_inside:
        return f"{stands} '{socket}', which is in none of its new definition"
    return f"{stands} {_taken_out(socket, old)}" if _is_taken_out(socket, old, new) else None


class _At:
    """A fold over the records of a cast. `_streams` has where those of a region are, by name."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._socket = program.entry
        self._has_answer = False
        self._region: Region | None = None
        self._streams: dict[str, str | None] = {}

    def standing(self) -> Standing:
        if self._region is None:
            return Standing(self._socket, has_answer=self._has_answer)
        streams = filter(None, self._streams.values())
        return Standing(self._region.generator, in_region=True, streams=tuple(dict.fromkeys(streams)))

    def take(self, record: Record) -> None:
        fields, kind = record.fields, record.type
        if "stream" in fields:
            self._take_of_stream(kind, fields)
        elif kind == "streams_started":
            self._streams = {}
        elif kind in (TURN, COMMAND):
            self._has_answer = True
        elif kind in (STARTED, RESTARTED) or (kind in _AT and self._region is None):
            self._come(fields["socket"])
        elif kind == FINISHED:
            self._leave(fields)
        elif kind == "loop_skipped":
            self._come(fields["to"])

    def _come(self, socket: str) -> None:
        self._socket, self._has_answer = socket, False
        self._region, self._streams = None, {}

    def _leave(self, fields: Mapping[str, Any]) -> None:
        to = str(fields["socket"] if fields["blocked"] else fields["route"]["to"])
        self._come(to)
        region = self._program.regions.get(fields["socket"])
        if region is not None and not fields["blocked"] and to == region.entry:
            self._region = region

    def _take_of_stream(self, kind: str, fields: Mapping[str, Any]) -> None:
        name = fields["stream"]
        if kind == FAILED and fields["failure"]["kind"] == "stream":
            self._streams[name] = None  # it has left the region, and begins anew
        elif kind in _AT:
            self._streams[name] = fields["socket"]
        elif kind == FINISHED:
            self._streams[name] = fields["socket"] if fields["blocked"] else self._inside(fields["route"])
        elif kind == "loop_skipped":
            self._streams[name] = self._inside({"kind": "empty", "to": fields["to"]})

    def _inside(self, route: Mapping[str, Any]) -> str | None:
        """Where a stream comes to; None at its end, also where that is a socket of its own region."""
        inside = () if self._region is None else self._region.sockets(self._program)
        return route["to"] if route["kind"] == "edge" and route["to"] in inside else None
