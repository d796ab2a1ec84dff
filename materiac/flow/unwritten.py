"""Which reads of the state a cast may come to before anything has been written there.

What has been written whichever way a cast came goes forward over the routes of a loadout. A read of anything
else is looked into: the shortest way of a cast is searched for on which nothing was written. In most loadouts
nothing is left to search for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import chain
from typing import Final, NamedTuple

from materiac.flow.absent import absent
from materiac.flow.accesses import JOINED, Anything, Read, accesses
from materiac.flow.ground import Ground
from materiac.flow.known import START, Known, Mode
from materiac.flow.nearest import Nearest
from materiac.flow.places import Copy, Look, Op, Store, after, missing
from materiac.flow.ways import CUT, Outcome, feasible_way
from materiac.graph import LoadoutGraph

LEAST_SEARCHES: Final = 8
MOST_ROUTES: Final = 200_000
"""How many routes the searches of a loadout go over together, if not each of the first few goes over more."""
MOST_PLACES: Final = 32
"""On how many places one may depend for a search: each may double what there is to look at."""


class Gap(NamedTuple):
    """A read of what nothing has written; `node` is the socket that reads, or the way past a loop.

    What is `undefined` is written by nothing at all, or `follows` from an assignment of something undefined.
    `found` is a way, or what knows one.
    """

    node: str
    read: Read
    found: tuple[str, ...] | Nearest = ()
    undefined: bool = False
    follows: bool = False

    @property
    def way(self) -> tuple[str, ...]:
        """A shortest way to the read on which nothing was written; empty where none was searched for."""
        # Ways are long, and there may be many: one is made when it is told.
        return self.found if isinstance(self.found, tuple) else self.found.way(self.node)


@lru_cache(maxsize=2)
def gaps(graph: LoadoutGraph, cycles: int) -> tuple[Gap, ...]:
    """The reads without a write before them, in the order in which casts come to them.

    `cycles` is how many cycles without an advance the stall guard allows.
    """
    return tuple(_Search(graph, cycles).gaps())


class _Search:
    """The gaps of a loadout, and what is left of the searches for ways to them."""

    def __init__(self, graph: LoadoutGraph, cycles: int) -> None:
        self._graph, self._accesses = graph, accesses(graph)
        self._known = Known(Ground(graph, cycles), self._accesses)
        self._ops = self._known.ops
        routes = sum(map(len, self._known.ground.routes.values()))
        self._left = max(LEAST_SEARCHES, MOST_ROUTES // max(routes, 1))

    def gaps(self) -> Iterator[Gap]:
        written, never = self._written(), absent(self._graph)
        following = self._following(written, chain.from_iterable(never.values()))
        for node in (node for node in self._graph.reached if node in self._known.before):
            yield from (Gap(node, read, undefined=True) for read in never.get(node, ()))
            for look in self._reads(node, written):
                if not written & look.bit:
                    yield Gap(node, look.read, undefined=True, follows=bool(following & look.bit))
                elif self._is_near(node, look):
                    yield Gap(node, look.read, self._nearest)
                elif (way := self._way(node, look)) is not None:
                    yield Gap(node, look.read, way)

    def _reads(self, node: str, written: int) -> list[Look]:
        """The reads of a node that may be too early, and those of what nothing writes, one for each place.

        What nothing is known to write is told of even where a utility may have written anything.
        """
        known = self._known.entered(node, self._known.before[node])
        unknown = (op for op in self._ops[node] if isinstance(op, Look) and not op.bit & written)
        first: dict[int, Look] = {}
        for look in chain(missing(self._ops[node], known), unknown):
            first.setdefault(look.bit, look)
        return list(first.values())

    def _written(self) -> int:
        """The bits of what is written anywhere, be it reached or not."""
        found = self._known.places.above(JOINED) if self._known.ground.regions else 0
        for op in self._writes:
            if isinstance(op, Store):
                found |= op.given
        return self._copied(found)

    @cached_property
    def _writes(self) -> list[Store | Copy]:
        visits = self._accesses.visits.values()
        acts = [act for visit in visits for act in visit if not isinstance(act, Anything)]
        return [op for op in self._known.places.ops(acts) if not isinstance(op, Look)]

    def _copied(self, found: int) -> int:
        """Bits with those that copies write where these are written."""
        before = -1
        while found != before:
            before = found
            for op in self._writes:
                if isinstance(op, Copy) and found & op.source:
                    found |= op.above | op.below_as(found)
        return found

    def _following(self, written: int, never: Iterable[Read]) -> int:
        """The bits of what would be written, were it not for what assignments read of the undefined."""
        targets = written
        for op in self._writes:
            targets |= op.above | op.below if isinstance(op, Copy) else 0
        reads = chain.from_iterable(self._ops[node] for node in self._graph.reached if node in self._ops)
        looks = (op for op in reads if isinstance(op, Look) and op.read.kind == "source")
        first = lost = 0
        for look in looks:
            first |= look.bit & ~targets
        for read in never:
            if read.kind == "source":
                lost |= self._known.places.within(("state", *read.target.split(".")))
        return self._copied(written | first | lost) & ~(written | first & ~lost)

    def _is_near(self, node: str, look: Look) -> bool:
        """Whether nothing is written on the nearest way, and casts can go that for certain."""
        mode = self._modes.get(node)
        return mode is not None and _is_missing(look.bit, self._ops[node], mode[0])

    @cached_property
    def _nearest(self) -> Nearest:
        return Nearest(self._known.ground)

    @cached_property
    def _modes(self) -> Mapping[str, Mode]:
        """What a cast knows that has come to a node by the nearest way, where that is certain."""
        known, found = self._known, dict[str, Mode]()
        for node, (before, lists) in self._nearest.came.items():
            if lists is not None:
                mode = START if before is None else known.leave(found[before], before)
                found[node] = known.come(mode, node)
        return found

    def _way(self, node: str, look: Look) -> tuple[str, ...] | None:
        """A shortest way of a cast to a read, on which the place was not written; None if there is none."""
        relevant = self._needed(look.bit)
        if not self._left or relevant.bit_count() > MOST_PLACES:
            return ()
        self._left -= 1
        lasting = not relevant & self._cleared
        known, ops = self._known, self._ops[node]

        def step(mode: Mode, at: str) -> Mode | Outcome:
            come = known.come(mode, at)
            if at == node and _is_missing(look.bit, ops, come[0]):
                return Outcome.GOAL
            now, kept = known.leave(come, at)
            if lasting and now & look.bit and (kept is None or kept & look.bit):
                return Outcome.AVOID
            return now & relevant, None if kept is None else kept & relevant

        found = feasible_way(known.ground, START, step)
        return () if found is CUT else found

    def _needed(self, bit: int) -> int:
        """A bit with those on which it depends."""
        found, before = bit, 0
        while found != before:
            before = found
            for one, others in self._sources.items():
                if found & one:
                    found |= others
        return found

    @cached_property
    def _sources(self) -> Mapping[int, int]:
        """For each bit that may be copied, the bits that decide about it."""
        found: dict[int, int] = {}
        for op in chain.from_iterable(self._ops.values()):
            if isinstance(op, Copy):
                pairs = [(op.source, bit) for bit in _bits(op.above | op.below)]
                for source, bit in [*pairs, *op.pairs]:
                    found[bit] = found.get(bit, 0) | source
        return found

    @cached_property
    def _cleared(self) -> int:
        """The bits that some visit may clear."""
        found = 0
        for op in chain.from_iterable(self._ops.values()):
            if isinstance(op, Store):
                found |= ~(op.kept | op.given)
            elif isinstance(op, Copy):
                found |= op.below
        return found & self._known.places.all


def _bits(mask: int) -> Iterator[int]:
    while mask:
        yield mask & -mask
        mask &= mask - 1


def _is_missing(bit: int, ops: Iterable[Op], known: int) -> bool:
    """Whether a visit reads the place of a bit where it has no value."""
    for op in ops:
        if isinstance(op, Look):
            if op.bit == bit and not known & bit:
                return True
        else:
            known = after((op,), known)
    return False
