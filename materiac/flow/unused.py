"""Which assignments nothing sees: no prompt, no utility, no path, whatever way a cast goes on.

Backward over the routes of a loadout goes what is still looked at: a number whose bits are the targets of
assignments, joined by `or`. An assignment that certainly writes takes away what lies at its target, or below.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from heapq import heappop, heappush
from typing import Final, NamedTuple

from materiac import model
from materiac.flow.accesses import Act, Place, Read, Write, accesses, builtin_of
from materiac.flow.ground import Ground
from materiac.flow.onward import Onward
from materiac.graph import LoadoutGraph, SocketView
from materiac.path import WORK_ITEMS
from materiac.template import references

_ITEMS: Final = tuple(WORK_ITEMS.split("."))
_ELSEWHERE: Final = (("state", "envelope"), _ITEMS)
"""What prompts do not show with the state."""


class Unused(NamedTuple):
    """An assignment that nothing sees; where a `stream` does it, not even the result of the cast has it."""

    socket: str
    write: Write
    stream: bool


def unused(graph: LoadoutGraph) -> Iterator[Unused]:
    """The assignments that nothing sees, in the order in which casts come to them."""
    seen = _Seen(graph)
    for node in (node for node in graph.reached if node in seen.onward.order):
        for write in seen.unseen(node):
            yield Unused(node, write, node in seen.onward.stream)


class _Seen:
    """What is looked at behind each node, as bits of targets."""

    def __init__(self, graph: LoadoutGraph) -> None:
        self._graph, self._accesses = graph, accesses(graph)
        self.onward = Onward(Ground(graph, 0))
        acts = (act for acts in self._accesses.visits.values() for act in acts)
        targets = dict.fromkeys(act.place for act in acts if isinstance(act, Write) and act.at)
        self._bits = {place: 1 << i for i, place in enumerate(targets)}
        self._below: dict[Place, int] = {}
        for place, bit in self._bits.items():
            for length in range(1, len(place) + 1):
                self._below[place[:length]] = self._below.get(place[:length], 0) | bit
        self._all = self._below.get(("state",), 0)

    def unseen(self, node: str) -> Iterator[Write]:
        """The assignments of a visit that nothing sees."""
        acts = self._accesses.visits.get(node, ())
        behind = self._behind(node)
        for place in range(len(acts) - 1, -1, -1):
            act = acts[place]
            if isinstance(act, Write) and act.at and not self._touching(act.place) & behind:
                yield act
            behind = self._before_act(act, behind)

    def _behind(self, node: str) -> int:
        found = 0
        for target, _ in self.onward.after(node):
            found |= self._before[target]
        return found

    @cached_property
    def _before(self) -> dict[str, int]:
        """What is looked at from each node on, the node included."""
        order = self.onward.order
        sources: dict[str, list[str]] = {}
        for node in order:
            for target, _ in self.onward.after(node):
                sources.setdefault(target, []).append(node)
        found = dict.fromkeys(order, 0)
        effects = {node: self._effect(node) for node in order}
        waiting = sorted((-place, node) for node, place in order.items())
        behind = dict.fromkeys(order, 0)
        while waiting:
            node = heappop(waiting)[1]
            looked, kept = effects[node]
            before = looked | behind[node] & kept
            if before & ~found[node]:
                found[node] = before
                for source in sources.get(node, ()):
                    behind[source] |= before
                    heappush(waiting, (-order[source], source))
        return found

    def _effect(self, node: str) -> tuple[int, int]:
        """What a node looks at, and what of that behind it stays."""
        looked, kept = 0, self._all
        for act in reversed(self._acts(node)):
            looked = self._before_act(act, looked)
            kept = self._before_act(act, kept) if isinstance(act, Write) else kept
        return looked | self._shown(node), kept

    def _acts(self, node: str) -> tuple[Act, ...]:
        loop = self._graph.ways_past.get(node) or self._graph.loop_of(node)
        read = self._accesses.lists.get(loop.id) if loop is not None else None
        return (*((read,) if read else ()), *self._accesses.visits.get(node, ()))

    def _before_act(self, act: Act, behind: int) -> int:
        if isinstance(act, Read):
            return behind | self._touching(act.place)
        if isinstance(act, Write) and act.at and act.copied is None:
            return behind & ~self._below.get(act.place, 0)
        return behind

    def _touching(self, place: Place) -> int:
        """The targets at a place, around it and below it."""
        found = self._below.get(place, 0)
        for length in range(1, len(place)):
            found |= self._bits.get(place[:length], 0)
        return found

    def _shown(self, node: str) -> int:
        """The targets that a visit sees without naming them."""
        socket = self._graph.sockets.get(node)
        if socket is None:
            return 0
        if isinstance(socket.materia, model.UtilityMateria):
            return self._given(socket.materia)
        return self._prompted(socket)

    def _given(self, utility: model.UtilityMateria) -> int:
        """A program gets the whole state; of the built-ins one looks at a part of it."""
        builtin = builtin_of(utility)
        if builtin is None:
            return self._all
        return self._touching(_ITEMS) if builtin == "handoff.checkTitles" else 0

    def _prompted(self, socket: SocketView) -> int:
        agent = socket.materia
        prompt = agent.prompt if isinstance(agent, model.AgentMateria) else "{{state}}"
        if any(reference.name in ("state", "stateJson") for reference in references(prompt)):
            return self._all
        hidden = self._mask(self._below.get(place, 0) for place in _ELSEWHERE)
        return self._all & ~hidden | (self._touching(_ITEMS) if socket.generator else 0)

    def _mask(self, parts: Iterable[int]) -> int:
        found = 0
        for part in parts:
            found |= part
        return found
