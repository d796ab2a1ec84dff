"""Walks and components of directed graphs, without recursion and without a library to load.

A graph is a function or a mapping from a node to the nodes after it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping


def walk(starts: Iterable[str], after: Callable[[str], Iterable[str]]) -> set[str]:
    """Everything that can be reached from `starts`, breadth first, `starts` included."""
    seen = set(starts)
    queue = deque(seen)
    while queue:
        for target in after(queue.popleft()):
            if target not in seen:
                seen.add(target)
                queue.append(target)
    return seen


def shortest(
    starts: Iterable[str], goals: frozenset[str], after: Callable[[str], Iterable[str]]
) -> list[str]:
    """A shortest way from one of `starts` to one of `goals`, both included; empty where there is none."""
    came: dict[str, str | None] = dict.fromkeys(starts)
    queue = deque(came)
    while queue:
        at = queue.popleft()
        if at in goals:
            return _trace(came, at)
        for target in after(at):
            if target not in came:
                came[target] = at
                queue.append(target)
    return []


def _trace(came: Mapping[str, str | None], at: str | None) -> list[str]:
    way = []
    while at is not None:
        way.append(at)
        at = came[at]
    return way[::-1]


def strong_components(after: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """The strongly connected components of a directed graph, in no useful order.

    Tarjan's algorithm (SIAM Journal on Computing 1, 1972), without recursion.
    """
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    open_: dict[str, None] = {}
    found: list[list[str]] = []
    for root in after:
        if root in number:
            continue
        number[root] = low[root] = len(number)
        open_[root] = None
        work = [(root, iter(after[root]))]
        while work:
            at, targets = work[-1]
            target = next((t for t in targets if t not in number or t in open_), None)
            if target is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[at])
                if low[at] == number[at]:
                    found.append(_close(open_, at))
            elif target in number:
                low[at] = min(low[at], number[target])
            else:
                number[target] = low[target] = len(number)
                open_[target] = None
                work.append((target, iter(after[target])))
    return found


def _close(open_: dict[str, None], root: str) -> list[str]:
    part = []
    while True:
        at, _ = open_.popitem()
        part.append(at)
        if at == root:
            return part
