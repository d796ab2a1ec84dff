"""What comes of a cast, as a program that is as plain as it can be: an oracle for the runtime.

It takes a file as JSON values (sound, in the forms of today and with the early `exit`) and what its
sockets answer, and says what is observed. It has no machine, no journal, no prompt and no process, and
shares no code with what it is compared to: a utility is a socket whose answers are given, like an agent's.
"""

from __future__ import annotations

import copy
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from plain_loadout import END, Loadout, Loop
from plain_values import KNOWN, MISSING, Json, below, compact, holds, is_work_item, whole_object, write

Answer = str | Json
Find = Callable[[str], Json | None]
Place = tuple[str, int, int] | None
"""An item: its loop, which run of the loop, its index. None stands for the cast."""


class Failed(Exception):
    """The end of a cast that fails; its one argument is the kind."""


class Waits(Exception):
    """The end of a cast that waits for a person."""


@dataclass
class Outcome:
    """What is observed of a cast. `rework` has the reasons that a visit is shown, by `socket#visit`."""

    status: str = ""
    failure: str | None = None
    path: list[str] = field(default_factory=list)
    items: list[str | None] = field(default_factory=list)
    visits: Counter[str] = field(default_factory=Counter)
    traversals: Counter[str] = field(default_factory=Counter)
    cursors: dict[str, int] = field(default_factory=dict)
    data: Json = field(default_factory=dict)
    rework: dict[str, list[str]] = field(default_factory=dict)


@dataclass
class Progress:
    """How far a loop has got. `entered` and `visited` say which loop it was last."""

    cursor: int = 0
    run: int = 0
    under_way: bool = False
    entered: int = 0
    visited: int = 0


@dataclass
class Scope:
    """What the stall guard knows of the cast or of one item."""

    remembered: set[tuple[str, str]] = field(default_factory=set)
    cycles: int = 0


@dataclass(frozen=True)
class Route:
    """Where control goes. If an edge leads there: which, the item of the visit that takes it, and why."""

    to: str
    source: str = ""
    edge: Json = field(default_factory=dict)
    taker: Place = None
    reason: str = ""

    @property
    def budget(self) -> int | None:
        return self.edge.get("maxTraversals")

    @property
    def is_rework(self) -> bool:
        return self.edge.get("when") == "not_satisfied"


@dataclass(frozen=True)
class Visit:
    """A socket at work, on an item where it is in a loop."""

    socket: str
    loop: Loop | None
    place: Place
    item: Any


def interpret(config: Json, loadout: str, script: Json, find: Find = whole_object) -> Outcome:
    """Run a loadout of a file. `script` is as the scripted agent reads it; `find` finds objects in texts."""
    return _Cast(Loadout(config, loadout), script, find).outcome()


class _Cast:
    def __init__(self, loadout: Loadout, script: Json, find: Find) -> None:
        self.loadout, self.script, self.find = loadout, script, find
        self.seen = Outcome()
        self.state = self.seen.data
        self.progress = {loop.id: Progress() for loop in loadout.loops}
        self.clock = self.tokens = 0
        self.cost = 0.0
        self.turns: Counter[str] = Counter()
        self.last_json: Any = MISSING
        self.last_output: Any = MISSING
        self.scopes: defaultdict[Place, Scope] = defaultdict(Scope)
        self.taken: Counter[tuple[int, Place]] = Counter()
        self.reasons: defaultdict[tuple[str, Place], list[str]] = defaultdict(list)

    def outcome(self) -> Outcome:
        try:
            self.run()
            self.seen.status = "complete"
        except Failed as failed:
            self.seen.status, self.seen.failure = "failed", str(failed)
        except Waits:
            self.seen.status = "waiting"
        by_age = sorted(self.loadout.loops, key=self.age)
        self.seen.cursors = {
            loop.cursor: self.progress[loop.id].cursor for loop in by_age if self.age(loop)[1]
        }
        return self.seen

    def run(self) -> None:
        route = self.arrive(Route(self.loadout.entry))
        while route.to != END:
            visit = self.begin(route)
            output = self.ask(visit)
            self.keep(visit, output)
            route = self.decide(visit, output)
            self.take(route)
            route = self.arrive(route)

    # Coming to a socket.

    def arrive(self, route: Route) -> Route:
        """Enter a loop; the way past one that is found empty is a route of its own, and no edge."""
        while loop := self.loadout.member.get(route.to):
            progress = self.progress[loop.id]
            if not progress.under_way:
                self.enter(loop, route)
            if progress.cursor < len(self.list_of(loop)):
                break
            progress.under_way = False
            route = Route(loop.empty)
        return route

    def enter(self, loop: Loop, route: Route) -> None:
        progress = self.progress[loop.id]
        self.clock += 1
        progress.under_way, progress.cursor, progress.entered = True, 0, self.clock
        progress.run += 1
        if not (route.budget and route.taker is None):
            self.guard(None, ("loop", loop.id))

    def begin(self, route: Route) -> Visit:
        socket, loop = route.to, self.loadout.member.get(route.to)
        place = self.place(loop) if loop else None
        if not route.budget:
            self.guard(place or self.current_item(), ("socket", socket))
        if self.seen.visits[socket] == self.loadout.limit(socket, "maxVisits"):
            raise Failed("visit-limit")
        self.clock += 1
        if loop:
            self.progress[loop.id].visited = self.clock
        self.seen.path.append(socket)
        self.seen.items.append(self.key(loop) if loop else None)
        self.seen.visits[socket] += 1
        self.show_rework(place, route)
        return Visit(
            socket, loop, place, self.list_of(loop)[self.progress[loop.id].cursor] if loop else MISSING
        )

    def guard(self, place: Place, landmark: tuple[str, str]) -> None:
        scope = self.scopes[place]
        if landmark in scope.remembered:
            scope.cycles += 1
            scope.remembered.clear()
            if scope.cycles > self.loadout.most_cycles:
                raise Failed("stalled")
        scope.remembered.add(landmark)

    def current_item(self) -> Place:
        """Whose visits those outside of loops are."""
        loops = [loop for loop in self.loadout.loops if self.progress[loop.id].under_way]
        visited = [loop for loop in loops if self.progress[loop.id].visited]
        return self.place(max(visited, key=lambda loop: self.progress[loop.id].visited)) if visited else None

    def show_rework(self, place: Place, route: Route) -> None:
        another = place is not None and route.taker is not None and place != route.taker
        if route.is_rework and not another and not self.loadout.is_utility(route.to):
            reasons = self.reasons[route.to, route.taker][-5:]
            while len(reasons) > 1 and sum(map(len, reasons)) > 2400:
                del reasons[0]
            self.seen.rework[f"{route.to}#{self.seen.visits[route.to]}"] = reasons

    # An answer.

    def ask(self, visit: Visit) -> Answer:
        text = self.turn(visit.socket)
        if self.loadout.is_talk(visit.socket):
            raise Waits
        if not self.loadout.reads_json(visit.socket):
            return text
        found = self.accepted(visit.socket, text)
        if found is None and not self.loadout.is_utility(visit.socket):
            found = self.accepted(visit.socket, self.turn(visit.socket))
        if found is None:
            raise Failed("output")
        return found

    def turn(self, id_: str) -> str:
        answers = self.script.get("sockets", {}).get(id_, self.script.get("default", "ok"))
        answers = answers if isinstance(answers, list) else [answers]
        answer = answers[min(self.turns[id_], len(answers) - 1)]
        self.turns[id_] += 1
        answer = {"text": answer} if isinstance(answer, str) else answer
        self.tokens += sum(answer.get("usage", {}).get(kind, 0) for kind in ("input", "output"))
        self.cost += answer.get("usage", {}).get("cost", 0)
        return self.within_limit(id_, answer["text"] if "text" in answer else compact(answer["json"]))

    def within_limit(self, id_: str, text: str) -> str:
        """A text of a utility is cut at its limit, whatever else goes over it fails."""
        raw, limit = text.encode(), self.loadout.limit(id_, "maxOutputBytes")
        if limit is None or len(raw) <= limit:
            return text
        if self.loadout.is_utility(id_) and not self.loadout.reads_json(id_):
            return raw[:limit].decode(errors="ignore")
        raise Failed("output-limit")

    def accepted(self, id_: str, text: str) -> Json | None:
        """The object in an answer, without its events, if it keeps the contract of the socket."""
        found = self.find(text)
        if found is None or not all(right(found[key]) for key, right in KNOWN.items() if key in found):
            return None
        found = {key: value for key, value in found.items() if key != "event"}
        needed = [source[2:] for source in self.loadout.assignments(id_).values() if source.startswith("$.")]
        needed += ["satisfied"] if self.loadout.asks_verdict(id_) else []
        if any(below(found, path.split(".")) is MISSING for path in needed):
            return None
        strict = self.loadout.is_generator(id_) or not self.loadout.is_utility(id_)
        return None if strict and not all(map(is_work_item, found.get("workItems", []))) else found

    # What is kept of it.

    def keep(self, visit: Visit, output: Answer) -> None:
        self.last_output = output if isinstance(output, str) else compact(output)
        if not isinstance(output, str):
            self.last_json = output
            self.keep_fields(visit.socket, copy.deepcopy(output))
        for target, source in self.loadout.assignments(visit.socket).items():
            value = self.value(source, visit, output)
            if value is not MISSING:
                write(self.state, target.split("."), value)
        for loop in self.loadout.loops:
            if loop.source == visit.socket:
                self.progress[loop.id].under_way = False

    def keep_fields(self, id_: str, output: Json) -> None:
        if self.loadout.is_utility(id_):
            patch = output.get("state", {})
            self.state.update({k: v for k, v in patch.items() if k not in ("workItems", "satisfied", "item")})
        known = {key: output[key] for key in ("workItems", "satisfied", "context") if key in output}
        self.state["envelope"] = {**self.state.get("envelope", {}), **known}
        if "workItems" in output and (self.loadout.is_generator(id_) or "workItems" not in self.state):
            self.state["workItems"] = copy.deepcopy(output["workItems"])
        if output.get("context", "").strip():
            before = f"{self.state['context']}\n\n" if self.state.get("context") else ""
            self.state["context"] = f"{before}[{id_} {self.loadout.label(id_)}] {output['context']}"

    def value(self, source: str, visit: Visit | None, output: Any = MISSING) -> Any:
        """What a path reads. Between visits there is neither an item nor an output."""
        root, *rest = source.split(".")
        if root in ({"item", "workItem", visit.loop.alias} if visit and visit.loop else {"item"}):
            return below(visit.item, rest) if visit else MISSING
        if root == "cursor":
            return self.cursor(rest[0], visit)
        roots = {"$": output, "state": self.state}
        roots |= {"lastOutput": self.last_output, "lastJson": self.last_json}
        return below(roots[root], rest) if root in roots else below(self.state, [root, *rest])

    def cursor(self, name: str, visit: Visit | None) -> Any:
        if visit and visit.loop and visit.loop.cursor == name:
            return self.progress[visit.loop.id].cursor
        found = [self.progress[loop.id] for loop in self.loadout.loops if loop.cursor == name]
        found = [progress for progress in found if progress.under_way]
        return max(found, key=lambda progress: progress.entered).cursor if found else MISSING

    # Where it goes.

    def decide(self, visit: Visit, output: Answer) -> Route:
        verdict = None if isinstance(output, str) else output.get("satisfied")
        advance = self.loadout.advance(visit.socket)
        if visit.loop and advance is not None and holds(advance.get("when"), verdict):
            progress = self.progress[visit.loop.id]
            progress.cursor += 1
            if progress.cursor >= len(self.list_of(visit.loop)):
                progress.under_way = False
                return Route(self.way_out(visit.loop, visit.socket, advance, verdict))
        for edge in self.loadout.edges(visit.socket):
            if holds(edge.get("when"), verdict):
                return Route(edge["to"], visit.socket, edge, visit.place, self.reason(visit.socket, output))
        return Route(END)

    def way_out(self, loop: Loop, socket: str, advance: Json, verdict: bool | None) -> str:
        """The exit that fits the verdict comes before the one that is always right."""
        for wanted in ("satisfied", "not_satisfied", "always"):
            for route in loop.exits:
                if route.source == socket and route.condition == wanted and holds(wanted, verdict):
                    return route.to
        done: str = advance.get("done") or loop.done
        return done

    def reason(self, id_: str, output: Answer) -> str:
        """Why work goes back: the context, else the output without a `text` that nobody asked for."""
        if isinstance(output, str):
            return output[:900]
        asked = {"$", "$.text"} & {*self.loadout.assignments(id_).values()}
        shown = {key: value for key, value in output.items() if key != "text" or asked}
        return (output.get("context", "").strip() or compact(shown))[:900]

    def take(self, route: Route) -> None:
        """Pay for a route: from the budget of the cast first, unless it ends there, then from the edge's."""
        if not self.leads_to_end(route.to) and self.overspent():
            raise Failed("budget") if self.loadout.budget.get("stopAtLimit", True) else Waits
        if not route.edge:
            return
        self.taken[id(route.edge), route.taker] += 1
        if route.budget and self.taken[id(route.edge), route.taker] > route.budget:
            raise Failed("edge-limit")
        self.seen.traversals[f"{route.source}->{route.to}"] += 1
        if route.budget:
            for scope in [self.scopes[route.taker]] if route.taker else self.scopes.values():
                scope.remembered.clear()
        if route.is_rework:
            self.reasons[route.to, route.taker].append(route.reason)

    def leads_to_end(self, to: str) -> bool:
        passed: set[str] = set()
        while (loop := self.loadout.member.get(to)) and loop.id not in passed:
            progress = self.progress[loop.id]
            if (progress.cursor if progress.under_way else 0) < len(self.list_of(loop)):
                break
            passed.add(loop.id)
            to = loop.empty
        return to == END

    def overspent(self) -> bool:
        tokens, cost = self.loadout.budget.get("maxTokens"), self.loadout.budget.get("maxCostUsd")
        return bool(tokens and self.tokens >= tokens) or bool(cost and self.cost >= cost)

    # Loops.

    def age(self, loop: Loop) -> tuple[bool, int]:
        """Greater for a loop that is under way, and for one that was entered later; 0 for never."""
        return (self.progress[loop.id].under_way, self.progress[loop.id].entered)

    def place(self, loop: Loop) -> Place:
        return (loop.id, self.progress[loop.id].run, self.progress[loop.id].cursor)

    def list_of(self, loop: Loop) -> list[Any]:
        found = self.value(loop.items, None)
        return found if isinstance(found, list) else []

    def key(self, loop: Loop) -> str:
        cursor, counted = self.progress[loop.id].cursor, loop.items in ("state.workItems", "workItems")
        return f"WI-{cursor + 1}" if counted else str(cursor)
