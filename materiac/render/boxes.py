"""Boxes around sockets: iterating loops, and groups that only a picture shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from materiac.program import Image, Loop, Program
from materiac.render.lettering import visible


@dataclass(frozen=True, slots=True)
class Box:
    """A frame around nodes; boxes nest and never cross. `nodes` has those of inner boxes too.

    `sign` is that of a change, where there is one.
    """

    id: str
    kind: Literal["loop", "group"]
    name: str
    nodes: tuple[str, ...]
    parent: str | None = None
    lines: tuple[str, ...] = ()
    sign: str = ""

    @property
    def title(self) -> str:
        """What it is and its name, after the sign of a change."""
        return f"{self.sign} {self.kind} {self.name}" if self.sign else f"{self.kind} {self.name}"


def boxes(image: Image, ids: Mapping[str, str]) -> tuple[tuple[Box, ...], dict[str, list[str]]]:
    """The boxes of a picture, in written order, for the node ids of its sockets.

    A group that would cross another box is not drawn: the second value has the names of such groups
    by socket.
    """
    drawn: list[Box] = []
    around: dict[str, list[Box]] = {}
    strays: dict[str, list[str]] = {}
    for box, sockets in _wanted(image, ids):
        touched = {id(other): other for node in box.nodes for other in around.get(node, ())}
        if all(_nests(box, other) for other in touched.values()):
            drawn.append(box)
            for node in box.nodes:
                around.setdefault(node, []).append(box)
        else:
            for socket in sockets:
                strays.setdefault(socket, []).append(box.name)
    return _with_parents(drawn), strays


def _wanted(image: Image, ids: Mapping[str, str]) -> Iterator[tuple[Box, tuple[str, ...]]]:
    number = 0
    for loop in iterating(image.program):
        number += 1
        nodes = tuple(ids[socket] for socket in loop.sockets)
        lines = tuple(_lines(image.program, loop))
        yield Box(f"c{number}", "loop", visible(loop.id), nodes, lines=lines), loop.sockets
    for name, members in image.settings.groups.items():
        number += 1
        sockets = tuple(dict.fromkeys(member for member in members if member in ids))
        if sockets:
            yield Box(f"c{number}", "group", visible(name), tuple(ids[s] for s in sockets)), sockets


def iterating(program: Program) -> Iterator[Loop]:
    """The loops that are drawn as boxes, in written order; a lone foreach is marked on its node."""
    return (loop for loop in program.loops.values() if not loop.foreach)


def _lines(program: Program, loop: Loop) -> Iterable[str]:
    width = next((r.max_concurrency for r in program.regions.values() if r.loop == loop.id), None)
    yield visible(f"for each {loop.alias} of {loop.items}")
    yield visible(f"cursor {loop.cursor}")
    if loop.source is not None:
        yield visible(f"consumes workItems of {loop.source}")
    if width is not None:
        yield f"parallel ≤{width}"


def _nests(box: Box, other: Box) -> bool:
    inner, outer = set(box.nodes), set(other.nodes)
    return inner < outer or outer < inner


def _with_parents(drawn: list[Box]) -> tuple[Box, ...]:
    innermost: dict[str, str] = {}
    parents: dict[str, str | None] = {}
    for box in sorted(drawn, key=lambda box: -len(box.nodes)):
        parents[box.id] = innermost.get(box.nodes[0])
        innermost.update(dict.fromkeys(box.nodes, box.id))
    return tuple(replace(box, parent=parents[box.id]) for box in drawn)
