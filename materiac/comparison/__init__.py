"""What is another in a loadout: in words, in what casts may come to, and for casts that have begun."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from materiac.change import Change, changes
from materiac.program import Program
from materiac.reach import Reach, reach
from materiac.runtime.standing import Standing, lacking, standings


@dataclass(frozen=True, slots=True)
class Reaching:
    """Sockets that are in both loadouts: those that no cast comes to any more, and those that one does now.

    From those that are `endless` no cast ends any more, from those that are `ending` one may end now.
    """

    lost: tuple[str, ...] = ()
    found: tuple[str, ...] = ()
    endless: tuple[str, ...] = ()
    ending: tuple[str, ...] = ()


class Break(NamedTuple):
    """Why a cast of the old loadout cannot go on with the new one: everywhere, or `at` a place."""

    why: str
    at: Standing | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """A loadout as it was and as it is; `old` is None for a new one, `new` for one that is gone.

    `breaks` has each reason once.
    """

    old: Program | None
    new: Program | None
    changes: tuple[Change, ...] = ()
    reach: Reaching = Reaching()
    breaks: tuple[Break, ...] = ()

    @property
    def name(self) -> str:
        """The name that the loadout has, or had."""
        program = self.new or self.old
        return program.name if program else ""

    @property
    def same(self) -> bool:
        """Whether both mean the same."""
        return self.old is not None and self.new is not None and not self.changes


def compare(old: Program | None, new: Program | None) -> Comparison:
    """Compare two loadouts, or say that there is one alone."""
    if old is None or new is None:
        gone = (Break("the loadout is gone"),) if new is None else ()
        return Comparison(old, new, breaks=gone)
    found = changes(old, new)
    if not found:
        return Comparison(old, new)
    was, now = reach(old), reach(new)
    return Comparison(old, new, found, _reaching(old, new, was, now), tuple(_breaks(old, new, was)))


def compare_all(old: Mapping[str, Program], new: Mapping[str, Program]) -> tuple[Comparison, ...]:
    """Compare loadouts by their names; where there is one in each, these two."""
    if len(old) == len(new) == 1:
        return (compare(*old.values(), *new.values()),)
    return tuple(compare(old.get(name), new.get(name)) for name in dict.fromkeys((*old, *new)))


def _reaching(old: Program, new: Program, was: Reach, now: Reach) -> Reaching:
    before, after = set(was.sockets), set(now.sockets)
    both = [id_ for id_ in now.sockets if id_ in before]
    return Reaching(
        lost=tuple(id_ for id_ in was.sockets if id_ in new.sockets and id_ not in after),
        found=tuple(id_ for id_ in now.sockets if id_ in old.sockets and id_ not in before),
        endless=tuple(id_ for id_ in both if id_ in was.ending and id_ not in now.ending),
        ending=tuple(id_ for id_ in both if id_ in now.ending and id_ not in was.ending),
    )


def _breaks(old: Program, new: Program, was: Reach) -> Iterator[Break]:
    told = set[str]()
    for at in standings(old, was.sockets):
        why = lacking(at, old, new)
        if why is not None and why not in told:
            told.add(why)
            yield Break(why, at)
