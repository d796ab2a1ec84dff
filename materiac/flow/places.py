"""Places that are read, as bits of numbers, and what visits do to a number that says which have a value.

A copy has a value only if its source has one, and leaves its target as it is if not. So the numbers that a
visit leaves differ from those that it finds by more than what is set and what is cleared: `after` follows
a cast, `surely` what all casts have in common.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from materiac.flow.accesses import Accesses, Act, Anything, Place, Read, Write


class Look(NamedTuple):
    """A read of the place of a bit."""

    read: Read
    bit: int


class Store(NamedTuple):
    """Sets the bits of `given`; of the others only those of `kept` stay."""

    given: int
    kept: int


class Copy(NamedTuple):
    """Where `source` is set, sets `above`, and each second of a pair as the first is; else nothing."""

    source: int
    above: int
    below: int
    pairs: tuple[tuple[int, int], ...]

    def below_as(self, known: int) -> int:
        """The bits below the target, as those below the source are."""
        found = 0
        for source, target in self.pairs:
            if known & source:
                found |= target
        return found


Op = Look | Store | Copy


class Places:
    """The bits of the places that are read and are not given anyhow."""

    def __init__(self, accesses: Accesses) -> None:
        self._accesses = accesses
        acts = list(chain.from_iterable(accesses.visits.values()))
        reads = [*(act for act in acts if isinstance(act, Read)), *accesses.lists.values()]
        read = dict.fromkeys(act.place for act in reads if not accesses.is_given(act.place))
        copies = (act for act in acts if isinstance(act, Write) and act.copied is not None)
        self._bits = {place: 1 << i for i, place in enumerate(_closed(read, copies))}
        self._inside: dict[Place, list[Place]] = {}
        for place in self._bits:
            for length in range(1, len(place)):
                self._inside.setdefault(place[:length], []).append(place)
        self._below = {place: self._mask(inside) for place, inside in self._inside.items()}
        self.all = (1 << len(self._bits)) - 1

    def bit(self, place: Place) -> int:
        """The bit of a place; 0 where nothing depends on it."""
        return self._bits.get(place, 0)

    def above(self, place: Place) -> int:
        """The bits of a place and of those that it lies in."""
        return self._mask(place[:length] for length in range(1, len(place) + 1))

    def within(self, place: Place) -> int:
        """The bits of a place, of those that it lies in, and of those that lie in it."""
        return self.above(place) | self._below.get(place, 0)

    def _mask(self, places: Iterable[Place]) -> int:
        found = 0
        for place in places:
            found |= self.bit(place)
        return found

    def ops(self, acts: Iterable[Act]) -> tuple[Op, ...]:
        """What acts do, those alone that concern some place."""
        return tuple(op for act in acts if (op := self._op(act)) is not None)

    def _op(self, act: Act) -> Op | None:
        if isinstance(act, Anything):
            return Store(self.all, 0)
        if isinstance(act, Read):
            bit = self.bit(act.place)
            return Look(act, bit) if bit else None
        above, below = self.above(act.place), self._below.get(act.place, 0)
        if not above and not below:
            return None
        if act.copied is None or self._accesses.is_given(act.copied):
            return Store(above if act.flat else above | below, ~below)
        return Copy(self.bit(act.copied), above, below, tuple(self._pairs(act, act.copied)))

    def _pairs(self, write: Write, copied: Place) -> Iterator[tuple[int, int]]:
        """The places below a source and below a target; the source itself for those that are too deep."""
        for place in self._inside.get(write.place, ()):
            source = (*copied, *place[len(write.place) :])
            yield self.bit(source) or self.bit(copied), self.bit(place)


def _closed(read: Iterable[Place], copies: Iterable[Write]) -> list[Place]:
    """Places with those that they may be copied from, up to the depth of the deepest that is read."""
    found = dict.fromkeys(read)
    longest = max(map(len, found), default=0)
    sources = _Sources(copies)
    waiting = list(found)
    while waiting:
        for source in sources.of(waiting.pop()):
            if source not in found and len(source) <= longest:
                found[source] = None
                waiting.append(source)
    return list(found)


class _Sources:
    """What places depend on."""

    def __init__(self, copies: Iterable[Write]) -> None:
        self._at: dict[Place, list[Place]] = {}
        self._inside: dict[Place, list[Place]] = {}
        for target, source in dict.fromkeys((copy.place, copy.copied or ()) for copy in copies):
            self._at.setdefault(target, []).append(source)
            for length in range(1, len(target)):
                self._inside.setdefault(target[:length], []).append(source)

    def of(self, place: Place) -> Iterator[Place]:
        """The sources of copies to a place, into it, and to what it lies in."""
        yield from self._inside.get(place, ())
        for length in range(1, len(place) + 1):
            for source in self._at.get(place[:length], ()):
                yield source
                yield (*source, *place[length:])


def surely(ops: Iterable[Op], known: int) -> int:
    """What has a value after these acts in all casts, if `known` has before."""
    for op in ops:
        if isinstance(op, Store):
            known = known & op.kept | op.given
        elif isinstance(op, Copy):
            given = op.above | op.below_as(known) if known & op.source else 0
            known = known & ~op.below | given
    return known


def after(ops: Iterable[Op], known: int) -> int:
    """What has a value after these acts in a cast in which `known` has before, and nothing else."""
    for op in ops:
        if isinstance(op, Store):
            known = known & op.kept | op.given
        elif isinstance(op, Copy) and known & op.source:
            known = known & ~op.below | op.above | op.below_as(known)
    return known


def missing(ops: Iterable[Op], known: int) -> Iterator[Look]:
    """The reads among these acts that some cast comes to without a value, as far as `surely` tells."""
    for op in ops:
        if isinstance(op, Look):
            if not known & op.bit:
                yield op
        else:
            known = surely((op,), known)
