"""The most that can be gained on ways through a network whose arcs can be taken only so many times.

A way that comes back to where it was is a way and a number of cycles: a flow of one unit and a circulation.
So a circulation of the greatest gain is looked for first; what one more unit gains from each node on is then
a longest way in what it leaves. Flows know nothing of connections: the cycles need not touch the way. So
the gain is one that no way exceeds, and nearly always one that some way has.

The circulation is found by the primal-dual method (Ahuja, Magnanti and Orlin, Network Flows, chapter 9):
the arcs that lead back are filled, which leaves no cycle, and what is too much at one node is sent to where
it is missing along ways of the least loss, as much at once as the tree of these ways lets through.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

_ENDLESS: Final = 1 << 60
MOST_LOOKS: Final = 100_000
"""So many arcs are looked at; after that, what the heights say is told."""


class Arc(NamedTuple):
    """An arc between nodes, which are numbers from 0; it can be taken `most` times, or any number."""

    tail: int
    head: int
    most: int | None
    gain: int


class Circulation:
    """A circulation of the greatest gain; after so many `looks` at arcs, more than the gain of any is told.

    No cycle consists of arcs alone that can be taken any number of times.
    """

    def __init__(self, size: int, arcs: Sequence[Arc], looks: int = MOST_LOOKS) -> None:
        self._arcs, self._size = arcs, size
        self._to: list[int] = []
        self._left: list[int] = []
        self._loss: list[int] = []
        self._out: list[list[int]] = [[] for _ in range(size)]
        for arc in arcs:
            self._add(arc)
        self._height = [0] * size
        self._looks = looks
        is_best = True
        if any(arc.gain for arc in arcs):
            order = _order(size, arcs)
            is_best = self._send(order, self._filled(order))
        self.gain = self._gained() if is_best else self._relaxed()

    def _gained(self) -> int:
        return sum(arc.gain * self._left[2 * i + 1] for i, arc in enumerate(self._arcs))

    def _relaxed(self) -> int:
        """What no circulation exceeds: each arc that is level or less pays for what its limit is worth.

        With these prices no cycle gains anything, so that ways need not undo what was sent.
        """
        total = 0
        for i, arc in enumerate(self._arcs):
            worth = max(0, arc.gain + self._height[arc.head] - self._height[arc.tail])
            total += worth * (arc.most or 0)
            self._loss[2 * i] += worth
            self._left[2 * i], self._left[2 * i + 1] = _ENDLESS, 0
        return total

    def _add(self, arc: Arc) -> None:
        """An arc, and the way back over what was sent along it."""
        number = len(self._to)
        self._to += (arc.head, arc.tail)
        self._left += (_ENDLESS if arc.most is None else arc.most, 0)
        self._loss += (-arc.gain, arc.gain)
        self._out[arc.tail].append(number)
        self._out[arc.head].append(number + 1)

    def _filled(self, order: Sequence[int]) -> list[int]:
        """Fill the arcs that lead back in an order of the nodes; gives what is too much at each node.

        What is left has no cycle, so the order gives heights with which nothing that is left is a gain.
        """
        place = {node: i for i, node in enumerate(order)}
        surplus = [0] * self._size
        for i, arc in enumerate(self._arcs):
            if place[arc.head] <= place[arc.tail] and arc.most is not None:
                self._push(2 * i, arc.most)
                surplus[arc.head] += arc.most
                surplus[arc.tail] -= arc.most
        for node in order:
            for number in self._out[node]:
                if self._left[number]:
                    through = self._height[node] + self._loss[number]
                    self._height[self._to[number]] = min(self._height[self._to[number]], through)
        return surplus

    def _push(self, number: int, amount: int) -> None:
        self._left[number] -= amount
        self._left[number ^ 1] += amount

    def _send(self, order: Sequence[int], surplus: list[int]) -> bool:
        """Send what is too much to where it is missing; false where that is given up.

        The first node in the order leads to most of the others: what is too much at these joins its tree.
        """
        roots = [node for node in order if surplus[node] > 0]
        if roots:
            self._down(*self._level(roots[:1]), surplus)
        while roots := [node for node in roots if surplus[node] > 0]:
            self._level(roots)
            if self._looks < 0:
                return False
            self._fill(roots, surplus)
        return True

    def _level(self, roots: Sequence[int]) -> tuple[list[int], list[int]]:
        """Set the heights so that some way of the least loss from the roots is level to each node.

        Gives the nodes, nearest first, and the last arc of such a way to each.
        """
        to, left, loss, height, out = self._to, self._left, self._loss, self._height, self._out
        distance: list[int | None] = [None] * self._size
        came, done, nodes = [-1] * self._size, [False] * self._size, []
        for node in roots:
            distance[node] = 0
        heap = [(0, node) for node in roots]
        heapq.heapify(heap)
        while heap:
            far, node = heapq.heappop(heap)
            if done[node]:
                continue
            done[node] = True
            nodes.append(node)
            self._looks -= len(out[node])
            base = far + height[node]
            for number in out[node]:
                head = to[number]
                if left[number] and not done[head]:
                    through = base + loss[number] - height[head]
                    known = distance[head]
                    if known is None or through < known:
                        distance[head], came[head] = through, number
                        heapq.heappush(heap, (through, head))
        farthest = distance[nodes[-1]] or 0
        for node, known in enumerate(distance):
            height[node] += farthest if known is None else known
        return nodes, came

    def _down(self, nodes: Sequence[int], came: Sequence[int], surplus: list[int]) -> None:
        """Send along a tree as much as the nodes below want."""
        wanted = [max(0, -amount) for amount in surplus]
        for node in reversed(nodes[1:]):
            wanted[self._to[came[node] ^ 1]] += min(wanted[node], self._left[came[node]])
        for node in nodes[1:]:
            before = self._to[came[node] ^ 1]
            amount = min(max(0, surplus[before]), wanted[node], self._left[came[node]])
            self._push(came[node], amount)
            surplus[before] -= amount
            surplus[node] += amount

    def _fill(self, roots: Sequence[int], surplus: list[int]) -> None:
        """Send along level arcs until nearly no such way is left (Dinic's blocking flow).

        Each arc is given up once it has led nowhere.
        """
        tried, passed = [0] * self._size, [False] * self._size
        self._looks -= len(self._to)
        for root in roots:
            node: int = root
            way: list[int] = []
            passed[root] = True
            while surplus[root] > 0:
                if surplus[node] < 0:
                    node = self._deliver(root, node, way, surplus, passed)
                elif (number := self._next(node, tried, passed)) is not None:
                    way.append(number)
                    node = self._to[number]
                    passed[node] = True
                elif way:
                    passed[node] = False
                    node = self._to[way.pop() ^ 1]
                    tried[node] += 1
                else:
                    break
            for number in (*way, -1):
                passed[root if number < 0 else self._to[number]] = False

    def _next(self, node: int, tried: list[int], passed: Sequence[bool]) -> int | None:
        """The next level arc from a node that leads to one that is not on the way."""
        numbers, level = self._out[node], self._height[node]
        for i in range(tried[node], len(numbers)):
            number = numbers[i]
            head = self._to[number]
            if self._left[number] and not passed[head] and self._loss[number] + level == self._height[head]:
                tried[node] = i
                return number
        tried[node] = len(numbers)
        return None

    def _deliver(self, root: int, node: int, way: list[int], surplus: list[int], passed: list[bool]) -> int:
        """Send along a way as much as it lets through; gives the node before the first arc that is full."""
        amount = min(surplus[root], -surplus[node], *(self._left[number] for number in way))
        surplus[root] -= amount
        surplus[node] += amount
        for number in way:
            self._push(number, amount)
        full = next((i for i, number in enumerate(way) if not self._left[number]), len(way))
        for number in way[full:]:
            passed[self._to[number]] = False
        node = self._to[way[full] ^ 1] if full < len(way) else node
        del way[full:]
        return node

    def ways(self, ends: Mapping[int, int]) -> tuple[list[int | None], list[int]]:
        """What one more way gains from each node on, if it ends where it may.

        `ends` are these nodes, with what the end itself gains. Beside the gains: the arc by which the way
        goes on from each node, -1 where it ends there.
        """
        to, left, loss, height, out = self._to, self._left, self._loss, self._height, self._out
        distance: list[int | None] = [None] * self._size
        by, done = [-1] * self._size, [False] * self._size
        for node, gain in ends.items():
            distance[node] = height[node] - gain
        heap = [(far, node) for node, far in enumerate(distance) if far is not None]
        heapq.heapify(heap)
        while heap:
            far, node = heapq.heappop(heap)
            if done[node]:
                continue
            done[node] = True
            base = far - height[node]
            for number in out[node]:
                tail, back = to[number], number ^ 1
                if left[back] and not done[tail]:
                    through = base + loss[back] + height[tail]
                    known = distance[tail]
                    if known is None or through < known:
                        distance[tail], by[tail] = through, back
                        heapq.heappush(heap, (through, tail))
        gains = [None if far is None else height[node] - far for node, far in enumerate(distance)]
        return gains, by

    def head(self, number: int) -> int:
        """Where a step of `ways` leads."""
        return self._to[number]

    def prices(self, gains: Sequence[int | None]) -> Iterator[tuple[int, int]]:
        """For each arc whose limit matters, its index, and what it gains to take it once more.

        `gains` are those of `ways`; with them these are an optimum of the dual program.
        """
        for i, arc in enumerate(self._arcs):
            tail, head = gains[arc.tail], gains[arc.head]
            if tail is not None and head is not None and arc.gain + head > tail:
                yield i, arc.gain + head - tail


def _order(size: int, arcs: Sequence[Arc]) -> list[int]:
    """The nodes, so that arcs without a limit lead forward; of those that could be next the lowest."""
    before = [0] * size
    after: list[list[int]] = [[] for _ in range(size)]
    for arc in arcs:
        if arc.most is None:
            before[arc.head] += 1
            after[arc.tail].append(arc.head)
    ready = [node for node in range(size) if not before[node]]
    order = []
    while ready:
        node = heapq.heappop(ready)
        order.append(node)
        for head in after[node]:
            before[head] -= 1
            if not before[head]:
                heapq.heappush(ready, head)
    return order
