"""What is called bounded is bounded: every cast of random loadouts is tried, without a stall guard."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from materiac import model
from materiac.flow.termination import free_cycles, growing_lists, item_cycles, repeated_runs, traps
from materiac.graph import LoadoutGraph, SocketView
from materiac.names import END
from materiac.verdict import Verdict

MATERIA: dict[str, model.Materia] = {
    "Plain": model.AgentMateria.model_validate({"prompt": "p"}),
    "Json": model.AgentMateria.model_validate({"prompt": "p", "parse": "json"}),
    "Gen": model.AgentMateria.model_validate({"prompt": "p", "generator": True}),
}
ADVANCE = {"cursor": "workItemIndex", "items": "state.workItems"}
LENGTHS = (0, 1, 2)


def graph_of(sockets: dict[str, Any], loops: dict[str, Any], entry: str) -> LoadoutGraph:
    frame = {"entry": entry, "sockets": sockets, "loops": loops}
    return LoadoutGraph("L", model.Loadout.model_validate(frame), MATERIA)


@dataclass(frozen=True)
class State:
    """Where a cast is: the next socket, the list, the cursors of loops under way, what was counted."""

    at: str
    length: int = 0
    cursors: tuple[tuple[str, int], ...] = ()
    counts: tuple[tuple[Any, int], ...] = ()

    def cursor(self, loop: str) -> int | None:
        return dict(self.cursors).get(loop)

    def with_cursor(self, loop: str, cursor: int | None) -> State:
        """Setting None makes a loop idle, and its items are forgotten."""
        cursors = {**dict(self.cursors), loop: cursor}
        kept = {key: n for key, n in dict(self.counts).items() if cursor is not None or key[-1] != loop}
        return replace(
            self,
            cursors=tuple(sorted((k, v) for k, v in cursors.items() if v is not None)),
            counts=tuple(sorted(kept.items())),
        )

    def counted(self, key: Any, limit: int | None) -> State | None:
        """None where that is once too often."""
        if limit is None:
            return self
        counts = dict(self.counts)
        counts[key] = counts.get(key, 0) + 1
        return None if counts[key] > limit else replace(self, counts=tuple(sorted(counts.items())))


@dataclass
class Casts:
    """All casts of a loadout, one step at a time; None is the end of a cast."""

    graph: LoadoutGraph
    circles: bool = False
    """Whether some cast came past empty loops in a circle."""

    def enter(self, state: State, target: str) -> State | None:
        """The state in which `target`, or what comes past empty loops, is visited."""
        passed = set()
        while target != END:
            loop = self.graph.sockets[target].loop
            if loop is None:
                return replace(state, at=target)
            cursor = state.cursor(loop.id) or 0
            if cursor < state.length:
                return replace(state.with_cursor(loop.id, cursor), at=target)
            if loop.id in passed:
                self.circles = True
                return None
            passed.add(loop.id)
            state, target = state.with_cursor(loop.id, None), loop.empty
        return None

    def after(self, state: State) -> Iterator[State]:
        socket = self.graph.sockets[state.at]
        limits = socket.written.limits
        visited = state.counted(("visits", socket.id, ""), limits.max_visits if limits else None)
        if visited is None:
            return
        for sent in self.sent(visited, socket):
            for verdict in socket.verdicts:
                moved = self.moved(sent, socket, verdict)
                if moved is not None:
                    yield moved

    def sent(self, state: State, socket: SocketView) -> Iterator[State]:
        """What a generator makes of the list."""
        if not socket.generator:
            yield state
            return
        for loop in self.graph.loops.values():
            if loop.source == socket.id:
                state = state.with_cursor(loop.id, None)
        yield from (replace(state, length=length) for length in LENGTHS)

    def moved(self, state: State, socket: SocketView, verdict: Verdict) -> State | None:
        loop = socket.loop
        item = (state.cursor(loop.id) if loop else None) or 0
        if loop is not None and socket.advances(verdict):
            if item + 1 >= state.length:
                exit_ = loop.exit_for(socket.id, verdict)
                own = socket.advance.done if socket.advance else None
                target = exit_.to if exit_ else own or loop.done or END
                return self.enter(state.with_cursor(loop.id, None), target)
            state = state.with_cursor(loop.id, item + 1)
        index = socket.edge_for(verdict)
        if index is None:
            return None
        edge = socket.written.edges[index]
        key = (socket.id, index, item, loop.id if loop else "")
        counted = state.counted(key, edge.max_traversals)
        return self.enter(counted, edge.to) if counted else None


def goes_on_for_ever(graph: LoadoutGraph) -> bool:
    """Whether some cast comes to a state that it was in before."""
    casts = Casts(graph)
    start = casts.enter(State(""), graph.entry)
    if start is None:
        return casts.circles
    on_way, done = {start}, set()
    work = [(start, casts.after(start))]
    while work:
        state, after = work[-1]
        following = next(after, None)
        if following is None:
            work.pop()
            on_way.discard(state)
            done.add(state)
        elif following in on_way:
            return True
        elif following not in done:
            on_way.add(following)
            work.append((following, casts.after(following)))
    return casts.circles


def random_graph(seed: int) -> LoadoutGraph:
    chance = random.Random(seed)  # noqa: S311 (loadouts, no secrets)
    names = [f"s{i}" for i in range(chance.randint(1, 4))]
    everything = ["plan", *names, END]
    members = chance.sample(names, k=chance.randint(0, len(names)))
    sockets = {name: _socket(chance, name in members, everything) for name in names}
    sockets["plan"] = {"materia": "Gen", "edges": [_edge(chance, "always", everything)]}
    loop: dict[str, Any] = {"sockets": members, "consumes": {"from": "plan"}}
    if members and chance.random() < 0.6:
        exits = {"from": chance.choice(members), "condition": "always"}
        loop["exits"] = [{**exits, "targetSocketId": chance.choice(everything)}]
    return graph_of(sockets, {"work": loop} if members else {}, "plan")


def _socket(chance: random.Random, member: bool, targets: list[str]) -> dict[str, Any]:
    guards = chance.choice(
        [["always"], ["satisfied"], ["satisfied", "always"], ["satisfied", "not_satisfied"]]
    )
    socket: dict[str, Any] = {"materia": "Plain" if guards == ["always"] else "Json"}
    socket["edges"] = [_edge(chance, when, targets) for when in guards]
    if member and chance.random() < 0.6:
        done = {"done": chance.choice(targets)} if chance.random() < 0.3 else {}
        when = "always" if guards == ["always"] else "satisfied"
        socket["advance"] = {**ADVANCE, "when": when, **done}
    if chance.random() < 0.1:
        socket["limits"] = {"maxVisits": 2}
    return socket


def _edge(chance: random.Random, when: str, targets: list[str]) -> dict[str, Any]:
    budget = {"maxTraversals": 1} if chance.random() < 0.5 else {}
    return {"when": when, "to": chance.choice(targets), **budget}


def weaknesses(graph: LoadoutGraph) -> int:
    kinds = (traps, repeated_runs, free_cycles, item_cycles, growing_lists)
    return sum(len(list(kind(graph))) for kind in kinds)


@pytest.fixture(scope="module")
def graphs() -> list[LoadoutGraph]:
    return [random_graph(seed) for seed in range(1_000)]


def test_what_is_called_bounded_is_bounded(graphs: list[LoadoutGraph]) -> None:
    bounded = [graph for graph in graphs if not weaknesses(graph)]
    assert [graph.loadout for graph in bounded if goes_on_for_ever(graph)] == []
    with_cycles = [graph for graph in bounded if graph.components(lambda _: True)]
    assert len(with_cycles) > 70, "the loadouts should be worth the trouble"


def test_what_is_not_called_bounded_goes_on_for_ever(graphs: list[LoadoutGraph]) -> None:
    found = [graph for graph in graphs if weaknesses(graph) and not list(traps(graph))]
    endless = [graph for graph in found if goes_on_for_ever(graph)]
    # The few others would need longer lists than are tried.
    assert len(endless) > 0.95 * len(found) > 100


JUDGED = [{"when": "satisfied", "to": "end"}, {"when": "not_satisfied", "to": "a"}]


@pytest.mark.parametrize(
    ("sockets", "cycle", "bound"),
    [
        ({"a": ["b"], "b": JUDGED}, ("a", "b", "a"), ("b", "a")),
        ({"a": JUDGED}, ("a", "a"), ("a", "a")),
        (
            {"a": [{"when": "not_satisfied", "to": "b"}, "end"], "b": ["c"], "c": ["a"]},
            ("a", "b", "c", "a"),
            ("a", "b"),
        ),
    ],
    ids=["edge back", "self edge", "the edge that sends work back"],
)
def test_cycle_and_the_edge_that_would_bound_it(
    sockets: dict[str, list[Any]], cycle: tuple[str, ...], bound: tuple[str, str]
) -> None:
    written = {
        name: {
            "materia": "Json",
            "edges": [edge if isinstance(edge, dict) else {"to": edge} for edge in edges],
        }
        for name, edges in sockets.items()
    }
    [found] = free_cycles(graph_of(written, {}, "a"))
    assert found.nodes == cycle
    assert found.bound is not None
    assert (found.bound.source, found.bound.target) == bound


def test_a_visit_limit_bounds_a_cycle() -> None:
    edges = [{"when": "satisfied", "to": "end"}, {"when": "not_satisfied", "to": "a"}]
    socket = {"materia": "Json", "edges": edges, "limits": {"maxVisits": 3}}
    assert weaknesses(graph_of({"a": socket}, {}, "a")) == 0


def test_large_graphs_take_linear_time() -> None:
    count = 5_000
    edges = [{"when": "satisfied", "to": "s0"}, {"when": "not_satisfied", "to": "s0"}]
    sockets: dict[str, Any] = {
        f"s{i}": {"materia": "Json", "edges": [{"when": "satisfied", "to": f"s{i + 1}"}, edges[1]]}
        for i in range(count)
    }
    sockets[f"s{count}"] = {"materia": "Plain"}
    [cycle] = free_cycles(graph_of(sockets, {}, "s0"))
    assert cycle.nodes == ("s0", "s0")
