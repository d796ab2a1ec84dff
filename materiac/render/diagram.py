"""One neutral picture of a program, the same under every format: boxes, nodes and arrows in written order.

Texts in it are harmless to show (see `lettering.visible`) but not escaped for any format.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from materiac.program import END, Agent, Image, Loop, Materia, Program, Socket, Utility
from materiac.render.boxes import Box, boxes, iterating
from materiac.render.colors import hex_color
from materiac.render.covered import Covered
from materiac.render.facts import facts
from materiac.render.lettering import visible

START_ID: Final = "start"
END_ID: Final = "end"
UNCOVERED: Final = "NOT COVERED"

_DEFAULT_TIMEOUT_MS: Final = Utility().timeout_ms
_BEFORE: Final = {"exit": "used up", "done": "used up", "empty": "list empty"}


@dataclass(frozen=True, slots=True)
class Node:
    """A socket, or in an overview a whole box.

    `does` says with what the work is done, `reads` how the output is read, `marks` are words for what
    a shape may show too, `notes` are limits and what happens to the item. `covered` is None where no
    coverage is shown; `sign` is that of a change, where there is one.
    """

    id: str
    name: str
    materia: str
    kind: Literal["agent", "utility", "loop", "group"]
    does: str
    reads: str = ""
    marks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    color: str | None = None
    covered: bool | None = None
    sign: str = ""

    @property
    def title(self) -> str:
        """Its name, after the sign of a change."""
        return f"{self.sign} {self.name}" if self.sign else self.name


@dataclass(frozen=True, slots=True)
class Arrow:
    """A way that control can go. `box` is the box that it leaves as a whole, where it does.

    `covered` and `spent` are None where no coverage is shown; `spent` says whether its budget was used up.
    `sign` is that of a change, and `before` says what budget there was.
    """

    source: str
    target: str
    kind: Literal["start", "edge", "otherwise", "exit", "done", "empty"]
    condition: str = "always"
    budget: int | None = None
    box: str | None = None
    count: int = 1
    covered: bool | None = None
    spent: bool | None = None
    sign: str = ""
    before: str = ""

    @property
    def when(self) -> str:
        """The condition in words: empty where the way is always taken."""
        guard = "" if self.condition == "always" else self.condition
        return ", ".join(filter(None, (_BEFORE.get(self.kind), guard)))

    @property
    def limit(self) -> str:
        """How often it may be taken, or in an overview how many ways it stands for."""
        spent = " not used up" if self.spent is False else ""
        budget = "" if self.budget is None else f"≤{self.budget}{spent}"
        budget = ", ".join(filter(None, (budget, self.before)))
        return " ".join(filter(None, (budget, "" if self.count == 1 else f"×{self.count}")))

    @property
    def fault(self) -> str:
        """What coverage has to say of it."""
        return UNCOVERED if self.covered is False else ""

    @property
    def words(self) -> str:
        """What is written beside the arrow of a drawing."""
        return " ".join(filter(None, (self.sign, self.when, self.limit, self.fault)))


@dataclass(frozen=True, slots=True)
class Diagram:
    """A picture; `facts` are headings and lines about the cast as a whole."""

    title: str
    facts: tuple[tuple[str, str], ...]
    nodes: tuple[Node, ...]
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]


def make(image: Image, seen: Covered | None = None) -> Diagram:
    """The picture of a program: every socket, every way, and which of them were `seen`."""
    program, seen = image.program, seen or Covered()
    ids = {name: f"n{number}" for number, name in enumerate(program.sockets, 1)}
    drawn, strays = boxes(image, ids)
    return Diagram(
        title=visible(program.name),
        facts=facts(image),
        nodes=tuple(_node(image, s, ids[s.id], strays.get(s.id, ()), seen) for s in program.sockets.values()),
        boxes=drawn,
        arrows=tuple(_arrows(program, {**ids, END: END_ID}, seen)),
    )


def _node(image: Image, socket: Socket, node_id: str, groups: Iterable[str], seen: Covered) -> Node:
    program = image.program
    materia = program.materia[socket.materia]
    colors = image.settings.colors
    return Node(
        id=node_id,
        name=visible(socket.id),
        materia=visible(_called(materia, socket)),
        kind="utility" if materia.agent is None else "agent",
        does=visible(_does(materia)),
        reads=socket.parse,
        marks=tuple(_marks(materia, program.loops.get(socket.loop or ""))),
        notes=(
            *map(visible, _notes(program, socket, materia)),
            *(f"group {name}" for name in groups),
            *_unseen(socket, seen),
        ),
        color=hex_color(colors.get(socket.id) or colors.get(materia.name) or ""),
        covered=seen.was("socket", socket.id),
    )


def _unseen(socket: Socket, seen: Covered) -> Iterator[str]:
    if seen.was("socket", socket.id) is False:
        yield UNCOVERED
    elif seen.was("repair", socket.id) is False:
        yield "no repair turn covered"


def _called(materia: Materia, socket: Socket) -> str:
    if materia.label in (materia.name, socket.id):
        return materia.label
    return f"{materia.label} ({materia.name})"


def _does(materia: Materia) -> str:
    if materia.agent is not None:
        return ", ".join(_asked_with(materia.agent))
    utility = materia.utility or Utility()
    if utility.command:
        return f"runs {' '.join(map(_word, utility.command))}"
    if utility.builtin is not None:
        return f"built-in {utility.builtin}"
    return f"built-in {utility.missing}, which does not exist yet"


def _word(argument: str) -> str:
    """An argument as a shell would take it, in the quotes that leave it the most legible."""
    simple = "'" not in argument or any(character in argument for character in '"$`\\!')
    return shlex.quote(argument) if simple else f'"{argument}"'


def _asked_with(agent: Agent) -> Iterator[str]:
    tools = " ".join(agent.tools) if agent.scope == "custom" else agent.scope
    yield "no tools" if tools in ("", "none") else f"tools {tools}"
    if agent.model is not None:
        yield f"model {agent.model}"
    if agent.thinking is not None:
        yield f"thinking {agent.thinking}"


def _marks(materia: Materia, loop: Loop | None) -> Iterator[str]:
    if materia.generator:
        yield "parallel generator" if materia.parallel else "generator"
    if loop is not None:
        yield "foreach" if loop.foreach else "consumer" if loop.source is not None else "iterates"
    if materia.agent is not None and materia.agent.multi_turn:
        yield "multi-turn"


def _notes(program: Program, socket: Socket, materia: Materia) -> Iterator[str]:
    if any(socket.id in region.prelude for region in program.regions.values()):
        yield "once for each stream"
    loop = program.loops.get(socket.loop or "")
    if loop is not None and loop.foreach:
        yield f"for each {loop.alias} of {loop.items}"
        yield f"cursor {loop.cursor}"
    if socket.advance is not None:
        yield "next item" if socket.advance.when == "always" else f"next item if {socket.advance.when}"
    if socket.max_visits is not None:
        yield f"≤{socket.max_visits} visits"
    if socket.max_output_bytes is not None:
        yield f"≤{socket.max_output_bytes} bytes"
    if materia.utility is not None and materia.utility.timeout_ms != _DEFAULT_TIMEOUT_MS:
        yield f"≤{materia.utility.timeout_ms / 1000:g} s"


def _arrows(program: Program, ids: Mapping[str, str], seen: Covered) -> Iterator[Arrow]:
    yield Arrow(START_ID, ids[program.entry], "start", covered=seen.was("socket", program.entry))
    exits: dict[str, list[Arrow]] = {}
    for loop in program.loops.values():
        for way in loop.exits:
            was = seen.was("exit", way.source, way.condition)
            arrow = Arrow(ids[way.source], ids[way.to], "exit", way.condition, covered=was)
            exits.setdefault(way.source, []).append(arrow)
    for socket in program.sockets.values():
        yield from _edges(socket, ids, seen)
        yield from _otherwise(socket, ids, seen)
        yield from exits.get(socket.id, ())
        yield from _done(program, socket, exits.get(socket.id, ()), ids, seen)
    yield from _empty(program, ids, seen)


def _edges(socket: Socket, ids: Mapping[str, str], seen: Covered) -> Iterator[Arrow]:
    for index, edge in enumerate(socket.edges):
        was, spent = (seen.was(kind, socket.id, str(index)) for kind in ("edge", "exhaustion"))
        ends = ids[socket.id], ids[edge.to]
        yield Arrow(*ends, "edge", edge.when, edge.max_traversals, covered=was, spent=spent)


def _otherwise(socket: Socket, ids: Mapping[str, str], seen: Covered) -> Iterator[Arrow]:
    guards = {edge.when for edge in socket.edges}
    if "always" in guards or guards >= {"satisfied", "not_satisfied"}:
        return
    was = seen.was("end", socket.id)
    if socket.edges or socket.advance:
        yield Arrow(ids[socket.id], END_ID, "otherwise", "otherwise", covered=was)
    else:
        yield Arrow(ids[socket.id], END_ID, "edge", covered=was)


def _done(
    program: Program, socket: Socket, exits: Iterable[Arrow], ids: Mapping[str, str], seen: Covered
) -> Iterator[Arrow]:
    """The way of a list that is used up and for which no exit of this socket holds."""
    loop = program.loops.get(socket.loop or "")
    if loop is None or socket.advance is None:
        return
    guards = {arrow.condition for arrow in exits}
    if not guards & {"always", socket.advance.when}:
        words = "otherwise" if guards else "always"
        ends = ids[socket.id], ids[socket.advance.done or loop.done]
        yield Arrow(*ends, "done", words, covered=seen.was("done", socket.id))


def _empty(program: Program, ids: Mapping[str, str], seen: Covered) -> Iterator[Arrow]:
    framed = {loop.id: f"c{number}" for number, loop in enumerate(iterating(program), 1)}
    after = {region.loop: region.after for region in program.regions.values()}
    for loop in program.loops.values():
        empty = after.get(loop.id, loop.empty)
        ends, was = (ids[loop.sockets[0]], ids[empty]), seen.was("empty", loop.id)
        yield Arrow(*ends, "empty", box=framed.get(loop.id), covered=was)


def captions(node: Node) -> Iterator[str]:
    """The lines of a node's label in a drawing."""
    yield node.title
    if node.materia != node.name:
        yield node.materia
    if node.does:
        kind = " ".join([node.kind, *(f"«{mark}»" for mark in node.marks)])
        yield f"{kind}, reads {node.reads}"
        yield node.does
    yield from node.notes
