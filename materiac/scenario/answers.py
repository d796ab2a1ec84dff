"""Answers made up for sockets: the least that keeps the contract, with a verdict and lists as wanted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from materiac.path import MISSING, OUTPUT, parse_source, parse_target, read, write
from materiac.program import Program, Socket
from materiac.runtime.contract import contract_of

List = tuple[str, ...]
"""A list that a loop goes through: its place in the state."""

Json = dict[str, Any]

TEXT: Final = "ok"
"""What sockets that read text are answered with: the default of a script too."""

_WORK_ITEMS: Final = ("workItems",)


class Writers:
    """Which sockets send the lists of a program's loops, and where these are in their outputs."""

    def __init__(self, program: Program) -> None:
        self._program = program
        sources = [parse_source(loop.items) for loop in program.loops.values()]
        self._lists = list(dict.fromkeys(path.segments for path in sources if path.root == "state"))
        self._found = {id_: self._assigned(socket) for id_, socket in program.sockets.items()}
        sent = {list_ for places in self._found.values() for list_ in places}
        for list_ in self._lists:
            if list_ not in sent:
                self._patched(list_)

    def lists_of(self, socket: Socket) -> Iterable[List]:
        """The lists that an output of a socket sets."""
        return self._found[socket.id]

    def place(self, socket: Socket, list_: List) -> List:
        """Where in the output of a socket a list is."""
        return self._found[socket.id][list_]

    def _assigned(self, socket: Socket) -> dict[List, List]:
        places: dict[List, List] = {}
        if socket.parse != "json":
            return places
        if self._program.materia[socket.materia].generator and _WORK_ITEMS in self._lists:
            places[_WORK_ITEMS] = _WORK_ITEMS
        for target, source in socket.assign:
            path, segments = parse_source(source), parse_target(target)
            for list_ in self._lists:
                if path.root == OUTPUT and list_[: len(segments)] == segments:
                    places.setdefault(list_, (*path.segments, *list_[len(segments) :]))
        return {list_: place for list_, place in places.items() if place}

    def _patched(self, list_: List) -> None:
        """A list that nobody assigns comes from a utility; one that is told to send it, or any.

        Work items may come from an agent too.
        """
        readers = [socket for socket in self._program.sockets.values() if socket.parse == "json"]
        utilities = [s for s in readers if self._program.materia[s.materia].utility is not None]
        place = list_ if list_ == _WORK_ITEMS else ("state", *list_)
        telling = [s for s in utilities if read(_told(self._program, s), place) is not MISSING]
        others = readers if list_ == _WORK_ITEMS else []
        for socket in telling or utilities or others:
            self._found[socket.id][list_] = place


def _told(program: Program, socket: Socket) -> Any:
    """The output that the parameters of a utility have in them."""
    utility = program.materia[socket.materia].utility
    return ((utility.params if utility else None) or {}).get("output")


def output(
    program: Program, socket: Socket, writers: Writers, verdict: bool | None, lengths: Mapping[List, int]
) -> str | Json:
    """An output of a socket: a text, or the object where it reads JSON."""
    if socket.parse == "text":
        return TEXT
    contract = contract_of(program, socket)
    made: Json = {}
    if verdict is not None:
        made["satisfied"] = verdict
    for segments in sorted(contract.paths, key=len):
        write(made, segments, _value(segments))
    if contract.needs_work_items:
        made["workItems"] = _items(lengths.get(_WORK_ITEMS, 1))
    for list_, length in lengths.items():
        write(made, writers.place(socket, list_), _items(length))
    if contract.parallel:
        made["parallelSchedule"] = _schedule(len(made["workItems"]))
    if verdict is not None:
        made["satisfied"] = verdict
    return made


def _value(segments: tuple[str, ...]) -> Any:
    return [] if segments == _WORK_ITEMS else TEXT


def _items(length: int) -> list[Json]:
    return [{"title": f"item {n}", "context": "made up"} for n in range(1, length + 1)]


def _schedule(length: int) -> Json:
    streams = [{"name": "all", "workItemIndexes": list(range(length))}] if length else []
    return {"version": 1, "streams": streams}
