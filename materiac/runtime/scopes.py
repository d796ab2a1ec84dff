"""What is counted for a cast, and apart from it for each of its items: the stall guard, edges, notes."""

from __future__ import annotations

import copy
from collections import Counter, deque
from collections.abc import Collection, Iterable

from materiac.program import Edge
from materiac.runtime.follow_up import MAX_NOTES, Note
from materiac.runtime.items import ItemId
from materiac.runtime.visit import VisitFailed

Landmark = tuple[str, str]
"""Something that control may come to: ("socket", id) or ("loop", id)."""


class Scope:
    """What one item, or the cast outside of items, has seen."""

    def __init__(self) -> None:
        self.cycles = 0
        self.traversals: Counter[tuple[str, int]] = Counter()
        self.allowed: Counter[tuple[str, int]] = Counter()
        self.notes: dict[str, deque[Note]] = {}
        self._remembered: dict[Landmark, None] = {}

    def come(self, landmark: Landmark) -> list[str]:
        """Come to a socket or a loop. Gives the cycle that this closes, or an empty list.

        A cycle is counted, and all but its closing is forgotten.
        """
        if landmark not in self._remembered:
            self._remembered[landmark] = None
            return []
        seen = list(self._remembered)
        cycle = [name for _, name in seen[seen.index(landmark) :]]
        self.cycles += 1
        self._remembered = {landmark: None}
        return [*cycle, landmark[1]]

    def note(self, target: str, note: Note) -> None:
        """Keep why a socket is come to again; of many notes the newest."""
        self.notes.setdefault(target, deque(maxlen=MAX_NOTES)).append(note)

    def forget(self) -> None:
        """Forget what was come to, but not the count: an edge with a budget bounds what follows."""
        self._remembered.clear()

    def restart(self) -> None:
        """Count from nothing again: a person has looked at what goes in circles."""
        self.forget()
        self.cycles = 0

    def allow(self, edge: tuple[str, int]) -> None:
        """Let an edge that is used up be taken once more."""
        self.allowed[edge] += 1

    def fork(self) -> Scope:
        """A copy that goes its own way; it shares the notes, which nothing decides by."""
        other = copy.copy(self)
        other.traversals, other.allowed = self.traversals.copy(), self.allowed.copy()
        other._remembered = self._remembered.copy()  # noqa: SLF001 - of this class
        return other

    def standing(self, edges: Collection[tuple[str, int]], *, guard: bool) -> tuple[object, ...]:
        """How often these edges were taken and, with `guard`, what the stall guard knows."""
        taken = tuple(self.traversals[edge] for edge in edges)
        return (taken, self.cycles, tuple(self._remembered)) if guard else (taken,)


class Scopes:
    """The scope of a cast and those of its items."""

    def __init__(self) -> None:
        self._cast = Scope()
        self._items: dict[ItemId, Scope] = {}

    def of(self, item: ItemId | None) -> Scope:
        """The scope of an item, or of the cast where there is none."""
        return self._cast if item is None else self._items.setdefault(item, Scope())

    def guard(self, item: ItemId | None, landmark: Landmark, limit: int, whom: str) -> None:
        """Come to a landmark. Raises `VisitFailed` where that closes one cycle more than the limit."""
        scope = self.of(item)
        cycle = scope.come(landmark)
        if cycle and scope.cycles > limit:
            way = " → ".join(f"'{name}'" for name in cycle)
            times = f"{scope.cycles} cycles without an advance have been closed, {limit} are allowed"
            raise VisitFailed("stalled", f"{times}{whom}; the last one is {way}")

    def spent(self, item: ItemId | None, source: str, index: int, edge: Edge) -> bool:
        """Whether an edge has used up its budget for an item."""
        if edge.max_traversals is None:
            return False
        scope = self.of(item)
        return scope.traversals[source, index] >= edge.max_traversals + scope.allowed[source, index]

    def take(self, item: ItemId | None, source: str, index: int, edge: Edge) -> None:
        """Count an edge. One with a budget makes its scope forget; one of the cast makes all forget."""
        scope = self.of(item)
        scope.traversals[source, index] += 1
        if edge.max_traversals is None:
            return
        scope.forget()
        if item is None:
            for other in self._items.values():
                other.forget()

    def drop_finished(self, live: Iterable[tuple[str, int]]) -> None:
        """Let go of items whose run is over: nothing comes back to them."""
        runs = set(live)
        self._items = {id_: scope for id_, scope in self._items.items() if id_[:2] in runs}

    def fork(self) -> Scopes:
        """A copy that goes its own way."""
        other = copy.copy(self)
        other._cast = self._cast.fork()  # noqa: SLF001 - of this class
        other._items = {id_: scope.fork() for id_, scope in self._items.items()}  # noqa: SLF001 - of this class
        return other

    def standing(
        self, items: Iterable[ItemId], edges: Collection[tuple[str, int]], *, guard: bool
    ) -> tuple[object, ...]:
        """What `Scope.standing` gives for the cast and for some items."""
        return tuple(self.of(id_).standing(edges, guard=guard) for id_ in (None, *items))
