"""The outline of a file: loadouts with their sockets and loops, materia, scenarios."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from materiac.lsp.early import ROLES, written_loadouts
from materiac.source import KEY, Document, Pointer, Span

Kind = Literal["loadout", "socket", "loop", "materia", "scenario"]


@dataclass(frozen=True)
class Symbol:
    """A part of a file with a name: the range of all of it, that of its name, and what it is."""

    name: str
    kind: Kind
    about: str
    whole: Span
    named: Span
    parts: tuple[Symbol, ...] = ()


def symbols(document: Document) -> list[Symbol]:
    """The parts of a document in written order."""
    data = document.data
    found = [
        *(_loadout(document, at, value) for at, value in written_loadouts(data)),
        *(
            _symbol(document, "materia", (key, name), _text(value, "type"))
            for key in ("materia", ROLES)
            for name, value in _members(data, key).items()
        ),
        *_scenarios(document),
    ]
    return _sorted(found)


def _sorted(found: list[Symbol]) -> list[Symbol]:
    return sorted(found, key=lambda symbol: symbol.whole)


def _members(value: Any, key: str) -> Mapping[str, Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _text(value: Any, key: str) -> str:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def _loadout(document: Document, at: Pointer, value: Any) -> Symbol:
    parts = [
        *(
            _symbol(document, "socket", (*at, "sockets", id_), _text(socket, "materia"))
            for id_, socket in _members(value, "sockets").items()
        ),
        *(_symbol(document, "loop", (*at, "loops", id_), "") for id_ in _members(value, "loops")),
    ]
    return _symbol(document, "loadout", at, _text(value, "description"), tuple(_sorted(parts)))


def _symbol(
    document: Document, kind: Kind, at: Pointer, about: str, parts: tuple[Symbol, ...] = ()
) -> Symbol:
    named, value = document.span((*at, KEY)), document.span(at)
    # In the language of our own the whole statement is the place of the value, with its name in it.
    whole = Span(min(named.start, value.start), max(named.end, value.end))
    return Symbol(str(at[-1]), kind, about, whole, named, parts)


def _scenarios(document: Document) -> Iterator[Symbol]:
    scenarios = document.data.get("scenarios") if isinstance(document.data, dict) else None
    for index, scenario in enumerate(scenarios if isinstance(scenarios, list) else ()):
        name = _text(scenario, "name")
        if name:
            whole, named = document.span(("scenarios", index)), document.span(("scenarios", index, "name"))
            inside = whole.start <= named.start and named.end <= whole.end
            yield Symbol(name, "scenario", _text(scenario, "about"), whole, named if inside else whole)
