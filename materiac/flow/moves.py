"""How a cast moves from visit to visit, told as exactly as it is asked for.

`Rules` keep the facts that they are told to keep and let all else be: with none of them a cast may take
every route, with all of them those alone that a real cast can take. So what cannot be come to under some
facts cannot be come to at all.

How long a list is, is decided by whoever sends it, once. Here it is left open until something depends on it:
of a list its least and its greatest length are known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import cache
from math import inf
from typing import TYPE_CHECKING, Final, NamedTuple

from materiac.flow.ground import GUARD, Fact, Ground
from materiac.names import END

if TYPE_CHECKING:
    from materiac.graph import LoopView, Route

Landmark = tuple[str, str]
_NOTHING: Final[frozenset[Landmark]] = frozenset()


class Scope(NamedTuple):
    """What an item has seen, or the cast outside of items: counts of edges, and the stall guard's part."""

    counts: tuple[int, ...] = ()
    cycles: int = 0
    remembered: frozenset[Landmark] = _NOTHING


class Run(NamedTuple):
    """A loop under way, and the scope of the item that it is at. Cursors from the cap on are one."""

    loop: str
    cursor: int
    scope: Scope


class Length(NamedTuple):
    """What is known of the length of a list; `missing` where perhaps nobody has sent one."""

    least: int = 0
    most: float = 0
    missing: bool = True


class Kept(NamedTuple):
    """The facts that are kept of a cast, or of a stream; `outer` are those of the cast that waits for it."""

    cast: Scope = Scope()
    runs: tuple[Run, ...] = ()
    lists: tuple[Length, ...] = ()
    outer: Kept | None = None


class Standing(NamedTuple):
    """Where a cast is: in a visit of a socket, on the way past a loop, or at `end`; and the facts kept."""

    node: str
    kept: Kept = Kept()
    visits: tuple[int, ...] = ()


class Held(NamedTuple):
    """A step to a node that a cast cannot take where it stands, and the fact that holds it up."""

    node: str
    fact: Fact


class Rules:
    """The moves of casts as far as some facts go; of the lengths of lists as far as `cap`."""

    def __init__(self, ground: Ground, facts: Collection[Fact], cap: float) -> None:
        self.ground, self.cap, self.guarded = ground, cap, GUARD in facts
        self.blank = not facts
        loops = [loop for loop in ground.graph.loops.values() if ground.list_of(loop) in facts]
        self.loops = {loop.id: loop for loop in loops}
        self.lists = {ground.list_of(loop): loop.path for loop in loops}
        places = {fact: place for place, fact in enumerate(self.lists)}
        self.place = {loop.id: places[ground.list_of(loop)] for loop in loops}
        self.edges: dict[str | None, dict[Fact, int]] = {}
        for fact in facts:
            if fact[0] == "edge":
                loop = ground.loop_of_edge(fact)
                of_loop = self.edges.setdefault(loop.id if loop else None, {})
                of_loop[fact] = len(of_loop)
        self.limited = {what: place for place, (_, what) in enumerate(f for f in facts if f[0] == "visits")}
        self.most = ground.longest if ground.longest <= cap else inf
        self.senders = cache(self._senders)

    def starts(self, node: str | None = None) -> Iterator[Standing | Held]:
        """Where a cast may begin; with `node`, as far as that is there."""
        unsent, unvisited = (Length(),) * len(self.lists), (0,) * len(self.limited)
        kept = Kept(self.fresh(None), lists=unsent)
        return self._moves(Standing("", kept, unvisited), self.ground.starts, node)

    def moves(self, at: Standing, node: str | None = None) -> Iterator[Standing | Held]:
        """Where a cast may come to next, and what it cannot come to; with `node`, as far as that is there."""
        return self._moves(at, self.ground.routes.get(at.node, ()), node)

    def _moves(self, at: Standing, routes: Iterable[Route], node: str | None) -> Iterator[Standing | Held]:
        if node is not None:
            routes = [route for route in routes if route.target == node]
        if self.blank:
            yield from (Standing(route.target) for route in routes)
            return
        for route in routes:
            move = _Move(self, at)
            fact = move.leave(route) or move.come(route)
            yield Held(route.target, fact) if fact else move.standing(route.target)

    def fresh(self, loop: str | None) -> Scope:
        """A scope that has seen nothing, of an item of a loop or of the cast."""
        return Scope((0,) * len(self.edges.get(loop, ())))

    def capped(self, length: int) -> int:
        return length if length <= self.cap else int(self.cap)

    def loop_of(self, node: str) -> LoopView | None:
        """The loop of a socket, where its list is kept."""
        loop = self.ground.graph.loop_of(node)
        return loop if loop is not None and loop.id in self.loops else None

    def _senders(self, node: str) -> tuple[list[int], list[int], list[str]]:
        """The lists that a visit sends, those that it sends if they are missing, the loops it makes idle."""
        socket = self.ground.graph.sockets[node]
        sends = [i for i, path in enumerate(self.lists.values()) if self.ground.sends(socket, path)]
        offers = [i for i, path in enumerate(self.lists.values()) if self.ground.offers(socket, path)]
        return sends, offers, [loop.id for loop in self.loops.values() if loop.source == node]


class _Move:
    """One step of a cast. Each part of it gives the fact that keeps the cast from it, if one does."""

    def __init__(self, rules: Rules, at: Standing) -> None:
        self._rules, self._graph = rules, rules.ground.graph
        self._cast, self._runs = at.kept.cast, {run.loop: run for run in at.kept.runs}
        self._lists, self._outer = list(at.kept.lists), at.kept.outer
        self._visits = list(at.visits)

    def standing(self, node: str) -> Standing:
        """Where the step has led."""
        return Standing(node, self._kept(), tuple(self._visits))

    def _kept(self) -> Kept:
        # Which loop was visited last matters to the stall guard alone.
        runs = self._runs.values() if self._rules.guarded else sorted(self._runs.values())
        return Kept(self._cast, tuple(runs), tuple(self._lists), self._outer)

    def leave(self, route: Route) -> Fact | None:
        """What follows from the visit: lists are sent, cursors are stepped, edges are taken."""
        if route.source not in self._graph.sockets:
            return None
        sent, offered, renewed = self._rules.senders(route.source)
        for place in sent:
            self._lists[place] = Length(0, self._rules.most, missing=False)
        for place in offered:
            if self._lists[place].missing:
                self._lists[place] = Length(0, self._rules.most)
        held = self._traverse(route) or self._advance(route) or self._plan(route)
        for loop in renewed:
            self._runs.pop(loop, None)
        self._stream(route)
        return held

    def _stream(self, route: Route) -> None:
        """A stream counts for itself, from nothing; when it is done, the cast goes on from where it was."""
        ground = self._rules.ground
        if route.kind == "edge" and route.source in ground.regions:
            self._outer = self._kept()
            self._cast, self._runs = self._rules.fresh(None), {}
        elif route.kind == "stream":
            self._cast = self._rules.fresh(None)
        elif self._outer is not None and route.used_up:
            plan = self._rules.place.get(ground.loop_of_stream(route.source) or "")
            lists = [known if i != plan else self._lists[i] for i, known in enumerate(self._outer.lists)]
            self._cast, self._runs = self._outer.cast, {run.loop: run for run in self._outer.runs}
            self._lists, self._outer = lists, self._outer.outer

    def _traverse(self, route: Route) -> Fact | None:
        if route.budget is None:
            return None
        loop = self._graph.loop_of(route.source)
        run = self._runs.get(loop.id) if loop else None
        if loop is not None and run is None:
            return None
        scope = run.scope if run else self._cast
        fact: Fact = ("edge", (route.source, route.edge))
        place = self._rules.edges.get(loop.id if loop else None, {}).get(fact)
        if place is not None:
            counts = list(scope.counts)
            if counts[place] >= route.budget:
                return fact
            counts[place] += 1
            scope = scope._replace(counts=tuple(counts))
        self._forget(run, scope)
        return None

    def _forget(self, run: Run | None, scope: Scope) -> None:
        """An edge with a budget makes its scope forget; one of the cast makes all forget."""
        scope = scope._replace(remembered=_NOTHING)
        if run is not None:
            self._runs[run.loop] = run._replace(scope=scope)
            return
        self._cast = scope
        for id_, other in self._runs.items():
            self._runs[id_] = other._replace(scope=other.scope._replace(remembered=_NOTHING))

    def _advance(self, route: Route) -> Fact | None:
        loop = self._rules.loop_of(route.source)
        if loop is None or not (route.progress or route.used_up):
            return None
        run = self._runs[loop.id]
        following = run.cursor + 1
        if not route.used_up:
            self._runs[loop.id] = Run(loop.id, self._rules.capped(following), self._rules.fresh(loop.id))
            return self._has(loop, following)
        del self._runs[loop.id]
        held = self._ends(loop, run.cursor, following)
        if route.kind == "stream":
            self._lists[self._rules.place[loop.id]] = Length(1, self._rules.most, missing=False)
        return held

    def _plan(self, route: Route) -> Fact | None:
        """A generator of streams leads into them where there is an item, else past them."""
        region = self._rules.ground.regions.get(route.source)
        loop = region.loop if region else None
        if loop is None or loop.id not in self._rules.loops:
            return None
        return self._ends(loop, 0, 0) if route.kind == "jump" else self._has(loop, 0)

    def _has(self, loop: LoopView, cursor: int) -> Fact | None:
        """There is an item under a cursor."""
        place = self._rules.place[loop.id]
        known = self._lists[place]
        if known.most <= cursor:
            return self._rules.ground.list_of(loop)
        self._lists[place] = Length(
            max(known.least, self._rules.capped(cursor + 1)), known.most, missing=False
        )
        return None

    def _ends(self, loop: LoopView, cursor: int, length: int) -> Fact | None:
        """A list is no longer than a length; for a cursor at the cap, than one that is not known."""
        place = self._rules.place[loop.id]
        known = self._lists[place]
        if known.least > length:
            return self._rules.ground.list_of(loop)
        if cursor < self._rules.cap:
            self._lists[place] = known._replace(most=min(known.most, length))
        return None

    def come(self, route: Route) -> Fact | None:
        """Come to what the step leads to: into a visit, or past a loop without an item."""
        if route.target == END or route.kind == "jump":
            return None
        passed = self._graph.ways_past.get(route.target)
        loop = passed or self._graph.loop_of(route.target)
        if loop is not None and loop.id in self._rules.loops:
            held = self._enter(loop, route) or self._find(loop, empty=passed is not None)
            if held:
                return held
        if passed is not None:
            return None
        return self._guard(route) or self._limit(route.target)

    def _enter(self, loop: LoopView, route: Route) -> Fact | None:
        """Put an idle loop under way."""
        if loop.id in self._runs:
            return None
        self._runs[loop.id] = Run(loop.id, 0, self._rules.fresh(loop.id))
        if not self._rules.guarded or (
            route.budget is not None and self._graph.loop_of(route.source) is None
        ):
            return None
        self._cast, held = self._met(self._cast, ("loop", loop.id))
        return held

    def _find(self, loop: LoopView, *, empty: bool) -> Fact | None:
        run = self._runs.pop(loop.id)
        if empty:
            return self._ends(loop, run.cursor, run.cursor)
        self._runs[loop.id] = run  # the one that is visited last
        return self._has(loop, run.cursor)

    def _guard(self, route: Route) -> Fact | None:
        if not self._rules.guarded or route.budget is not None:
            return None
        landmark = ("socket", route.target)
        if not self._runs:
            self._cast, held = self._met(self._cast, landmark)
            return held
        loop = self._graph.loop_of(route.target)
        run = self._runs[loop.id] if loop else next(reversed(self._runs.values()))
        scope, held = self._met(run.scope, landmark)
        self._runs[run.loop] = run._replace(scope=scope)
        return held

    def _met(self, scope: Scope, landmark: Landmark) -> tuple[Scope, Fact | None]:
        """Come to a landmark; what a scope remembers closes a cycle, and all else is forgotten."""
        if landmark not in scope.remembered:
            return scope._replace(remembered=scope.remembered | {landmark}), None
        closed = Scope(scope.counts, scope.cycles + 1, frozenset([landmark]))
        return closed, GUARD if closed.cycles > self._rules.ground.cycles else None

    def _limit(self, socket: str) -> Fact | None:
        limits = self._graph.sockets[socket].written.limits
        place = self._rules.limited.get(socket)
        if place is None or limits is None or limits.max_visits is None:
            return None
        if self._visits[place] >= limits.max_visits:
            return "visits", socket
        self._visits[place] += 1
        return None
