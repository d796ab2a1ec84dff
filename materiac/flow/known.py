"""What has been written of the state, whichever way a cast came, and along one way."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from heapq import heappop, heappush

from materiac.flow.accesses import JOINED, Accesses
from materiac.flow.ground import Ground
from materiac.flow.onward import Onward
from materiac.flow.places import Places, after, surely
from materiac.routes import past

Mode = tuple[int, int | None]
"""The bits of what is known and, within a stream, of what is known again when all streams are done."""

START: Mode = (0, None)


class Known:
    """What nodes do to what is known; the bits are those of `places`. Streams keep theirs to themselves."""

    def __init__(self, ground: Ground, accesses: Accesses) -> None:
        self.ground, self.places, self._lists = ground, Places(accesses), accesses.lists
        self.ops = {id_: self.places.ops(acts) for id_, acts in accesses.visits.items()}
        for node, loop in ground.graph.ways_past.items():
            read = accesses.lists.get(loop.id)
            self.ops[node] = self.places.ops([read] if read else [])
        self._joined, self._onward = self.places.above(JOINED), Onward(ground)
        self._passed = {past(region.loop) for region in ground.regions.values() if region.loop is not None}

    @cached_property
    def before(self) -> Mapping[str, int]:
        """What is known before each node that casts may come to, whichever way they came."""
        known = dict.fromkeys(self.ground.graph.starts, 0)
        order = self._onward.order
        waiting = sorted((order[node], node) for node in known)
        while waiting:
            node = heappop(waiting)[1]
            value = surely(self.ops[node], self.entered(node, known[node]))
            for target, joined in self._onward.after(node):
                given = value | self._joined if joined else value
                if target not in known or known[target] & ~given:
                    known[target] = known.get(target, -1) & given
                    heappush(waiting, (order[target], target))
        return known

    def entered(self, node: str, known: int) -> int:
        """What is known in a visit: the loop of a member has a list."""
        loop = self.ground.graph.loop_of(node)
        read = self._lists.get(loop.id) if loop is not None else None
        return known | self.places.above(read.place) if read else known

    def come(self, mode: Mode, node: str) -> Mode:
        """What a cast knows that comes to a node."""
        known, kept = mode
        inside = node in self._onward.stream
        if kept is not None and not inside:
            known, kept = kept | self._joined, None
        elif kept is None and inside:
            kept = known
        elif node in self._passed:
            known |= self._joined
        return self.entered(node, known), kept

    def leave(self, mode: Mode, node: str) -> Mode:
        """What it knows behind that node."""
        known, kept = mode
        return after(self.ops.get(node, ()), known), kept
