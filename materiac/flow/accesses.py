"""What the visits of a loadout read of what a cast knows, and what they write to it, in their order.

A place is a way through what a cast knows: `("state", "review")`, or `("lastJson",)`, all of which is one
place. A visit first fills in its prompt; then its output is taken in; then its assignments are carried
out, one after the other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

from materiac import model, shipped
from materiac.flow.regions import regions
from materiac.graph import Assignment, LoadoutGraph, LoopView, SocketView
from materiac.path import GUARDED, ITEM_NAMES, OUTPUT, WORK_ITEMS, Path, PathError, parse_source, parse_target
from materiac.program import FAN_IN
from materiac.source import Pointer
from materiac.template import WHOLE, references

Place = tuple[str, ...]

LAST_JSON: Final[Place] = ("lastJson",)
JOINED: Final[Place] = ("state", FAN_IN)
"""What is left of the streams of a region."""

_WORK_ITEMS: Final = WORK_ITEMS.removeprefix("state.")
_TEXTS: Final = ("satisfied", "context", "text")
_GIVEN: Final = "previousCast"
"""What a cast may begin with."""


class Read(NamedTuple):
    """A place that is read: as it is written, where, and what reads it (prompt, source, list).

    `target` is what an assignment writes with it.
    """

    place: Place
    written: str
    at: Pointer
    kind: str
    target: str = ""

    @property
    def key(self) -> str:
        """The place below the state, with dots."""
        return ".".join(self.place[1:])

    @property
    def inherited(self) -> bool:
        """Whether it is the materia that says it, which several sockets may use."""
        return self.at[0] == "materia"


class Write(NamedTuple):
    """A place that gets a value: that of another place, if there is one, else whatever comes.

    A `flat` value has nothing below it; of others anything may be there. `at` is the assignment that does it.
    """

    place: Place
    copied: Place | None = None
    flat: bool = False
    at: Pointer | None = None


class Anything(NamedTuple):
    """A utility that does not say what it writes may write anything."""

    socket: str


Act = Read | Write | Anything


@dataclass(frozen=True)
class Accesses:
    """The acts in a visit of each socket, the read of the list of each loop, the keys that are written."""

    visits: Mapping[str, tuple[Act, ...]]
    lists: Mapping[str, Read]
    keys: frozenset[str]
    speaks: bool
    """Whether some socket reads JSON, which may have a context and work items in it."""
    whole: bool
    """Whether all regions are; of the streams of others nothing can be told."""

    @cached_property
    def patchers(self) -> frozenset[str]:
        """The sockets that may write any key of the state."""
        visits = self.visits.items()
        return frozenset(id_ for id_, acts in visits if any(isinstance(act, Anything) for act in acts))

    @cached_property
    def known(self) -> tuple[str, ...]:
        """What is known to be written of the state, with dots; what it lies in too."""
        writes = (act for acts in self.visits.values() for act in acts if isinstance(act, Write))
        coming = _COMING if self.speaks else ()
        places = [*coming, *(write.place for write in writes if write.place != LAST_JSON)]
        return tuple(
            dict.fromkeys(".".join(place[1:end]) for place in places for end in range(2, len(place) + 1))
        )

    def is_given(self, place: Place) -> bool:
        """Whether a place has a value without a write that can be seen: what casts begin with, what comes
        with any object."""
        if place[:2] == ("state", _GIVEN) or (place[:2] == JOINED and not self.whole):
            return True
        return self.speaks and any(place == known or _is_in(place, known) for known in _COMING)


_COMING: Final = (
    ("state", "context"),
    ("state", "envelope"),
    ("state", "envelope", "satisfied"),
    ("state", "envelope", "context"),
    ("state", "envelope", _WORK_ITEMS),
    ("state", _WORK_ITEMS),
)


def _is_in(place: Place, known: Place) -> bool:
    """Whether a place lies in a list of work items."""
    return known[-1] == _WORK_ITEMS and place[: len(known)] == known


@lru_cache(maxsize=2)
def accesses(graph: LoadoutGraph) -> Accesses:
    """What the sockets and loops of a loadout read and write."""
    keys = frozenset(_keys(graph))
    words = keys.union(ITEM_NAMES, (loop.alias for loop in graph.loops.values()))
    cursors = frozenset(loop.cursor for loop in graph.loops.values())
    return Accesses(
        visits={id_: tuple(_visit(socket, words, cursors)) for id_, socket in graph.sockets.items()},
        lists={id_: read for id_, loop in graph.loops.items() if (read := _list(loop)) is not None},
        keys=keys,
        speaks=any(_speaks(socket) for socket in graph.sockets.values()),
        whole=not any(region.obstacles for region in regions(graph)),
    )


def _speaks(socket: SocketView) -> bool:
    return socket.parse == "json" or socket.generator


def _keys(graph: LoadoutGraph) -> Iterator[str]:
    """The keys of the state that some socket writes: bare words in a prompt mean these."""
    for socket in graph.sockets.values():
        yield from (target[0] for part in socket.assign if (target := _target(part)))
        yield from _patched(socket)
        if _speaks(socket):
            yield from ("context", "envelope", _WORK_ITEMS)
        if socket.generator and socket.materia is not None and socket.materia.parallel:
            yield FAN_IN


def _target(assignment: Assignment) -> tuple[str, ...]:
    """The path of a target; empty where it is none."""
    try:
        return parse_target(assignment.target)
    except PathError:
        return ()


def _list(loop: LoopView) -> Read | None:
    if loop.path is None or not _is_below_state(loop.path):
        return None
    spelled = loop.at if loop.foreach else (*loop.at, "iterator")
    return Read(("state", *loop.path.segments), loop.items, (*spelled, "items"), "list")


def _visit(socket: SocketView, words: frozenset[str], cursors: Collection[str]) -> Iterator[Act]:
    if socket.materia is None:
        yield Anything(socket.id)
    if isinstance(socket.materia, model.AgentMateria):
        yield from _prompt(socket, socket.materia.prompt, words)
    if _speaks(socket):
        yield Write(LAST_JSON)
        yield from _patch(socket)
    for assignment in socket.assign:
        yield from _assignment(socket, assignment, cursors)


# Prompts


def _prompt(socket: SocketView, prompt: str, words: frozenset[str]) -> Iterator[Read]:
    """What a prompt reads of the state: bare words mean it where they are known, those of items too."""
    at = ("materia", socket.written.materia, "prompt")
    for name in dict.fromkeys(reference.name for reference in references(prompt)):
        path = None if name in WHOLE else _source(name)
        if path is None or not _is_below_state(path) or of_item(socket, path):
            continue
        if not path.bare or path.segments[0] in words:
            yield Read(("state", *path.segments), "{{" + name + "}}", at, "prompt")


def _source(text: str) -> Path | None:
    """The path of a source; None where it is none."""
    try:
        return parse_source(text)
    except PathError:
        return None


def _is_below_state(path: Path) -> bool:
    return path.root == "state" and bool(path.segments)


def of_item(socket: SocketView, path: Path) -> bool:
    """Whether a bare name means the item that a visit of the socket works on."""
    return path.bare and socket.loop is not None and path.segments[0] in (*ITEM_NAMES, socket.loop.alias)


# Outputs


def _patch(socket: SocketView) -> Iterator[Act]:
    """What a utility sends as `state`."""
    if not isinstance(socket.materia, model.UtilityMateria):
        return
    yield from (Write(("state", key)) for key in dict.fromkeys(_patched(socket)))
    if builtin_of(socket.materia) is None and "writes" not in socket.materia.model_fields_set:
        yield Anything(socket.id)


def _patched(socket: SocketView) -> Iterator[str]:
    utility = socket.materia
    if not isinstance(utility, model.UtilityMateria) or not _speaks(socket):
        return
    builtin = builtin_of(utility)
    yield from (key for key in utility.writes if key not in GUARDED)
    yield from shipped.BUILTIN_WRITES.get(builtin or "", ())
    if builtin == "echo":
        yield from _echoed(utility)


def builtin_of(utility: model.UtilityMateria) -> str | None:
    """The built-in that a utility is; None for one that nothing is known of."""
    name = shipped.SCRIPTS.get(utility.script.name) if utility.script else utility.utility
    return name if name in shipped.BUILTIN_WRITES else None


def _echoed(utility: model.UtilityMateria) -> tuple[str, ...]:
    """The keys of the state that `echo` is told to send."""
    params = utility.params or {}
    output = params.get("output", params)
    state = output.get("state") if isinstance(output, dict) else None
    return tuple(key for key in state if key not in GUARDED) if isinstance(state, dict) else ()


# Assignments


def _assignment(socket: SocketView, assignment: Assignment, cursors: Collection[str]) -> Iterator[Act]:
    target, source = _target(assignment), _source(assignment.source)
    if source is None or not target:
        return
    place: Place = ("state", *target)
    if _is_below_state(source) and not of_item(socket, source):
        read = ("state", *source.segments)
        yield Read(read, assignment.source, assignment.at, "source", assignment.target)
        yield Write(place, copied=read, at=assignment.at)
    elif source.root == "lastJson" and not _speaks(socket):
        yield Write(place, copied=LAST_JSON, at=assignment.at)
    elif _has_value(socket, source, cursors):
        yield Write(place, flat=_is_flat(socket, source), at=assignment.at)


def _has_value(socket: SocketView, source: Path, cursors: Collection[str]) -> bool:
    if source.root == "cursor":
        return source.segments[0] in cursors
    return source.root != "item" or socket.loop is not None


def _is_flat(socket: SocketView, source: Path) -> bool:
    """Whether a value is a text, a number or a verdict for certain."""
    if source.root == OUTPUT:
        return not _speaks(socket) if not source.segments else source.segments[0] in _TEXTS
    return source.root in ("lastOutput", "cursor")
