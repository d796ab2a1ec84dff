"""TITLE

It needs Python 3.11 and `transitions`. Say how a visit is performed, and run it:

    def perform(socket, context):
        ...  # ask an agent, run a program: context holds what is known
        return {"satisfied": True}  # or a text

    cast = Cast(perform, "the request").run()
    print(cast.status, cast.failure, cast.path, cast.state)
"""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from transitions import EventData, Machine, State

PROGRAM: dict[str, Any] = {}

START, END, FAILED = "<start>", "end", "<failed>"
MISSING: Any = object()
KNOWN = {"workItems": list, "satisfied": bool, "context": str, "text": str}
ROOTS = ("$", "state", "item", "lastOutput", "lastJson", "cursor")

Json = dict[str, Any]
Perform = Callable[[str, Json], Json | str]
Condition = Callable[[EventData], bool | None] | str


class Failed(Exception):
    """Ends the cast. `perform` may raise it too."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind, self.message = kind, message


@dataclass
class Place:
    """Where a loop stands."""

    cursor: int = 0
    run: int = 0
    under_way: bool = False
    entered: int = 0
    visited: int = 0


@dataclass
class Scope:
    """What was seen for one item, or for the cast outside of items."""

    cycles: int = 0
    taken: Counter[tuple[str, int]] = field(default_factory=Counter)
    seen: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Step:
    """One way out of a socket."""

    kind: str
    source: str
    to: str
    when: str = "always"
    index: int = -1
    limit: int | None = None


@dataclass
class Outcome:
    """What came of the visit that the machine is at."""

    output: Json | str = ""
    verdict: bool | None = None
    failure: Failed | None = None
    item: tuple[str, int, int] | None = None
    value: Any = None
    skipped: bool = False
    used_up: bool = False


class Position:
    """The model of the machine."""

    state: str


class Cast:
    """One run of the machine. `status` is complete or failed once it is over."""

    def __init__(self, perform: Perform, request: str = "", program: Json = PROGRAM) -> None:
        self.perform, self.request, self.program = perform, request, program
        self.sockets, self.loops = program["sockets"], program["loops"]
        self.state: Json = {}
        self.status = "running"
        self.failure: Failed | None = None
        self.path: list[str] = []
        self.items: list[str | None] = []
        self.visits: Counter[str] = Counter()
        self.last_output: Any = MISSING
        self.last_json: Any = MISSING
        self._places = {id_: Place() for id_ in self.loops}
        self._scopes: dict[Any, Scope] = {None: Scope()}
        self._clock = 0
        self._now = Outcome()
        self._came: tuple[Step, Any] | None = None
        self._position = Position()
        self.machine = self._build()

    def run(self) -> Cast:
        """Go from the entry to the end, or to a failure."""
        while self._position.state not in (END, FAILED):
            self.machine.events["step"].trigger(self._position)
        self.status = "complete" if self._position.state == END else "failed"
        return self

    # The machine: the first transition whose conditions hold is taken.

    def _build(self) -> Machine:
        sockets = [State(id_, on_enter=[self._entering(id_)]) for id_ in self.sockets]
        machine = Machine(
            model=None,
            states=[START, END, FAILED, *sockets],
            initial=START,
            auto_transitions=False,
            send_event=True,
        )
        machine.set_state(START, self._position)
        self._add(machine, Step("start", START, self.program["entry"]), [])
        for id_, socket in self.sockets.items():
            for step, conditions in self._steps(id_, socket):
                self._add(machine, step, conditions)
        return machine

    def _add(self, machine: Machine, step: Step, conditions: list[Condition]) -> None:
        def leave(_: EventData) -> None:
            self._leave(step)

        machine.add_transition("step", step.source, step.to, conditions=conditions, before=[leave])

    def _entering(self, id_: str) -> Callable[[EventData], None]:
        return lambda _: self._enter(id_)

    def _steps(self, id_: str, socket: Json) -> Iterator[tuple[Step, list[Condition]]]:
        yield Step("failed", id_, FAILED), [lambda _: self._now.failure is not None]
        loop = self.loops.get(socket.get("loop"))
        if loop is not None:
            yield Step("empty", id_, loop["empty"]), [lambda _: self._now.skipped]
            if "advance" in socket:
                yield from self._exits(id_, socket, loop)
        for index, edge in enumerate(socket.get("edges", ())):
            step = Step("edge", id_, edge["to"], edge["when"], index, edge.get("max_traversals"))
            holds = self._verdict(edge["when"])
            if step.limit is not None:
                yield Step("limit", id_, FAILED, edge["when"], index, step.limit), [*holds, self._spent(step)]
            yield step, holds
        yield Step("end", id_, END), []

    def _exits(self, id_: str, socket: Json, loop: Json) -> Iterator[tuple[Step, list[Condition]]]:
        mine = [way for way in loop.get("exits", ()) if way["source"] == id_]
        for way in sorted(mine, key=lambda way: bool(way["condition"] == "always")):
            holds = [self._used_up, *self._verdict(way["condition"])]
            yield Step("exit", id_, way["to"], way["condition"]), holds
        yield Step("done", id_, socket["advance"].get("done") or loop["done"]), [self._used_up]

    def _used_up(self, _: EventData) -> bool:
        return self._now.used_up

    def _verdict(self, when: str) -> list[Condition]:
        return [] if when == "always" else [lambda _: holds(when, self._now.verdict)]

    def _spent(self, step: Step) -> Condition:
        limit = step.limit or 0
        return lambda _: self._scope(self._now.item).taken[step.source, step.index] >= limit

    # A visit.

    def _enter(self, id_: str) -> None:
        self._now = Outcome()
        try:
            self._come(id_)
        except Failed as failure:
            self._now.failure = failure

    def _come(self, id_: str) -> None:
        socket = self.sockets[id_]
        loop_id = socket.get("loop")
        if loop_id is not None:
            self._enter_loop(loop_id)
            place = self._places[loop_id]
            listed = self._list(loop_id)
            if place.cursor >= len(listed):
                place.under_way, self._now.skipped = False, True
                return
            self._now.item = (loop_id, place.run, place.cursor)
            self._now.value = listed[place.cursor]
        if not self._came_by_budget():
            self._guard(self._now.item or self._current(), ("socket", id_))
        self._count(id_, socket, loop_id)
        self._take(id_, socket, self.perform(id_, self._context(id_, socket)))
        self._advance(socket, loop_id)
        if self._materia(socket).get("generator"):
            for other, loop in self.loops.items():
                if loop.get("source") == id_:
                    self._places[other].under_way = False

    def _enter_loop(self, loop_id: str) -> None:
        place = self._places[loop_id]
        if place.under_way:
            return
        self._clock += 1
        place.cursor, place.under_way, place.entered = 0, True, self._clock
        place.run += 1
        if not (self._came_by_budget() and self._came is not None and self._came[1] is None):
            self._guard(None, ("loop", loop_id))

    def _came_by_budget(self) -> bool:
        return self._came is not None and self._came[0].limit is not None

    def _current(self) -> Any:
        """The item of the loop under way that was visited last, for visits outside of loops."""
        live = [(p.visited, id_) for id_, p in self._places.items() if p.under_way and p.visited]
        if not live:
            return None
        place = self._places[max(live)[1]]
        return (max(live)[1], place.run, place.cursor)

    def _scope(self, item: Any) -> Scope:
        return self._scopes.setdefault(item, Scope())

    def _guard(self, item: Any, landmark: tuple[str, str]) -> None:
        """The stall guard: coming back without an advance closes a cycle, and cycles are counted."""
        scope = self._scope(item)
        if landmark not in scope.seen:
            scope.seen.append(landmark)
            return
        scope.cycles += 1
        scope.seen = [landmark]
        if scope.cycles > self.program["max_no_advance_cycles"]:
            raise Failed("stalled", f"'{landmark[1]}' has been come back to without an advance")

    def _count(self, id_: str, socket: Json, loop_id: str | None) -> None:
        limit = socket.get("max_visits")
        if limit is not None and self.visits[id_] >= limit:
            raise Failed("visit-limit", f"'{id_}' has been visited {limit} times")
        if loop_id is not None:
            self._clock += 1
            self._places[loop_id].visited = self._clock
        self.visits[id_] += 1
        self.path.append(id_)
        self.items.append(self._key())

    def _context(self, id_: str, socket: Json) -> Json:
        return {
            "request": self.request,
            "socket": id_,
            "visit": self.visits[id_],
            "materia": {"name": socket["materia"], **self._materia(socket)},
            "parse": socket["parse"],
            "item": copy.deepcopy(self._now.value),
            "itemKey": self._key(),
            "state": copy.deepcopy(self.state),
            "lastOutput": None if self.last_output is MISSING else self.last_output,
            "lastJson": None if self.last_json is MISSING else copy.deepcopy(self.last_json),
        }

    def _materia(self, socket: Json) -> Json:
        materia: Json = self.program["materia"][socket["materia"]]
        return materia

    def _take(self, id_: str, socket: Json, answer: Json | str) -> None:
        output: Json | str
        if socket["parse"] == "json":
            output = self._accepted(id_, socket, answer)
            self._now.verdict = output.get("satisfied")
            self.last_json, self.last_output = output, compact(output)
            self._keep(id_, socket, output)
        else:
            output = answer if isinstance(answer, str) else compact(answer)
            self.last_output = output
        self._now.output = output
        for target, source in socket.get("assign", ()):
            value = self._read(source)
            if value is not MISSING:
                write(self.state, target.split("."), copy.deepcopy(value))

    def _accepted(self, id_: str, socket: Json, answer: Json | str) -> Json:
        found = parsed(answer)
        if found is None:
            raise Failed("output", f"the output of '{id_}' is no JSON object")
        output = {key: value for key, value in found.items() if key != "event"}
        guards = [*socket.get("edges", ()), socket.get("advance", {})]
        sources = [source for _, source in socket.get("assign", ())]
        needs = [source[2:] for source in sources if source.startswith("$.")]
        if any(part.get("when", "always") != "always" for part in guards):
            needs.append("satisfied")
        missing = [path for path in needs if below(output, path.split(".")) is MISSING]
        wrong = [key for key, kind in KNOWN.items() if key in output and not isinstance(output[key], kind)]
        if missing or wrong:
            raise Failed("output", f"the output of '{id_}' lacks or has wrong: {', '.join(missing + wrong)}")
        return output

    def _keep(self, id_: str, socket: Json, output: Json) -> None:
        materia, state = self._materia(socket), self.state
        patch = output.get("state") if "utility" in materia else None
        for key, value in (patch or {}).items():
            if key not in ("workItems", "satisfied", "item"):
                state[key] = copy.deepcopy(value)
        known = {key: copy.deepcopy(output[key]) for key in KNOWN if key in output and key != "text"}
        envelope = state["envelope"] if isinstance(state.get("envelope"), dict) else {}
        state["envelope"] = {**envelope, **known}
        if "workItems" in known and (materia.get("generator") or "workItems" not in state):
            state["workItems"] = copy.deepcopy(known["workItems"])
        if output.get("context", "").strip():
            paragraph = f"[{id_} {materia['label']}] {output['context']}"
            before = state.get("context")
            state["context"] = f"{before}\n\n{paragraph}" if isinstance(before, str) and before else paragraph

    def _advance(self, socket: Json, loop_id: str | None) -> None:
        step = socket.get("advance")
        if step is None or loop_id is None or not holds(step["when"], self._now.verdict):
            return
        place = self._places[loop_id]
        place.cursor += 1
        if place.cursor >= len(self._list(loop_id)):
            place.under_way, self._now.used_up = False, True

    def _leave(self, step: Step) -> None:
        if step.kind == "failed":
            self.failure = self._now.failure
        elif step.kind == "limit":
            self.failure = Failed("edge-limit", f"an edge of '{step.source}' may be taken {step.limit} times")
        elif step.kind == "edge":
            self._traverse(step)
        self._came = (step, self._now.item)

    def _traverse(self, step: Step) -> None:
        scope = self._scope(self._now.item)
        scope.taken[step.source, step.index] += 1
        if step.limit is not None:
            for forgetful in [scope] if self._now.item else list(self._scopes.values()):
                forgetful.seen = []

    # Values.

    def _list(self, loop_id: str) -> list[Any]:
        found = self._read(self.loops[loop_id]["items"], between=True)
        return found if isinstance(found, list) else []

    def _key(self) -> str | None:
        if self._now.item is None:
            return None
        loop_id, _, index = self._now.item
        counted = self.loops[loop_id]["items"] in ("state.workItems", "workItems")
        return f"WI-{index + 1}" if counted else str(index)

    def _read(self, source: str, *, between: bool = False) -> Any:
        """The value of a path. Between visits there is neither an item nor an output."""
        root, *rest = source.split(".")
        loop = self._now.item[0] if self._now.item and not between else None
        if loop is not None and root in ("item", "workItem", self.loops[loop]["alias"]):
            return below(self._now.value, rest)
        if root == "cursor":
            return self._cursor(rest[0], loop)
        roots = {"$": MISSING if between else self._now.output, "state": self.state, "item": MISSING}
        roots |= {"lastOutput": self.last_output, "lastJson": self.last_json}
        return below(roots[root], rest) if root in roots else below(self.state, [root, *rest])

    def _cursor(self, name: str, inside: str | None) -> Any:
        if inside is not None and self.loops[inside]["cursor"] == name:
            return self._places[inside].cursor
        named = [place for id_, place in self._places.items() if self.loops[id_]["cursor"] == name]
        live = [place for place in named if place.under_way]
        return max(live, key=lambda place: place.entered).cursor if live else MISSING


def holds(when: str, verdict: bool | None) -> bool:
    return when == "always" or verdict is (when == "satisfied")


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def parsed(answer: Json | str) -> Json | None:
    try:
        found = json.loads(answer) if isinstance(answer, str) else copy.deepcopy(answer)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def below(value: Any, path: list[str]) -> Any:
    """The value below another; a part of digits is an index where there is a list."""
    for part in path:
        if isinstance(value, dict):
            value = value.get(part, MISSING)
        elif isinstance(value, list) and part.isascii() and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return MISSING
    return value


def write(state: Json, path: list[str], value: Any) -> None:
    """Set a value; what stands in the way becomes an object."""
    for part in path[:-1]:
        if not isinstance(state.get(part), dict):
            state[part] = {}
        state = state[part]
    state[path[-1]] = value
