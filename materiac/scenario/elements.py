"""What of a program a cast can take: sockets, ways between them, and what shows only when things go wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from materiac.program import END, Program, Socket
from materiac.runtime.chronicle import TURN
from materiac.runtime.contract import contract_of
from materiac.runtime.journal import Record
from materiac.verdict import holds

KINDS: Final = ("socket", "edge", "exit", "done", "end", "empty", "exhaustion", "repair")
Key = tuple[str, str, str]
"""What tells an element from the others of a program: the kind, the socket or loop, and which of its ways."""


@dataclass(frozen=True, slots=True)
class Element:
    """Something to be covered.

    `of` is a socket, or the loop of an `empty` route; `to` is where a way leads; `index` is the place of
    an edge among those of its socket.
    """

    kind: str
    of: str
    to: str = ""
    when: str = "always"
    index: int | None = None

    @property
    def key(self) -> Key:
        """See `Key`; the target is no part of it."""
        which = {"edge": str(self.index), "exhaustion": str(self.index), "exit": self.when}
        return self.kind, self.of, which.get(self.kind, "")

    @property
    def words(self) -> str:
        """The element as people call it."""
        guard = "" if self.when == "always" else f" if {self.when}"
        way = f"'{self.of}' → '{self.to}'{guard}"
        named = {
            "socket": f"socket '{self.of}'",
            "repair": f"repair turn of '{self.of}'",
            "empty": f"loop '{self.of}' found empty → '{self.to}'",
            "exhaustion": f"limit of edge {way}",
            "edge": f"edge {way}",
            "end": f"'{self.of}' → 'end', where no edge holds",
        }
        return named.get(self.kind) or f"{self.kind} {way}, list used up"


def elements(program: Program) -> list[Element]:
    """Every element of a program, socket by socket; whether some cast can come to it is another matter."""
    found: dict[Key, Element] = {}
    for socket in program.sockets.values():
        for element in _of_socket(program, socket):
            found.setdefault(element.key, element)
    past = {region.loop: region.after for region in program.regions.values()}
    for loop in program.loops.values():
        empty = Element("empty", loop.id, past.get(loop.id, loop.empty))
        found[empty.key] = empty
    return list(found.values())


def _of_socket(program: Program, socket: Socket) -> Iterator[Element]:
    yield Element("socket", socket.id)
    ways = {way.key: way for way in _ways(program, socket)}
    for index, edge in enumerate(socket.edges):
        if edge.max_traversals is not None and ("edge", socket.id, str(index)) in ways:
            way = Element("exhaustion", socket.id, edge.to, edge.when, index)
            ways[way.key] = way
    yield from sorted(ways.values(), key=lambda way: (KINDS.index(way.kind), way.index or 0))
    if socket.parse == "json" and program.materia[socket.materia].agent is not None:
        yield Element("repair", socket.id)


def _ways(program: Program, socket: Socket) -> Iterator[Element]:
    for verdict in verdicts(program, socket):
        yield after(program, socket, verdict, used_up=False)
        if socket.advance is not None and holds(socket.advance.when, verdict):
            yield after(program, socket, verdict, used_up=True)


def verdicts(program: Program, socket: Socket) -> tuple[bool | None, ...]:
    """The verdicts that an accepted output of a socket can have."""
    if socket.parse == "text":
        return (None,)
    return (True, False) if contract_of(program, socket).needs_verdict else (None, True, False)


def after(program: Program, socket: Socket, verdict: bool | None, *, used_up: bool) -> Element:
    """The way that is taken after a visit: the machine's choice, told from what it depends on."""
    if used_up and socket.loop is not None and socket.advance is not None:
        loop = program.loops[socket.loop]
        mine = [way for way in loop.exits if way.source == socket.id and holds(way.condition, verdict)]
        for way in sorted(mine, key=lambda way: way.condition == "always"):
            return Element("exit", socket.id, way.to, way.condition)
        return Element("done", socket.id, socket.advance.done or loop.done)
    for index, edge in enumerate(socket.edges):
        if holds(edge.when, verdict):
            return Element("edge", socket.id, edge.to, edge.when, index)
    return Element("end", socket.id, END)


def taken(program: Program, record: Record) -> Key | None:
    """The element that a record of a journal says was taken; None for records that say no such thing."""
    fields = record.fields
    match record.type:
        case "socket_started":
            return "socket", fields["socket"], ""
        case "loop_skipped":
            loop = program.sockets[fields["socket"]].loop
            return ("empty", loop, "") if loop is not None else None
        case "streams_finished" if not fields["streams"] and fields["socket"] in program.regions:
            return "empty", program.regions[fields["socket"]].loop, ""
        case "socket_finished":
            return _route(fields["socket"], fields["route"], fields["blocked"])
        case kind if kind == TURN and any(_is_repair(part["file"]) for part in fields.get("files", ())):
            return "repair", fields["socket"], ""
    return None


def _route(socket: str, route: dict[str, str | int | None], blocked: str | None) -> Key | None:
    if blocked is not None:
        return ("exhaustion", socket, str(route["edge"])) if blocked == "limit" else None
    which = {"edge": str(route["edge"]), "exit": str(route["when"])}
    return str(route["kind"]), socket, which.get(str(route["kind"]), "")


def _is_repair(file: str) -> bool:
    return ".repair-" in PurePosixPath(file).name
