"""What is another in a loadout: in words, in what casts may come to, and for casts that have begun."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from materiac.change import Change, changes
from materiac.difference import quoted
from materiac.flow.bounds import Totals, totals
from materiac.graph import LoadoutGraph
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

    `bounds` are what no cast of either exceeds, where they were looked at; `breaks` has each reason once.
    """

    old: Program | None
    new: Program | None
    changes: tuple[Change, ...] = ()
    reach: Reaching = Reaching()
    bounds: tuple[Totals, Totals] | None = None
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


Graphs = Mapping[str, LoadoutGraph]
_UNBOUNDED: Final = ("budget", "loadout", "properties", "parallelism")
"""Where nothing has a say in how much a cast does at most."""


def compare(
    old: Program | None,
    new: Program | None,
    graphs: tuple[Graphs, Graphs] = ({}, {}),
    onward: Program | None = None,
) -> Comparison:
    """Compare two loadouts, or say that there is one alone; bounds need the graphs of both, by name.

    Casts of one that is gone may go on `onward`, with another.
    """
    if old is None or new is None:
        return Comparison(old, new, breaks=_breaks_of_gone(old, onward) if new is None else ())
    found = changes(old, new)
    if not found:
        return Comparison(old, new)
    was, now = reach(old), reach(new)
    return Comparison(
        old,
        new,
        found,
        _reaching(old, new, was, now),
        _bounds(old, new, graphs) if any(map(_may_bound, found)) else None,
        tuple(_breaks(old, new, was)),
    )


def compare_all(
    old: Mapping[str, Program],
    new: Mapping[str, Program],
    graphs: tuple[Graphs, Graphs] = ({}, {}),
    again: Mapping[str, str] | None = None,
) -> tuple[Comparison, ...]:
    """Compare loadouts by their names; one that has another name now is the one that alone leads to that.

    `again` says in which one casts of each go on: that of its name or, where there is none, the only one.
    """
    if again is None:
        only = next(iter(new)) if len(new) == 1 else None
        again = {name: to for name in old if (to := name if name in new else only) is not None}
    renamed = _renamed(old, new, again)
    pairs = {name: renamed.get(name, name) for name in old}
    found = [
        compare(program, new.get(pairs[name]), graphs, new.get(again.get(name, "")))
        for name, program in old.items()
    ]
    fresh = [compare(None, program) for name, program in new.items() if name not in pairs.values()]
    return (*found, *fresh)


def active(old: str | None, new: str | None, compared: Iterable[Comparison]) -> Change | None:
    """What runs where nothing is asked for, if that is another; one that is renamed stays the same."""
    names = {part.old.name: part.new.name for part in compared if part.old and part.new}
    if (names.get(old, old) if old else None) == new:
        return None
    was, now = (quoted(name) if name else "none" for name in (old, new))
    return Change("active", "loadout", was, now)


def _renamed(old: Container[str], new: Container[str], again: Mapping[str, str]) -> dict[str, str]:
    """The loadouts that have another name now, each by the one that it had."""
    free = {name: to for name, to in again.items() if name not in new and to in new and to not in old}
    claims = Counter(free.values())
    return {name: to for name, to in free.items() if claims[to] == 1}


def _breaks_of_gone(old: Program | None, onward: Program | None) -> tuple[Break, ...]:
    if old is None or onward is None:
        return (Break("the loadout is gone"),)
    return tuple(_breaks(old, onward, reach(old)))


def _may_bound(change: Change) -> bool:
    return change.where not in _UNBOUNDED and not change.what.startswith("the prompt ")


def _bounds(old: Program, new: Program, graphs: tuple[Graphs, Graphs]) -> tuple[Totals, Totals] | None:
    one, other = graphs[0].get(old.name), graphs[1].get(new.name)
    if one is None or other is None:
        return None
    return totals(one, old.max_no_advance_cycles), totals(other, new.max_no_advance_cycles)


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
