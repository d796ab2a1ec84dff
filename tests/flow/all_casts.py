"""Every cast of a small loadout, with a state as casts have one, in which values are made up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from materiac import model
from materiac.flow.accesses import accesses
from materiac.graph import Assignment, LoadoutGraph, LoopView
from materiac.lower import lower
from materiac.path import MISSING, parse_source, parse_target, read, write
from materiac.program import FAN_IN, Program
from materiac.scenario.walk import LENGTHS, Choice, Ground, Walker
from materiac.template import references

MOST = 60_000


class Whatever(dict[str, Any]):
    """An object that has whatever is asked for."""

    def get(self, key: str, _: Any = None) -> Any:
        return self.setdefault(key, Whatever())

    def copy(self) -> Whatever:
        return Whatever(self)


def _frozen(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    parts = frozenset((key, part) for key, inner in value.items() if (part := _frozen(inner)) != _WHATEVER)
    return type(value) is Whatever, parts


_WHATEVER = (True, frozenset[Any]())


class Patched(Ground):
    """A program in which utilities send lists even where somebody else does too."""

    def __init__(self, program: Program, graph: LoadoutGraph) -> None:
        super().__init__(program)
        self.graph = graph

    @cached_property
    def choices(self) -> Mapping[str, tuple[Choice, ...]]:
        found = dict(super().choices)
        for id_, socket in self.graph.sockets.items():
            utility = socket.materia
            if isinstance(utility, model.UtilityMateria) and self._patches(utility):
                verdicts = dict.fromkeys(choice.verdict for choice in found[id_])
                lengths = [((("xs",), length),) for length in LENGTHS]
                found[id_] = tuple(Choice(id_, verdict, sent) for verdict in verdicts for sent in lengths)
        return found

    def _patches(self, utility: model.UtilityMateria) -> bool:
        lists = [loop.items for loop in self.program.loops.values()]
        if utility.command is None:
            return False
        return "state.xs" in lists and ("xs" in utility.writes or "writes" not in utility.model_fields_set)


Place = tuple[str, ...]
Tags = frozenset[tuple[Place, str]]
"""Assignments whose values are in the state: their targets, and the sockets."""


@dataclass(frozen=True)
class Cast:
    """A walker with its state; `kept` is what is there again when streams are done."""

    walker: Walker
    state: dict[str, Any]
    spoken: bool = False
    kept: tuple[dict[str, Any], bool, Tags] | None = None
    tags: Tags = frozenset()


class Casts:
    """All casts of a loadout. `unwritten` are the reads without a value: node and place.

    `made` and `seen` are the assignments that some cast carries out, and those that something sees.
    """

    def __init__(self, graph: LoadoutGraph, materia: dict[str, model.Materia], cycles: int) -> None:
        frame = model.Frame.model_validate({"limits": {"maxNoAdvanceCycles": cycles}})
        self.graph, self.program = graph, lower(graph, frame, materia).program
        self.ground = Patched(self.program, graph)
        self.unwritten: set[tuple[str, Place]] = set()
        self.made: set[tuple[Place, str]] = set()
        self.seen: set[tuple[Place, str]] = set()
        self.complete = self._explore()

    def _explore(self) -> bool:
        start = Cast(Walker.start(self.ground), {})
        seen, waiting = {self._standing(start)}, [start]
        while waiting:
            for cast in self._steps(waiting.pop()):
                standing = self._standing(cast)
                if standing not in seen:
                    seen.add(standing)
                    waiting.append(cast)
            if len(seen) > MOST:
                return False
        return True

    def _standing(self, cast: Cast) -> object:
        kept = cast.kept and (_frozen(cast.kept[0]), *cast.kept[1:])
        known = _frozen(cast.state), cast.spoken, cast.tags
        return cast.walker.standing(self.ground.bounded, guard=True), known, kept

    def _steps(self, cast: Cast) -> Iterator[Cast]:
        cast = self._out_of_streams(cast)
        walker = cast.walker.fork()
        at = walker.at
        step = walker.come()
        if step is not None:
            loop = self.graph.loop_of(at)
            if step.status != "failed" and loop is not None:
                self._look(f"past:{loop.id}", loop.items, cast.state)
                self._go_through(loop, cast.tags)
                if step.status is None and not self._is_astray(at, walker.at, "empty"):
                    yield replace(cast, walker=walker)
            return
        self._go_through(self.graph.loop_of(at), cast.tags)
        visited = self._visit(at, replace(cast, state=deepcopy(cast.state)))
        for choice in self.ground.choices[at]:
            if not all(self._holds(list_, visited.state) for list_, length in choice.lengths if length):
                continue  # a list that the utility does not say that it sends
            after = walker.fork()
            step = after.answer(choice)
            kind = step.covers[-1][0]
            if step.status is None and not self._is_astray(at, after.at, kind):
                yield replace(visited, walker=after, state=deepcopy(visited.state))

    def _go_through(self, loop: LoopView | None, tags: Tags) -> None:
        path = loop.path if loop is not None else None
        self.seen |= {tag for tag in tags if path is not None and _touch(tag[0], path.segments)}

    def _holds(self, list_: tuple[str, ...], state: dict[str, Any]) -> bool:
        return accesses(self.graph).is_given(("state", *list_)) or read(state, list_) is not MISSING

    def _members(self) -> set[str]:
        return {id_ for region in self.program.regions.values() for id_ in region.sockets(self.program)}

    def _is_astray(self, at: str, to: str, kind: str) -> bool:
        members = self._members()
        return at in members and to not in members and kind not in ("exit", "done")

    def _out_of_streams(self, cast: Cast) -> Cast:
        if cast.kept is None or cast.walker.at in self._members():
            return cast
        state = deepcopy(cast.kept[0])
        state[FAN_IN] = Whatever()
        return replace(cast, state=state, spoken=cast.kept[1], kept=None, tags=cast.kept[2])

    def _visit(self, at: str, cast: Cast) -> Cast:
        socket, state, tags = self.graph.sockets[at], cast.state, cast.tags
        if not isinstance(socket.materia, model.UtilityMateria) or socket.materia.utility is None:
            self.seen |= tags  # agents are shown them, programs are given them; built-ins do not look
        if isinstance(socket.materia, model.AgentMateria):
            for reference in references(socket.materia.prompt):
                self._look_bare(at, reference.name, state)
        spoken = cast.spoken or socket.parse == "json"
        if isinstance(socket.materia, model.UtilityMateria):
            state.update({key: Whatever() for key in socket.materia.writes})
            if socket.materia.command and "writes" not in socket.materia.model_fields_set:
                state = Whatever()
                spoken = True
        for part in socket.assign:
            tags = self._assign(at, part, state, tags, spoken=spoken)
        kept = (deepcopy(state), spoken, tags) if at in self.program.regions else cast.kept
        return replace(cast, state=state, spoken=spoken, kept=kept, tags=tags)

    def _look_bare(self, at: str, name: str, state: dict[str, Any]) -> None:
        path = parse_source(name)
        if path.root == "state" and (not path.bare or path.segments[0] in self.program.state_keys):
            self._look(at, name, state)

    def _look(self, node: str, source: str, state: dict[str, Any]) -> Any:
        segments = parse_source(source).segments
        value = read(state, segments)
        place = ("state", *segments)
        if value is MISSING and not accesses(self.graph).is_given(place):
            self.unwritten.add((node, place))
        return value

    def _assign(self, at: str, part: Assignment, state: dict[str, Any], tags: Tags, *, spoken: bool) -> Tags:
        path, socket, target = parse_source(part.source), self.graph.sockets[at], parse_target(part.target)
        value: Any = Whatever()
        if path.root == "state":
            value = self._look(at, part.source, state)
            self.seen |= {tag for tag in tags if _touch(tag[0], path.segments)}
        elif part.source in {"lastOutput", "$.context"} or (part.source == "$" and socket.parse == "text"):
            value = "text"
        elif (path.root == "lastJson" and not spoken) or (path.root == "item" and socket.loop is None):
            value = MISSING
        if value is MISSING:
            return tags
        write(state, target, value)
        self.made.add((target, at))
        return frozenset({tag for tag in tags if tag[0][: len(target)] != target} | {(target, at)})


def _touch(one: Place, other: Place) -> bool:
    return all(a == b for a, b in zip(one, other, strict=False))
