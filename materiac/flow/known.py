"""What has been written of the state, whichever way a cast came, and along one way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from heapq import heappop, heappush

from materiac.flow.accesses import JOINED, Accesses
from materiac.flow.ground import Ground
from materiac.flow.places import Places, after, surely
from materiac.names import END
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
        self._joined = self.places.above(JOINED)
        regions = ground.regions.values()
        self._stream = {id_: region.generator.id for region in regions for id_ in region.members}
        self._passed = {past(region.loop) for region in regions if region.loop is not None}

    @cached_property
    def before(self) -> Mapping[str, int]:
        """What is known before each node that casts may come to, whichever way they came."""
        known = dict.fromkeys(self.ground.graph.starts, 0)
        order = self._order()
        waiting = sorted((order[node], node) for node in known)
        while waiting:
            node = heappop(waiting)[1]
            for target, value in self._onward(node, known[node]):
                if target not in known or known[target] & ~value:
                    known[target] = known.get(target, -1) & value
                    heappush(waiting, (order[target], target))
        return known

    def _order(self) -> dict[str, int]:
        """The places of nodes in an order in which what comes before is before, but for cycles."""
        found: list[str] = []
        seen = set(self.ground.graph.starts)
        walk = [(node, self._targets(node)) for node in self.ground.graph.starts]
        while walk:
            node, targets = walk[-1]
            following = next((target for target in targets if target not in seen), None)
            if following is None:
                found.append(node)
                walk.pop()
            else:
                seen.add(following)
                walk.append((following, self._targets(following)))
        return {node: place for place, node in enumerate(reversed(found))}

    def _targets(self, node: str) -> Iterator[str]:
        return (route.target for route in self.ground.routes[node] if route.target != END)

    def _onward(self, node: str, known: int) -> Iterator[tuple[str, int]]:
        """Where a cast goes from a node, and with what."""
        known = surely(self.ops[node], self.entered(node, known))
        stream = self._stream.get(node)
        for route in self.ground.routes[node]:
            if route.kind == "jump":
                yield route.target, known | self._joined
            elif route.target != END and stream in (None, self._stream.get(route.target)):
                yield route.target, known
        for target in self._behind.get(node, ()):
            yield target, known | self._joined

    @cached_property
    def _behind(self) -> Mapping[str, tuple[str, ...]]:
        """For each generator of streams, where a cast goes on when they are done."""
        found: dict[str, dict[str, None]] = {}
        for node, stream in self._stream.items():
            targets = (target for target in self._targets(node) if self._stream.get(target) != stream)
            found.setdefault(stream, {}).update(dict.fromkeys(targets))
        return {stream: tuple(targets) for stream, targets in found.items()}

    def entered(self, node: str, known: int) -> int:
        """What is known in a visit: the loop of a member has a list."""
        loop = self.ground.graph.loop_of(node)
        read = self._lists.get(loop.id) if loop is not None else None
        return known | self.places.above(read.place) if read else known

    def come(self, mode: Mode, node: str) -> Mode:
        """What a cast knows that comes to a node."""
        known, kept = mode
        inside = node in self._stream
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
