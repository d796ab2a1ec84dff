from __future__ import annotations

import itertools
import shutil
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import answers, cast, loadout, socket
from transitions.core import Event

from materiac.machine import FAILED, START, WAITING, Grid, Way
from materiac.program import (
    END,
    Advance,
    Agent,
    Budget,
    Edge,
    Exit,
    Loop,
    Materia,
    Program,
    Socket,
)

MATERIA = {"M": Materia("M", "M", agent=Agent("p"))}


@dataclass
class Facts:
    """What came of one visit."""

    failed: bool = False
    waiting: bool = False
    skipped: bool = False
    used_up: bool = False
    verdict: bool | None = None
    over_budget: bool = False
    spent: frozenset[int] = frozenset()
    unfinished: bool = False


@dataclass
class Walk:
    """A driver that is told beforehand what comes of each visit of a socket."""

    facts: Mapping[str, list[Facts]] = field(default_factory=dict)
    path: list[str] = field(default_factory=list)
    ways: list[Way] = field(default_factory=list)
    now: Facts = field(default_factory=Facts)

    def enter(self, socket: Socket) -> None:
        visit = self.path.count(socket.id)
        self.path.append(socket.id)
        listed = self.facts.get(socket.id, [Facts()])
        self.now = listed[min(visit, len(listed) - 1)]

    def leave(self, way: Way) -> None:
        self.ways.append(way)

    def failed(self) -> bool:
        return self.now.failed

    def waiting(self) -> bool:
        return self.now.waiting

    def skipped(self) -> bool:
        return self.now.skipped

    def used_up(self) -> bool:
        return self.now.used_up

    def verdict(self) -> bool | None:
        return self.now.verdict

    def over_budget(self, to: str) -> bool:
        return self.now.over_budget and to != END

    def spent(self, source: str, index: int, edge: Edge) -> bool:
        assert edge.max_traversals is not None
        assert source == self.path[-1]
        return index in self.now.spent

    def unfinished(self) -> bool:
        return self.now.unfinished


def program(*sockets: Socket, loops: tuple[Loop, ...] = (), budget: Budget | None = None) -> Program:
    return Program(
        "L",
        sockets[0].id,
        {socket.id: socket for socket in sockets},
        MATERIA,
        {loop.id: loop for loop in loops},
        budget or Budget(),
    )


def drive(grid: Grid, limit: int = 100) -> None:
    for _ in range(limit):
        if grid.over:
            return
        grid.step()
    pytest.fail(f"not over after {limit} steps")


def kinds(walk: Walk) -> list[str]:
    return [f"{way.kind} {way.to}" for way in walk.ways]


WHENS = ("always", "satisfied", "not_satisfied")
EDGES = (
    Edge("satisfied", "x", max_traversals=1),
    Edge("not_satisfied", "y"),
    Edge("always", "z", max_traversals=1),
)
EXITS = (
    Exit("1", "a", "always", "t"),
    Exit("2", "a", "satisfied", "s"),
    Exit("3", "a", "not_satisfied", "n"),
    Exit("4", "b", "satisfied", "z"),
)


def looping(exits: tuple[Exit, ...] = EXITS, advance: Advance | None = None, **rest: Any) -> Program:
    loop = Loop("l", ("a", "b"), "state.workItems", "item", "i", "d", "e", exits)
    a = Socket("a", "M", "json", edges=EDGES, loop="l", advance=advance or Advance())
    others = [Socket(id_, "M", "text", loop="l" if id_ == "b" else None) for id_ in "bxyzstnde"]
    return program(a, *others, loops=(loop,), **rest)


def with_property(built: Program) -> Program:
    return replace(built, properties=({"never": "end", "before": "b"},))


SPENDING = Budget(max_tokens=5)
WAITING_BUDGET = Budget(max_cost_usd=5, stop_at_limit=False)

ROUTES: dict[str, tuple[Program, Facts, str, str]] = {
    "an edge": (looping(), Facts(verdict=True), "edge", "x"),
    "the edge that holds": (looping(), Facts(verdict=False), "edge", "y"),
    "an unconditional edge": (looping(), Facts(), "edge", "z"),
    "no edge": (program(Socket("a", "M", "text")), Facts(), "end", END),
    "no edge that holds": (
        program(Socket("a", "M", "json", edges=(Edge("satisfied", "a"),))),
        Facts(verdict=False),
        "end",
        END,
    ),
    "the exit of a verdict": (looping(), Facts(used_up=True, verdict=True), "exit", "s"),
    "the exit of the other": (looping(), Facts(used_up=True, verdict=False), "exit", "n"),
    "the exit without a verdict": (looping(), Facts(used_up=True), "exit", "t"),
    "an exit for want of another": (looping(EXITS[:1]), Facts(used_up=True, verdict=True), "exit", "t"),
    "no exit": (looping(()), Facts(used_up=True, verdict=True), "done", "d"),
    "exits of others": (looping(EXITS[3:]), Facts(used_up=True, verdict=True), "done", "d"),
    "its own done": (looping((), Advance(done="t")), Facts(used_up=True), "done", "t"),
    "an empty loop": (looping(), Facts(skipped=True), "empty", "e"),
    "a failure": (looping(), Facts(failed=True, used_up=True, verdict=True), "failed", FAILED),
    "a wait": (looping(), Facts(waiting=True, verdict=True), "waiting", WAITING),
    "a spent edge": (looping(), Facts(verdict=True, spent=frozenset({0})), "limit", FAILED),
    "another edge is spent": (looping(), Facts(verdict=True, spent=frozenset({2})), "edge", "x"),
    "a spent budget": (looping(budget=SPENDING), Facts(verdict=False, over_budget=True), "budget", FAILED),
    "a spent budget that waits": (
        looping(budget=WAITING_BUDGET),
        Facts(verdict=False, over_budget=True),
        "budget",
        WAITING,
    ),
    "a spent budget at an exit": (
        looping(budget=SPENDING),
        Facts(used_up=True, over_budget=True),
        "budget",
        FAILED,
    ),
    "budget before limit": (
        looping(budget=SPENDING),
        Facts(verdict=True, over_budget=True, spent=frozenset({0})),
        "budget",
        FAILED,
    ),
    "budget at the end": (
        program(Socket("a", "M", "text"), budget=SPENDING),
        Facts(over_budget=True),
        "end",
        END,
    ),
    "budget at an edge to the end": (
        program(Socket("a", "M", "text", edges=(Edge("always", END),)), budget=SPENDING),
        Facts(over_budget=True),
        "edge",
        END,
    ),
    "an end that breaks a property": (
        with_property(program(Socket("a", "M", "text"))),
        Facts(unfinished=True),
        "property",
        FAILED,
    ),
    "an edge to an end that breaks a property": (
        with_property(program(Socket("a", "M", "text", edges=(Edge("always", END),)))),
        Facts(unfinished=True),
        "property",
        FAILED,
    ),
    "a property at a step to a socket": (
        with_property(looping()),
        Facts(verdict=True, unfinished=True),
        "edge",
        "x",
    ),
    "limit before property": (
        with_property(program(Socket("a", "M", "text", edges=(Edge("always", END, 1),)))),
        Facts(spent=frozenset({0}), unfinished=True),
        "limit",
        FAILED,
    ),
}


@pytest.mark.parametrize("name", ROUTES)
def test_the_next_step(name: str) -> None:
    built, facts, kind, to = ROUTES[name]
    walk = Walk({"a": [facts]})
    grid = Grid(built, walk)
    assert (grid.at, grid.over) == (START, False)
    grid.step()
    assert (grid.at, walk.path, kinds(walk)) == ("a", ["a"], ["start a"])
    grid.step()
    way = walk.ways[-1]
    assert (way.kind, way.source, way.to, grid.at) == (kind, "a", to, to)
    assert walk.path == ["a", to] if to in built.sockets else ["a"]
    assert grid.over is (to in (END, FAILED, WAITING))


KINDS = {"start", "edge", "exit", "done", "empty", "end", "failed", "waiting", "budget", "limit", "property"}


def test_every_kind_of_step_is_taken() -> None:
    taken = {kind for _, _, kind, _ in ROUTES.values()} | {"start"}
    assert taken == KINDS


def test_a_blocked_step_says_what_it_blocks() -> None:
    walk = Walk({"a": [Facts(verdict=True, spent=frozenset({0}))]})
    drive(Grid(looping(), walk))
    blocked = walk.ways[-1].blocked
    assert blocked == Way("edge", "a", "x", "satisfied", EDGES[0], 0)


@st.composite
def facts(draw: st.DrawFn) -> Facts:
    flag = st.booleans()
    return Facts(
        used_up=draw(flag),
        verdict=draw(st.sampled_from([True, False, None])),
        spent=draw(st.frozensets(st.sampled_from([0, 1, 2]))),
    )


def _holds(when: str, verdict: bool | None) -> bool:
    return {"always": True, "satisfied": verdict is True, "not_satisfied": verdict is False}[when]


def expected(edges: tuple[Edge, ...], exits: tuple[Exit, ...], done: Facts) -> tuple[str, str]:
    """The rule of the language, in its own words."""
    if done.used_up:
        exact = {True: "satisfied", False: "not_satisfied", None: "always"}[done.verdict]
        for condition in (exact, "always"):
            for route in exits:
                if route.condition == condition:
                    return "exit", route.to
        return "done", "d"
    for index, edge in enumerate(edges):
        if _holds(edge.when, done.verdict):
            over = edge.max_traversals is not None and index in done.spent
            return ("limit", FAILED) if over else ("edge", edge.to)
    return "end", END


_EDGE = st.builds(Edge, st.sampled_from(WHENS), st.sampled_from("xyz"), st.sampled_from([None, 1]))
_EXIT = st.builds(Exit, st.just(""), st.just("a"), st.sampled_from(WHENS), st.sampled_from("stn"))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(_EDGE, max_size=3).map(tuple),
    st.lists(_EXIT, max_size=3, unique_by=lambda route: route.condition).map(tuple),
    facts(),
)
def test_the_first_step_that_holds_is_taken(
    edges: tuple[Edge, ...], exits: tuple[Exit, ...], done: Facts
) -> None:
    loop = Loop("l", ("a",), "state.workItems", "item", "i", "d", "e", exits)
    a = Socket("a", "M", "json", edges=edges, loop="l", advance=Advance())
    walk = Walk({"a": [done]})
    grid = Grid(program(a, *(Socket(id_, "M", "text") for id_ in "xyzstnde"), loops=(loop,)), walk)
    grid.step()
    grid.step()
    assert (walk.ways[-1].kind, walk.ways[-1].to) == expected(edges, exits, done)


NAMES = (
    *("state", "trigger", "step", "failed", "waiting", "start", "to_end", "may_step", "model", "is_s0"),
    *("None", "s0", "s1", "s99", "initial", "True", "*", "=", "events", "__init__", "a.b", "日本"),
)


@pytest.mark.parametrize("name", NAMES)
def test_a_socket_may_have_any_name(name: str) -> None:
    walk = Walk({name: [Facts(verdict=False), Facts(verdict=True)]})
    edges = (Edge("not_satisfied", name), Edge("always", "next"))
    grid = Grid(program(Socket(name, "M", "json", edges=edges), Socket("next", "M", "text")), walk)
    seen = []
    while not grid.over:
        grid.step()
        seen.append(grid.at)
    assert seen == [name, name, "next", END]
    assert walk.path == [name, name, "next"]


def test_all_those_names_at_once_in_the_runtime(tmp_path: Path) -> None:
    names = [name for name in NAMES if name not in ("*", "=")]
    sockets = {a: socket(edges=[{"to": b}]) for a, b in itertools.pairwise(names)}
    result = cast(loadout({**sockets, names[-1]: socket()}), tmp_path, answers())
    assert (result.status, result.cast.path) == ("complete", names)


def chain(length: int) -> Program:
    sockets = [Socket(f"n{i}", "M", "text", edges=(Edge("always", f"n{i + 1}"),)) for i in range(length - 1)]
    return program(*sockets, Socket(f"n{length - 1}", "M", "text"))


def memory(length: int) -> float:
    """Bytes for each socket of a machine."""
    built = chain(length)
    tracemalloc.start()
    try:
        grid = Grid(built, Walk())
        size, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert not grid.over
    return size / length


def test_memory_is_linear() -> None:
    memory(10)
    assert memory(5_000) == pytest.approx(memory(1_000), rel=0.2)


def test_a_long_chain_comes_to_its_end() -> None:
    walk = Walk()
    drive(Grid(chain(5_000), walk), limit=5_002)
    assert len(walk.path) == 5_000


@pytest.fixture
def memory_path(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory, where there is one: a long cast syncs its journal very often."""
    base = Path("/dev/shm")  # noqa: S108
    folder = Path(tempfile.mkdtemp(dir=base)) if base.is_dir() else tmp_path
    yield folder
    shutil.rmtree(folder)


@pytest.mark.slow
def test_a_long_chain_comes_to_its_end_in_the_runtime(memory_path: Path) -> None:
    sockets = {f"n{i}": socket(edges=[{"to": f"n{i + 1}"}]) for i in range(4_999)}
    result = cast(loadout({**sockets, "n4999": socket()}), memory_path, answers())
    assert result.status == "complete"
    assert len(result.cast.path) == 5_000


def test_callbacks_never_fire_the_trigger(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each step is one call of the trigger from outside, and none begins within another."""
    depth, deepest, calls = 0, 0, 0
    original: Callable[..., bool] = Event.trigger

    def trigger(self: Event, *args: Any, **kwargs: Any) -> bool:
        nonlocal depth, deepest, calls
        depth, calls = depth + 1, calls + 1
        deepest = max(deepest, depth)
        try:
            return original(self, *args, **kwargs)
        finally:
            depth -= 1

    monkeypatch.setattr(Event, "trigger", trigger)
    grid = Grid(chain(20), Walk())
    drive(grid)
    assert (deepest, calls) == (1, 21)


def test_the_machine_asks_and_does_not_remember() -> None:
    """Questions are answered anew each time: the driver alone knows."""
    walk = Walk({"a": [Facts(verdict=False), Facts(verdict=False), Facts(verdict=True)]})
    edges = (Edge("satisfied", "b"), Edge("not_satisfied", "a"))
    drive(Grid(program(Socket("a", "M", "json", edges=edges), Socket("b", "M", "text")), walk))
    assert walk.path == ["a", "a", "a", "b"]
