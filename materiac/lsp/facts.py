"""What a check knows of the names in a text, for hovers, completion and going to definitions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from materiac.diagnostic import Place
from materiac.graph import LoadoutGraph
from materiac.layers import Layered
from materiac.lsp.looks import Behaviour, Station
from materiac.source import KEY, Pointer


def behaviours(layered: Layered) -> dict[str, Behaviour]:
    """The materia of all layers; those that a socket is itself are left out, for they have no name."""
    return {
        name: Behaviour(fields, layered.place(("materia", name, KEY)))
        for name, fields in _object(layered.data, "materia").items()
        if isinstance(fields, dict) and not layered.is_unnamed(name)
    }


def loadouts(layered: Layered) -> dict[str, Place | None]:
    """The loadouts of all layers, and where each is written."""
    return {name: layered.place(("loadouts", name, KEY)) for name in _object(layered.data, "loadouts")}


def sockets(layered: Layered) -> dict[str, dict[str, str]]:
    """The sockets of the loadouts of all layers, with the names of their materia."""
    return {
        name: {id_: _text(socket, "materia") for id_, socket in _object(loadout, "sockets").items()}
        for name, loadout in _object(layered.data, "loadouts").items()
    }


def _text(data: Any, key: str) -> str:
    found = data.get(key) if isinstance(data, dict) else None
    return found if isinstance(found, str) else ""


def _object(data: Any, key: str) -> Mapping[str, Any]:
    found = data.get(key) if isinstance(data, dict) else None
    return found if isinstance(found, dict) else {}


def stations(layered: Layered, graphs: Mapping[str, LoadoutGraph]) -> dict[tuple[str, str], Station]:
    """The sockets by loadout and id; with places those alone that another file has written."""
    return {
        (name, id_): Station(
            socket.written.materia,
            socket.parse,
            None if socket.loop is None or socket.loop.foreach else socket.loop.id,
            _below(layered, (*socket.at, KEY)),
        )
        for name, graph in graphs.items()
        for id_, socket in graph.sockets.items()
    }


def _below(layered: Layered, at: Pointer) -> Place | None:
    owner = layered.owner(at)
    return None if owner == len(layered.documents) - 1 else layered.place(at)
