"""What prompts ask for that nothing reads: what the rules about it have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from materiac.asked_fields import asked_fields
from materiac.flow.handed_on import keeps
from materiac.source import KEY, Pointer

if TYPE_CHECKING:
    from materiac.graph import LoadoutGraph, SocketView
    from materiac.rules.rule import LoadoutView

Reads = Callable[["LoadoutGraph", "SocketView", str], bool]


class Unread(NamedTuple):
    """A field that the prompt of a materia asks for and no socket with it reads.

    `sockets` are those of the loadout that use the materia, in the order in which a cast comes to them.
    """

    materia: str
    field: str
    sockets: tuple[SocketView, ...]

    @property
    def at(self) -> Pointer:
        return ("materia", self.materia, "prompt")

    @property
    def related(self) -> list[tuple[Pointer, str]]:
        return [((*socket.at, KEY), "its socket") for socket in self.sockets[:3]]


def unread(view: LoadoutView, names: frozenset[str], reads: Reads) -> Iterator[Unread]:
    """The fields of `names` that prompts of a loadout ask for and that no socket with the prompt `reads`.

    A prompt that serves another loadout of the file too is fine where it is read there.
    """
    for name, sockets in by_materia(view.graph).items():
        behaviour = sockets[0].materia
        if behaviour is None or behaviour.type != "agent":
            continue
        asked = asked_fields(behaviour.prompt, names)
        if asked and not _is_used_elsewhere(view, name):
            users = list(_users(view, name))
            for field in asked:
                if not any(reads(graph, socket, field) for graph, socket in users):
                    yield Unread(name, field, tuple(sockets))


def is_handed_on(graph: LoadoutGraph, socket: SocketView, field: str) -> bool:
    """Whether a field of an answer is kept; one that is a text goes on as a whole."""
    return socket.parse == "text" or keeps(graph, socket, field)


def by_materia(graph: LoadoutGraph) -> dict[str, list[SocketView]]:
    """The sockets that some cast comes to, by their materia, in the order in which it does."""
    found: dict[str, list[SocketView]] = {}
    for socket in (graph.sockets[node] for node in graph.reached if node in graph.sockets):
        found.setdefault(socket.written.materia, []).append(socket)
    return found


def _users(view: LoadoutView, materia: str) -> Iterator[tuple[LoadoutGraph, SocketView]]:
    for graph in view.graphs:
        yield from ((graph, socket) for socket in graph.sockets.values() if socket.written.materia == materia)


def _is_used_elsewhere(view: LoadoutView, materia: str) -> bool:
    """Whether a loadout that is not looked at uses a materia."""
    looked_at = {graph.name for graph in view.graphs}
    others = _object(view.file.data.get("loadouts")).items()
    unseen = (_object(loadout) for name, loadout in others if name not in looked_at)
    sockets = (socket for loadout in unseen for socket in _object(loadout.get("sockets")).values())
    return any(_object(socket).get("materia") == materia for socket in sockets)


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
