"""Several loadouts as one: names kept apart, the end of each joined to the entry of the next."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from materiac.ends import End, ends, falls_through
from materiac.link_frame import joined
from materiac.names import END, MAX_LENGTH, fault
from materiac.path import WORK_ITEMS
from materiac.program import Program
from materiac.template import references

Fields = dict[str, Any]

_CURSOR: Final = "cursor."
_ILLEGAL: Final = re.compile(r"[^\w.-]+")


@dataclass(frozen=True)
class Part:
    """A loadout to link: as it is written in the forms of today, with its materia, and compiled.

    `called` is what messages call it, `frame` what its file says beside loadouts and materia.
    """

    called: str
    program: Program
    loadout: Fields
    materia: Mapping[str, Fields]
    frame: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Linked:
    """The file that came of it; None where there are `problems`. `notes` say what was settled how."""

    data: Fields | None
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def link(parts: Sequence[Part], name: str, shipped: Mapping[str, Fields]) -> Linked:
    """Link at least one part. `shipped` are materia that lie below every file: their names are theirs."""
    found = [ends(part.program) for part in parts]
    pairs = zip(parts[:-1], found[:-1], parts[1:], strict=True)
    problems = [_ambiguous(part, some, after) for part, some, after in pairs if len(some) != 1]
    if problems:
        return Linked(None, tuple(problems))
    linker = _Linker(_Materia(shipped))
    renamed = [linker.add(part) for part in parts]
    for before, end, after in zip(renamed[:-1], found[:-1], renamed[1:], strict=True):
        before.join(end[0], after.entry)
    frame, notes = joined([(part.called, part.frame) for part in parts])
    loadout = _one(renamed)
    data = {**frame, "loadouts": {name: loadout}, "materia": linker.materia.kept}
    return Linked(data, (), (*linker.notes, *notes))


def _ambiguous(part: Part, found: Sequence[End], after: Part) -> str:
    listed = ", ".join(end.words for end in found)
    return f"'{part.called}' has {len(found)} ends, expected one to go on from to '{after.called}': {listed}"


class _Names:
    """Names that are given once; two that differ only in case are too near to one another."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def take(self, wanted: str, separator: str = "-") -> str:
        name, number = wanted, 1
        while name.casefold() in self._taken:
            number += 1
            tail = f"{separator}{number}"
            name = wanted[: MAX_LENGTH - len(tail)] + tail
        self._taken.add(name.casefold())
        return name

    def reserve(self, name: str) -> None:
        self._taken.add(name.casefold())


class _Materia:
    """The materia of all parts: equal ones are shared, others get names of their own."""

    def __init__(self, shipped: Mapping[str, Fields]) -> None:
        self.kept: dict[str, Fields] = {}
        self._shipped = shipped
        self._names = _Names()
        for name in shipped:
            self._names.reserve(name)

    def take(self, name: str, fields: Fields) -> str:
        if self.kept.get(name, self._shipped.get(name)) == fields:
            self.kept[name] = fields
            return name
        # Its label keeps what people and prompts call it.
        labelled = {**fields, "label": fields.get("label") or name}
        same = (own for own, other in self.kept.items() if own != name and other == labelled)
        known = next(same, None)
        if known is not None:
            return known
        own = self._names.take(_legal(name))
        self.kept[own] = fields if own == name else labelled
        return own


def _legal(name: str) -> str:
    """A legal name that is near to one that a file may not have."""
    if not fault(name, spaces=True):
        return name
    near = _ILLEGAL.sub("-", name).lstrip(".-")[:MAX_LENGTH]
    return near if near and not fault(near, spaces=True) else "materia"


@dataclass
class _Linker:
    materia: _Materia
    notes: list[str] = field(default_factory=list)
    sockets: _Names = field(default_factory=_Names)
    loops: _Names = field(default_factory=_Names)
    cursors: _Names = field(default_factory=_Names)

    def add(self, part: Part) -> _Renamed:
        """A part under names that no part before it has."""
        ids = self._own(part.loadout["sockets"], self.sockets)
        loops = self._own(part.loadout.get("loops", {}), self.loops)
        cursors = {name: self.cursors.take(name, "") for name in dict.fromkeys(_cursors(part.program))}
        for kind, names in (("socket", ids), ("loop", loops), ("cursor", cursors)):
            changed = [f"'{old}' is '{new}'" for old, new in names.items() if old != new]
            if changed:
                self.notes.append(f"of '{part.called}', the {kind} {', '.join(changed)}")
        renamed = _Renamed(part, ids, loops, cursors)
        renamed.rename(self.materia)
        return renamed

    def _own(self, names: Iterable[str], taken: _Names) -> dict[str, str]:
        return {name: taken.take(name) for name in names}


def _cursors(program: Program) -> Iterator[str]:
    return (loop.cursor for loop in program.loops.values())


@dataclass
class _Renamed:
    """A part whose names are changed: sockets, loops and cursors by their old names."""

    part: Part
    ids: Mapping[str, str]
    loop_ids: Mapping[str, str]
    cursors: Mapping[str, str]
    sockets: dict[str, Fields] = field(default_factory=dict)
    loops: dict[str, Fields] = field(default_factory=dict)
    properties: list[Any] = field(default_factory=list)

    @property
    def entry(self) -> str:
        return self.ids[self.part.program.entry]

    def rename(self, materia: _Materia) -> None:
        loadout = self.part.loadout
        names = {
            name: materia.take(name, self._materia(self.part.materia[name]))
            for name in dict.fromkeys(socket["materia"] for socket in loadout["sockets"].values())
        }
        for id_, socket in loadout["sockets"].items():
            self.sockets[self.ids[id_]] = {**self._socket(id_, socket), "materia": names[socket["materia"]]}
        for id_, loop in loadout.get("loops", {}).items():
            self.loops[self.loop_ids[id_]] = self._loop(loop)
        self.properties = [_walked(rule, self._to) for rule in loadout.get("properties", ())]

    def _to(self, id_: str) -> str:
        return self.ids.get(id_, id_)

    def _materia(self, fields: Fields) -> Fields:
        changed = dict(fields)
        if "assign" in fields:
            changed["assign"] = self._assign(fields["assign"])
        if isinstance(fields.get("prompt"), str):
            changed["prompt"] = self._prompt(fields["prompt"])
        return changed

    def _assign(self, assign: Mapping[str, str]) -> Fields:
        return {target: self._source(source) for target, source in assign.items()}

    def _source(self, source: str) -> str:
        name = source.removeprefix(_CURSOR)
        return f"{_CURSOR}{self.cursors.get(name, name)}" if source.startswith(_CURSOR) else source

    def _prompt(self, prompt: str) -> str:
        for reference in reversed(list(references(prompt))):
            name = self._source(reference.name)
            if name != reference.name:
                prompt = f"{prompt[: reference.start]}{{{{{name}}}}}{prompt[reference.end :]}"
        return prompt

    def _socket(self, id_: str, socket: Fields) -> Fields:
        changed = dict(socket)
        if "assign" in socket:
            changed["assign"] = self._assign(socket["assign"])
        if "edges" in socket:
            changed["edges"] = [{**edge, "to": self._to(edge["to"])} for edge in socket["edges"]]
        if "foreach" in socket:
            # The default is made from the id, which may be another one now.
            cursor = socket["foreach"].get("cursor") or f"{id_}Index"
            own = {"cursor": self.cursors.get(cursor, cursor)}
            plain = "cursor" not in socket["foreach"] and own["cursor"] == f"{self.ids[id_]}Index"
            changed["foreach"] = {**self._way(socket["foreach"], "done"), **({} if plain else own)}
        if "advance" in socket:
            advance = self._way(socket["advance"], "done")
            changed["advance"] = {**advance, "cursor": self.cursors.get(advance["cursor"], advance["cursor"])}
        return changed

    def _way(self, fields: Fields, *keys: str) -> Fields:
        return {**fields, **{key: self._to(fields[key]) for key in keys if key in fields}}

    def _loop(self, loop: Fields) -> Fields:
        changed = {**loop, "sockets": [self._to(id_) for id_ in loop["sockets"]]}
        if "consumes" in loop:
            changed["consumes"] = self._way(loop["consumes"], "from")
        if "iterator" in loop:
            changed["iterator"] = self._way(loop["iterator"], "done")
        if "exits" in loop:
            changed["exits"] = [self._way(way, "from", "targetSocketId") for way in loop["exits"]]
        self._name_cursor(changed)
        return changed

    def _name_cursor(self, loop: Fields) -> None:
        """Write the cursor into a loop, where it is another one now."""
        holders = [key for key in ("iterator", "consumes") if key in loop]
        if not holders:
            return
        written = next((loop[key]["cursor"] for key in holders if "cursor" in loop[key]), "workItemIndex")
        cursor = self.cursors.get(written, written)
        if cursor != written:
            loop[holders[0]] = {**loop[holders[0]], "cursor": cursor}

    def join(self, end: End, to: str) -> None:
        """Let what has been the end of the part lead on."""
        if end.kind == "socket":
            self._go_on(end.id, to)
        elif end.id in self.loop_ids:
            self._leave(self.loops[self.loop_ids[end.id]], end.id, to)
        else:
            id_ = end.id.removeprefix("foreach:")
            socket = self.sockets[self.ids[id_]]
            socket["foreach"] = _onward(socket["foreach"], "done", to, absent=True)
            self._advance_onward(id_, to)

    def _go_on(self, id_: str, to: str) -> None:
        socket = self.sockets[self.ids[id_]]
        edges = [_onward(edge, "to", to) for edge in socket.get("edges", ())]
        if falls_through(self.part.program.sockets[id_]):
            edges.append({"to": to})
        socket["edges"] = edges

    def _leave(self, loop: Fields, id_: str, to: str) -> None:
        if "exits" in loop:
            loop["exits"] = [_onward(way, "targetSocketId", to) for way in loop["exits"]]
        iterator = loop.get("iterator", {"items": WORK_ITEMS})
        if self.part.program.loops[id_].done == END:
            loop["iterator"] = {**iterator, "done": to}
        for member in self.part.program.loops[id_].sockets:
            self._advance_onward(member, to)

    def _advance_onward(self, id_: str, to: str) -> None:
        socket = self.sockets[self.ids[id_]]
        if "advance" in socket:
            socket["advance"] = _onward(socket["advance"], "done", to)


def _onward(fields: Fields, key: str, to: str, *, absent: bool = False) -> Fields:
    """Fields whose way to the end leads on instead."""
    leads = fields.get(key, END if absent else None) == END
    return {**fields, key: to} if leads else fields


def _walked(value: Any, change: Callable[[str], str]) -> Any:
    """A value with its strings changed, but for keys."""
    if isinstance(value, dict):
        return {key: _walked(part, change) for key, part in value.items()}
    if isinstance(value, list):
        return [_walked(part, change) for part in value]
    return change(value) if isinstance(value, str) else value


def _one(parts: Sequence[_Renamed]) -> Fields:
    loadout: Fields = {"entry": parts[0].entry, "sockets": {}}
    loops = {id_: loop for part in parts for id_, loop in part.loops.items()}
    properties = [rule for part in parts for rule in part.properties]
    for part in parts:
        loadout["sockets"] |= part.sockets
    return loadout | ({"loops": loops} if loops else {}) | ({"properties": properties} if properties else {})
