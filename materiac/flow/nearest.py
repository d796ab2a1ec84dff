"""A shortest way to every node at once, and to which of them a cast can go for certain.

Where such a way has each socket once, uses up no item, and needs of no list that it is empty and is not, no
limit can be in its way: budgets and visit limits allow one time, and the stall guard sees no cycle.
"""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Iterable
from typing import Final, NamedTuple

from materiac.flow.ground import Ground
from materiac.names import END
from materiac.routes import Route

MOST_LISTS: Final = 20
"""Of more lists than this nothing is said, for each node keeps it: no way into their loops is certain."""


class List(enum.Enum):
    """What a way says of a list. What is said of one that is sent again is left to others."""

    UNSENT = enum.auto()
    OPEN = enum.auto()
    EMPTY = enum.auto()
    FULL = enum.auto()
    AGAIN = enum.auto()


_PAST: Final = {List.UNSENT: List.EMPTY, List.OPEN: List.EMPTY, List.EMPTY: List.EMPTY}
_INTO: Final = {List.OPEN: List.FULL, List.FULL: List.FULL}
_SENT: Final = {List.UNSENT: List.OPEN, List.OPEN: List.OPEN}


class Arrival(NamedTuple):
    """How a node is come to first: from where, and what is said of lists then, None if it is not certain."""

    before: str | None
    lists: tuple[List, ...] | None


class Nearest:
    """The shortest ways over the routes of a ground; `came` has the nodes in the order of their distance."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        loops = ground.graph.loops.values()
        self._paths = {ground.list_of(loop): loop.path for loop in loops}
        self._places = {fact: place for place, fact in enumerate(self._paths) if place < MOST_LISTS}
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
        lists = (List.UNSENT,) * len(self._places) if node is None else self._left(node)
        found: dict[str, tuple[List, ...] | None] = {}
        for route in routes:
            if route.target != END and route.target not in self.came:
                after = None if lists is None else self._after(route, lists)
                if found.get(route.target) is None:
                    found[route.target] = after
        self.came.update((target, Arrival(node, after)) for target, after in found.items())
        return list(found)

    def _after(self, route: Route, lists: tuple[List, ...]) -> tuple[List, ...] | None:
        """What is said of lists behind a step; None where it is not certain that it can be taken."""
        if route.progress or route.used_up:
            return None
        passed = self._ground.graph.ways_past.get(route.target)
        loop = passed or self._ground.graph.loop_of(route.target)
        if loop is None:
            return lists
        place = self._places.get(self._ground.list_of(loop))
        said = (_INTO if passed is None else _PAST).get(lists[place]) if place is not None else None
        return None if place is None or said is None else (*lists[:place], said, *lists[place + 1 :])

    def _left(self, node: str) -> tuple[List, ...] | None:
        """What is said of lists behind a visit, which may send some."""
        lists = self.came[node].lists
        socket = self._ground.graph.sockets.get(node)
        if lists is None or socket is None:
            return lists
        found = list(lists)
        for fact, place in self._places.items():
            path = self._paths[fact]
            if self._ground.sends(socket, path):
                found[place] = _SENT.get(lists[place], List.AGAIN)
            elif lists[place] is List.UNSENT and self._ground.offers(socket, path):
                found[place] = List.OPEN
        return tuple(found)
