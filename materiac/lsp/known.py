"""The names that can be offered: of sockets, materia, lists, keys of the state and more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple

from materiac import shipped
from materiac.lsp.looks import Behaviour
from materiac.model import kind_of
from materiac.names import END
from materiac.path import WORK_ITEMS

Role = Literal[
    "agent",
    "cursor",
    "generator",
    "list",
    "loadout",
    "materia",
    "member",
    "reference",
    "scope",
    "socket",
    "source",
    "state",
    "target",
    "tool",
    "utility",
]
"""What is named at a place."""

_ALWAYS: Final = ("context", "envelope", "parallelFanIn", "workItems")
_FROM_OUTPUT: Final = ("$", "$.context", "$.satisfied", "$.text", "$.workItems")
_SOURCES: Final = ("item", "lastJson", "lastOutput")
_WHOLE: Final = ("cursor", "item", "itemJson", "lastJson", "lastOutput", "request", "state", "stateJson")
_ITEM: Final = ("context", "title")


class Name(NamedTuple):
    """A name that may stand at a place, with a few words on it."""

    name: str
    about: str = ""


@dataclass(frozen=True)
class Known:
    """What is known in a file: its own value, and of all layers materia, loadouts and their sockets."""

    data: Any = None
    materia: Mapping[str, Behaviour] = field(default_factory=dict)
    loadouts: Iterable[str] = ()
    sockets: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def names(self, role: Role, loadout: str | None = None, loop: str | None = None) -> list[Name]:
        """The names for a role, within a loadout and a loop of it."""
        own = _object(_object(self.data, "loadouts"), loadout)
        if "sockets" not in own and (below := self.sockets.get(loadout or "")) is not None:
            own = {**own, "sockets": {id_: {"materia": of} for id_, of in below.items()}}
        within = _Within(self, own, loop)
        return list({name.name: name for name in _NAMES[role](within)}.values())


def _object(value: Any, key: str | None) -> dict[str, Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _text(value: Any, key: str) -> str | None:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else None


@dataclass(frozen=True)
class _Within:
    """A loadout, and a loop of it, that names are looked for in."""

    known: Known
    loadout: Mapping[str, Any]
    loop: str | None

    @cached_property
    def _materia(self) -> dict[str, Mapping[str, Any]]:
        own = _object(self.known.data, "materia")
        below = {name: behaviour.fields for name, behaviour in self.known.materia.items()}
        return {**below, **{name: {**below.get(name, {}), **_object(own, name)} for name in own}}

    def sockets(self) -> Iterator[Name]:
        for id_, socket in _object(self.loadout, "sockets").items():
            yield Name(id_, _text(socket, "materia") or "")

    def targets(self) -> Iterator[Name]:
        yield from self.sockets()
        yield Name(END, "the cast is complete")

    def members(self) -> Iterator[Name]:
        loop = _object(_object(self.loadout, "loops"), self.loop or "")
        inside = loop.get("sockets")
        names = {part for part in inside if isinstance(part, str)} if isinstance(inside, list) else set()
        found = list(self.sockets())
        yield from [name for name in found if name.name in names] or found

    def generators(self) -> Iterator[Name]:
        found = list(self.sockets())
        yield from [name for name in found if _object(self._materia, name.about).get("generator")] or found

    def materia(self) -> Iterator[Name]:
        for name, fields in self._materia.items():
            yield Name(name, _text(fields, "label") or kind_of(fields) or "")

    def loadouts(self) -> Iterator[Name]:
        for name in (*_object(self.known.data, "loadouts"), *self.known.loadouts):
            yield Name(name)

    def states(self) -> Iterator[Name]:
        for id_, socket in _object(self.loadout, "sockets").items():
            yield from (Name(target, f"assigned by {id_}") for target in _object(socket, "assign"))
        for name, fields in self._materia.items():
            yield from (Name(target, f"assigned by {name}") for target in _object(fields, "assign"))
            yield from (Name(key, f"written by {name}") for key in _written(fields))
        yield from (Name(key) for key in _ALWAYS)

    def sources(self) -> Iterator[Name]:
        yield from map(Name, _FROM_OUTPUT)
        yield from (Name(f"state.{name.name}", name.about) for name in self.states())
        yield from self._of_items()
        yield from map(Name, _SOURCES)

    def _of_items(self) -> Iterator[Name]:
        for alias in dict.fromkeys(["item", "workItem", *self._written("as")]):
            yield from (Name(f"{alias}.{key}") for key in _ITEM)
        yield from (Name(f"cursor.{name.name}") for name in self.cursors())

    def references(self) -> Iterator[Name]:
        yield from map(Name, _WHOLE)
        yield from (Name(f"state.{name.name}", name.about) for name in self.states())
        yield from self._of_items()

    def lists(self) -> Iterator[Name]:
        yield Name(WORK_ITEMS, "what generators plan")
        yield from map(Name, self._written("items"))
        yield from (Name(f"state.{name.name}", name.about) for name in self.states())

    def cursors(self) -> Iterator[Name]:
        yield from map(Name, self._written("cursor"))
        for id_, socket in _object(self.loadout, "sockets").items():
            foreach = _object(socket, "foreach")
            if foreach and "cursor" not in foreach:
                yield Name(f"{id_}Index")
        yield Name("workItemIndex")

    def _written(self, key: str) -> list[str]:
        """What loops and sockets write under a key of how they go through a list."""
        parts = [
            *(
                _object(loop, part)
                for loop in _object(self.loadout, "loops").values()
                for part in _LOOP_PARTS
            ),
            *(_object(socket, "foreach") for socket in _object(self.loadout, "sockets").values()),
        ]
        found = (_text(part, key) for part in parts)
        return [text for text in found if text]

    def utilities(self) -> Iterator[Name]:
        for name, keys in shipped.BUILTIN_WRITES.items():
            yield Name(name, f"writes {', '.join(keys)}" if keys else "")

    def tools(self) -> Iterator[Name]:
        return map(Name, shipped.CODING_TOOLS)

    def scopes(self) -> Iterator[Name]:
        return (Name(scope, ", ".join(tools)) for scope, tools in shipped.SCOPES.items())

    def agents(self) -> Iterator[Name]:
        return (Name(name, back_end.form) for name, back_end in shipped.BACK_ENDS.items())


_LOOP_PARTS: Final = ("consumes", "iterator")


def _written(fields: Mapping[str, Any]) -> Iterator[str]:
    writes = fields.get("writes")
    yield from (key for key in writes if isinstance(key, str)) if isinstance(writes, list) else ()
    utility = fields.get("utility")
    yield from shipped.BUILTIN_WRITES.get(utility, ()) if isinstance(utility, str) else ()


_NAMES: Final[Mapping[Role, Callable[[_Within], Iterator[Name]]]] = {
    "agent": _Within.agents,
    "cursor": _Within.cursors,
    "generator": _Within.generators,
    "list": _Within.lists,
    "loadout": _Within.loadouts,
    "materia": _Within.materia,
    "member": _Within.members,
    "reference": _Within.references,
    "scope": _Within.scopes,
    "socket": _Within.sockets,
    "source": _Within.sources,
    "state": _Within.states,
    "target": _Within.targets,
    "tool": _Within.tools,
    "utility": _Within.utilities,
}
