"""Where the loops of a cast stand: which are under way, and which item each is at."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from materiac.program import END, Loop, Program

Read = Callable[[str], Any]
"""Gives the value of a source path, or something that is no list where there is none."""

ItemId = tuple[str, int, int]
"""A place in one run of a loop: the loop, the run, counted from 1, and the index in the list."""


@dataclass(frozen=True, slots=True)
class Item:
    """A work item, as the sockets of its loop see it."""

    id: ItemId
    key: str
    label: str
    alias: str
    value: Any


@dataclass
class _Place:
    """The state of one loop. `entered` and `visited` are counts that say which came last."""

    cursor: int = 0
    run: int = 0
    under_way: bool = False
    entered: int = 0
    visited: int = 0


class Loops:
    """The cursors of a cast's loops. A loop that is in `picked` goes through the items at these indexes."""

    def __init__(self, program: Program, picked: Mapping[str, Sequence[int]] | None = None) -> None:
        self._loops: Mapping[str, Loop] = program.loops
        self._picked = picked or {}
        self._places = {id_: _Place() for id_ in program.loops}
        self._clock = 0

    def adopt(self, program: Program) -> None:
        """Go on with another program; loops of the same id stay where they are."""
        self._loops = program.loops
        self._places = {id_: self._places.get(id_, _Place()) for id_ in program.loops}

    def enter(self, loop: Loop) -> bool:
        """Put an idle loop under way, at its first item; true where it was idle."""
        place = self._places[loop.id]
        if place.under_way:
            return False
        place.cursor, place.under_way = self._first(loop), True
        place.run += 1
        place.entered = self._tick()
        return True

    def item(self, loop: Loop, read: Read) -> Item | None:
        """The item that a loop is at, or None where its list has no such item."""
        place, values = self._places[loop.id], _listed(read(loop.items))
        if place.cursor >= len(values):
            return None
        value = values[place.cursor]
        key = f"WI-{place.cursor + 1}" if loop.items in _WORK_ITEMS else str(place.cursor)
        return Item((loop.id, place.run, place.cursor), key, _label(value, key), loop.alias, value)

    def has_next(self, loop: Loop, read: Read) -> bool:
        """Whether coming to a loop now would find an item."""
        place = self._places[loop.id]
        return (place.cursor if place.under_way else self._first(loop)) < len(_listed(read(loop.items)))

    def landing(self, program: Program, to: str, read: Read) -> str:
        """Where control comes to rest that goes to a socket: past loops that would be found empty."""
        passed = set()
        while to != END and to not in passed:
            passed.add(to)
            loop_id = program.sockets[to].loop
            if loop_id is None or self.has_next(program.loops[loop_id], read):
                return to
            to = program.loops[loop_id].empty
        return to

    def visit(self, loop: Loop) -> None:
        """Note that a socket of the loop is visited."""
        self._places[loop.id].visited = self._tick()

    def advance(self, loop: Loop, read: Read) -> bool:
        """Step the cursor; true where that uses the list up, which makes the loop idle."""
        place, count = self._places[loop.id], len(_listed(read(loop.items)))
        place.cursor = self._after(loop, place.cursor, count)
        used_up = place.cursor >= count
        if used_up:
            place.under_way = False
        return used_up

    def _first(self, loop: Loop) -> int:
        return self._picked[loop.id][0] if loop.id in self._picked else 0

    def _after(self, loop: Loop, index: int, count: int) -> int:
        """The index of the next item; `count`, that of no item, behind the last one that was picked."""
        if loop.id not in self._picked:
            return index + 1
        picked = self._picked[loop.id]
        following = picked.index(index) + 1
        return picked[following] if following < len(picked) else count

    def leave(self, loop: Loop) -> None:
        """Make a loop idle: it was found empty."""
        self._places[loop.id].under_way = False

    def renewed_by(self, socket: str) -> None:
        """Make the loops idle that consume what `socket` generates: it has sent a new list."""
        for id_, loop in self._loops.items():
            if loop.source == socket:
                self._places[id_].under_way = False

    def current(self) -> ItemId | None:
        """The item of the loop under way that was visited last, for visits outside of loops."""
        under_way = [(p.visited, id_) for id_, p in self._places.items() if p.under_way and p.visited]
        if not under_way:
            return None
        id_ = max(under_way)[1]
        return (id_, self._places[id_].run, self._places[id_].cursor)

    def cursor(self, name: str, inside: Loop | None) -> int | None:
        """A cursor by name: that of the loop one is in, else of the loop entered last under way."""
        if inside is not None and inside.cursor == name:
            return self._places[inside.id].cursor
        named = [self._places[id_] for id_, loop in self._loops.items() if loop.cursor == name]
        under_way = [place for place in named if place.under_way]
        return max(under_way, key=lambda place: place.entered).cursor if under_way else None

    def cursors(self, inside: Loop | None = None) -> dict[str, int]:
        """Each cursor by name as in `cursor`, and for loops that are over where it stood last."""
        entered = sorted(self._places.items(), key=lambda pair: (pair[1].under_way, pair[1].entered))
        own = {inside.cursor: self._places[inside.id].cursor} if inside is not None else {}
        return {self._loops[id_].cursor: place.cursor for id_, place in entered if place.run} | own

    def live(self) -> Iterable[tuple[str, int]]:
        """The loop and run of every loop under way."""
        return ((id_, place.run) for id_, place in self._places.items() if place.under_way)

    def fork(self) -> Loops:
        """A copy that goes its own way."""
        other = copy.copy(self)
        other._places = {id_: replace(place) for id_, place in self._places.items()}  # noqa: SLF001 - of this class
        return other

    def standing(self) -> tuple[tuple[str, int, int, int], ...]:
        """What of this matters for what follows: each loop under way, its cursor, and its ranks.

        The ranks say in which order loops were entered, and visited last.
        """
        under_way = {id_: place for id_, place in self._places.items() if place.under_way}
        entered = sorted(under_way, key=lambda id_: under_way[id_].entered)
        visited = sorted(under_way, key=lambda id_: under_way[id_].visited)
        return tuple(
            (id_, place.cursor, entered.index(id_), visited.index(id_)) for id_, place in under_way.items()
        )

    def places(self) -> Iterable[ItemId]:
        """Where each loop under way is."""
        return ((id_, p.run, p.cursor) for id_, p in self._places.items() if p.under_way)

    def _tick(self) -> int:
        self._clock += 1
        return self._clock


_WORK_ITEMS = ("state.workItems", "workItems")


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _label(value: Any, key: str) -> str:
    names = [value.get(name) for name in ("title", "name")] if isinstance(value, dict) else []
    return next((name for name in names if isinstance(name, str) and name.strip()), key)
