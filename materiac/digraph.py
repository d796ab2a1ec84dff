"""Walks and components of directed graphs, without recursion and without a library to load.

A graph is a function or a mapping from a node to the nodes after it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping


def breadth_first(starts: Iterable[str], after: Callable[[str], Iterable[str]]) -> list[str]:
    """Everything that can be reached from `starts`, themselves included, nearest first."""
    return list(_origins(starts, after))


def shortest(
    starts: Iterable[str], goals: Collection[str], after: Callable[[str], Iterable[str]]
) -> list[str]:
    """A shortest way from one of `starts` to one of `goals`, both included; empty where there is none.

    `goals` is asked for membership only.
    """
    came: dict[str, str | None] = {}
    for at in _walk(starts, after, came):
        if at in goals:
            return _trace(came, at)
    return []


def _origins(starts: Iterable[str], after: Callable[[str], Iterable[str]]) -> dict[str, str | None]:
    came: dict[str, str | None] = {}
    for _ in _walk(starts, after, came):
        pass
    return came


def _walk(
    starts: Iterable[str], after: Callable[[str], Iterable[str]], came: dict[str, str | None]
) -> Iterator[str]:
    """Breadth first; `came` is filled with where each node was first come to from."""
    came.update(dict.fromkeys(starts))
    queue = deque(came)
    while queue:
        at = queue.popleft()
        yield at
        for target in after(at):
            if target not in came:
                came[target] = at
                queue.append(target)


def _trace(came: Mapping[str, str | None], at: str | None) -> list[str]:
    way = []
    while at is not None:
        way.append(at)
        at = came[at]
    return way[::-1]


def strong_components(after: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """The strongly connected components of a directed graph, in no useful order.

    Every target is a key of `after` too. Tarjan's algorithm (SIAM Journal on Computing 1, 1972),
    without recursion.
    """
    return list(_Search(after).run())


class _Search:
    def __init__(self, after: Mapping[str, Iterable[str]]) -> None:
        self.after = after
        self.number: dict[str, int] = {}
        self.low: dict[str, int] = {}
        self.open: dict[str, None] = {}
        self.work: list[tuple[str, Iterator[str]]] = []

    def run(self) -> Iterator[list[str]]:
        for root in self.after:
            if root not in self.number:
                self._enter(root)
                yield from self._search()

    def _enter(self, node: str) -> None:
        self.number[node] = self.low[node] = len(self.number)
        self.open[node] = None
        self.work.append((node, iter(self.after[node])))

    def _search(self) -> Iterator[list[str]]:
        while self.work:
            at, targets = self.work[-1]
            target = next((t for t in targets if t not in self.number or t in self.open), None)
            if target is None:
                self.work.pop()
                if self.work:
                    self._lower(self.work[-1][0], self.low[at])
                if self.low[at] == self.number[at]:
                    yield self._close(at)
            elif target in self.number:
                self._lower(at, self.number[target])
            else:
                self._enter(target)

    def _lower(self, node: str, number: int) -> None:
        self.low[node] = min(self.low[node], number)

    def _close(self, root: str) -> list[str]:
        part: list[str] = []
        while not part or part[-1] != root:
            part.append(self.open.popitem()[0])
        return part
