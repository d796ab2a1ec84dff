"""A shortest way to every node at once, and to which of them a cast can go for certain.

Where such a way has each socket once, takes edges alone and finds an item wherever it comes into a loop, no
limit can be in its way: budgets and visit limits allow one time, and the stall guard sees no cycle.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from functools import cached_property
from typing import Final, NamedTuple

from materiac.flow.ground import Fact, Ground
from materiac.names import END
from materiac.path import Path
from materiac.routes import Route

MOST_LISTS: Final = 20
"""With more lists than this no way into a loop is certain: what has been sent is kept for each node."""

_NONE: Final[frozenset[Fact]] = frozenset()


class Arrival(NamedTuple):
    """How a node is come to first: from where, if for certain, and which lists have been sent by then."""

    before: str | None
    certain: bool
    sent: frozenset[Fact]


class Nearest:
    """The shortest ways over the routes of a ground; `came` has the nodes in the order of their distance."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self.came: dict[str, Arrival] = {}
        waiting = deque(self._arrive(None, ground.starts))
        while waiting:
            node = waiting.popleft()
            waiting += self._arrive(node, ground.routes[node])

    def way(self, node: str) -> tuple[str, ...]:
        """The nodes of a shortest way to a node, itself included."""
        found: list[str] = []
        at: str | None = node
        while at is not None:
            found.append(at)
            at = self.came[at][0]
        return tuple(reversed(found))

    def _arrive(self, node: str | None, routes: Iterable[Route]) -> list[str]:
        """The nodes that are come to for the first time."""
        before = self.came[node] if node is not None else Arrival(None, certain=True, sent=_NONE)
        sent = before.sent | self._sent(node) if node is not None else _NONE
        found: dict[str, bool] = {}
        for route in routes:
            if route.target != END and route.target not in self.came:
                certain = before.certain and self._is_certain(route, sent)
                found[route.target] = found.get(route.target, False) or certain
        for target, certain in found.items():
            self.came[target] = Arrival(node, certain, sent)
        return list(found)

    def _is_certain(self, route: Route, sent: frozenset[Fact]) -> bool:
        graph = self._ground.graph
        if route.kind not in ("start", "edge") or route.progress or route.target in graph.ways_past:
            return False
        loop = graph.loop_of(route.target)
        return loop is None or self._ground.list_of(loop) in sent

    def _sent(self, node: str) -> frozenset[Fact]:
        """The lists that a visit may put items into."""
        socket = self._ground.graph.sockets.get(node)
        if socket is None or len(self._lists) > MOST_LISTS:
            return _NONE
        sends, offers = self._ground.sends, self._ground.offers
        return frozenset(
            fact for fact, path in self._lists.items() if sends(socket, path) or offers(socket, path)
        )

    @cached_property
    def _lists(self) -> dict[Fact, Path | None]:
        loops = self._ground.graph.loops.values()
        return {self._ground.list_of(loop): loop.path for loop in loops}
