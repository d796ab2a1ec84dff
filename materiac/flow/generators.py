"""Which generators a socket has its work items from."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from materiac.digraph import breadth_first

if TYPE_CHECKING:
    from materiac.graph import LoadoutGraph, LoopView

_ENOUGH = 8


class Feeders:
    """The sockets that feed the loops of a loadout.

    A generator feeds a loop if a way leads from it to the loop without passing another generator, or
    the loop itself; so a generator in a loop does not feed that loop.
    """

    def __init__(self, graph: LoadoutGraph) -> None:
        self._graph = graph
        self._nearest = self._spread()

    def only(self, loop: LoopView, generator: str) -> bool:
        """Whether a generator, and no other, feeds a loop."""
        members = frozenset(loop.sockets)
        found: set[str] = set()
        for source in self._outside(loop.sockets, members):
            nearest = self._given(source, self._nearest)
            if len(nearest) >= _ENOUGH:
                return self._exactly(loop) == {generator}
            found |= nearest
        return found - members == {generator}

    def before(self, loop: LoopView) -> list[str]:
        """The sockets before a loop, back to the generators that feed it and with them."""
        members = frozenset(loop.sockets)

        def back(node: str) -> Iterator[str]:
            if node in members or not self._generates(node):
                yield from self._outside([node], members)

        nodes = breadth_first(loop.sockets, back)
        return [node for node in nodes if node in self._graph.sockets and node not in members]

    def _exactly(self, loop: LoopView) -> set[str]:
        return {node for node in self.before(loop) if self._generates(node)}

    def _generates(self, node: str) -> bool:
        socket = self._graph.sockets.get(node)
        return socket is not None and socket.generator

    def _outside(self, nodes: Iterable[str], members: frozenset[str]) -> Iterator[str]:
        for node in nodes:
            yield from (source for source in self._graph.before.get(node, ()) if source not in members)

    def _given(self, node: str, nearest: Mapping[str, frozenset[str]]) -> frozenset[str]:
        return frozenset([node]) if self._generates(node) else nearest.get(node, frozenset())

    def _spread(self) -> dict[str, frozenset[str]]:
        """The nearest generators before each node; no more than enough, so that the time is linear."""
        nearest: dict[str, frozenset[str]] = {}
        waiting = deque(node for node in self._graph.routes if self._generates(node))
        while waiting:
            node = waiting.popleft()
            given = self._given(node, nearest)
            for target in self._graph.after(node):
                known = nearest.get(target, frozenset())
                if len(known) < _ENOUGH and not given <= known:
                    nearest[target] = known | given
                    if not self._generates(target):
                        waiting.append(target)
        return nearest
