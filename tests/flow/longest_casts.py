"""The longest cast of a small program, by trying every answer: the oracle of bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Final

from materiac.path import parse_source
from materiac.program import Program
from materiac.scenario.walk import Ground, Walker

MOST_STATES: Final = 30_000

Weight = Callable[[str], int]


class TooManyError(Exception):
    """The casts of a program stand in more ways than are looked at."""


class UnendingError(Exception):
    """Some cast goes on for ever."""


@dataclass
class _Visit:
    """A cast that stands somewhere: what it has gained to get there, and the most from there on."""

    key: object
    gained: int
    after: Iterator[tuple[int, Walker]]
    best: int = 0


def longest(program: Program, items: int, weight: Weight, most: int = MOST_STATES) -> int:
    """The most that the visits of any cast weigh together whose lists have at most so many items.

    A cast may begin with lists in its state. Raises `TooManyError` and `UnendingError`.
    """
    return _Search(program, items, weight, most).longest()


class _Search:
    def __init__(self, program: Program, items: int, weight: Weight, most: int) -> None:
        self._ground, self._weight, self._most = Ground(program), weight, most
        self._items = items
        self._choices = {
            id_: [choice for choice in choices if all(n <= items for _, n in choice.lengths)]
            for id_, choices in self._ground.choices.items()
        }
        self._best: dict[object, int | None] = {}

    def longest(self) -> int:
        return max(self._from(start) for start in self._starts())

    def _starts(self) -> Iterator[Walker]:
        paths = [parse_source(loop.items) for loop in self._ground.program.loops.values()]
        lists = dict.fromkeys(path.segments for path in paths if path.root == "state")
        for lengths in product(range(self._items + 1), repeat=len(lists)):
            yield replace(Walker.start(self._ground), lengths=dict(zip(lists, lengths, strict=True)))

    def _from(self, start: Walker) -> int:
        known = self._best.get(self._standing(start))
        if known is not None:
            return known
        work = [self._visit(start, 0)]
        while True:
            here = work[-1]
            step = next(here.after, None)
            if step is None:
                self._best[here.key] = here.best
                work.pop()
                if not work:
                    return here.best
                work[-1].best = max(work[-1].best, here.gained + here.best)
                continue
            gain, walker = step
            key = self._standing(walker)
            if key not in self._best:
                work.append(self._visit(walker, gain))
                continue
            known = self._best[key]
            if known is None:
                raise UnendingError
            here.best = max(here.best, gain + known)

    def _visit(self, walker: Walker, gained: int) -> _Visit:
        if len(self._best) >= self._most:
            raise TooManyError
        key = self._standing(walker)
        self._best[key] = None
        visit = _Visit(key, gained, iter(()))
        visit.after = self._after(walker, visit)
        return visit

    def _after(self, walker: Walker, visit: _Visit) -> Iterator[tuple[int, Walker]]:
        """The steps that a cast goes on by, each with what the visit before it weighs."""
        here = walker.fork()
        step = here.come()
        if step is not None:
            if step.status is None:
                yield 0, here
            return
        gain = self._weight(walker.at)
        visit.best = max(visit.best, gain)
        for choice in self._choices[walker.at]:
            other = here.fork()
            if other.answer(choice).status is None:
                yield gain, other

    def _standing(self, walker: Walker) -> object:
        """What matters for what follows."""
        scopes: Any = walker.scopes.standing(walker.loops.places(), self._ground.bounded, guard=True)
        known = tuple((taken, cycles, frozenset(seen)) for taken, cycles, seen in scopes)
        arrival = walker.arrival and (walker.arrival.budgeted, walker.arrival.item is None)
        visits = tuple(walker.visits[socket] for socket in self._ground.limited)
        lengths = tuple(sorted(walker.lengths.items()))
        return walker.at, walker.loops.standing(), known, lengths, visits, arrival
