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
from typing import TYPE_CHECKING, Final

from materiac.flow.ground import Fact, Ground
from materiac.flow.standing import NOTHING, Held, Kept, Landmark, Length, Run, Scope, Standing
from materiac.names import END

if TYPE_CHECKING:
    from materiac.graph import LoopView, Route

_Facts = tuple[Fact, ...]

_FREE: Final[_Facts] = ()
"""Nothing holds the cast up."""


class Rules:
    """The moves of casts as far as some facts go; of the lengths of lists as far as `cap`."""

    def __init__(self, ground: Ground, facts: Collection[Fact], cap: float) -> None:
        self.ground, self.cap, self.blank = ground, cap, not facts
        self.exact, self.weight = cap == inf, 1 if self.blank else 4 + len(facts) // 8
        self.landmarks = frozenset(what for kind, what in facts if kind == "guard")
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
        self._fed_by: dict[str | None, list[str]] = {}
        for loop in loops:
            self._fed_by.setdefault(loop.source, []).append(loop.id)
        self.senders = cache(self._senders)
        self.read = [ground.readers(fact) for fact in self.lists]
        self.unread = Length(0, self.most, missing=False)

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
            held = move.leave(route) or move.come(route)
            yield Held(route.target, held) if held else move.standing(route.target)

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
        return sends, offers, self._fed_by.get(node, [])


class _Move:
    """One step of a cast. Each part of it gives the facts that keep the cast from it, if some do."""

    def __init__(self, rules: Rules, at: Standing) -> None:
        self._rules, self._graph = rules, rules.ground.graph
        self._cast, self._runs = at.kept.cast, {run.loop: run for run in at.kept.runs}
        self._lists, self._outer = list(at.kept.lists), at.kept.outer
        self._visits = list(at.visits)

    def standing(self, node: str) -> Standing:
        """Where the step has led."""
        for place, reading in enumerate(self._rules.read):
            if node not in reading:
                self._lists[place] = self._rules.unread
        return Standing(node, self._kept(), tuple(self._visits))

    def _kept(self) -> Kept:
        # Which loop was visited last matters to the stall guard alone.
        runs = self._runs.values() if self._rules.landmarks else sorted(self._runs.values())
        return Kept(self._cast, tuple(runs), tuple(self._lists), self._outer)

    def leave(self, route: Route) -> _Facts:
        """What follows from the visit: lists are sent, cursors are stepped, edges are taken."""
        if route.source not in self._graph.sockets:
            return _FREE
        sent, offered, renewed = self._rules.senders(route.source)
        for place in sent:
            self._lists[place] = Length(0, self._rules.most, missing=False)
            self._doubt(place)
        for place in offered:
            if self._lists[place].missing:
                self._lists[place] = Length(0, self._rules.most)
        held = self._traverse(route) or self._advance(route) or self._plan(route)
        for loop in renewed:
            self._runs.pop(loop, None)
        self._stream(route)
        return held

    def _doubt(self, place: int) -> None:
        """A list is sent anew: there may be no item where loops over it are."""
        for id_, run in self._runs.items():
            if run.sure and self._rules.place[id_] == place:
                self._runs[id_] = run._replace(sure=False)

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

    def _traverse(self, route: Route) -> _Facts:
        if route.budget is None:
            return _FREE
        loop = self._graph.loop_of(route.source)
        run = self._runs.get(loop.id) if loop else None
        if loop is not None and run is None:
            return _FREE
        scope = run.scope if run else self._cast
        fact: Fact = ("edge", (route.source, route.edge))
        place = self._rules.edges.get(loop.id if loop else None, {}).get(fact)
        if place is not None:
            counts = list(scope.counts)
            if counts[place] >= route.budget:
                return (fact,)
            counts[place] += 1
            scope = scope._replace(counts=tuple(counts))
        self._forget(run, scope)
        return _FREE

    def _forget(self, run: Run | None, scope: Scope) -> None:
        """An edge with a budget makes its scope forget; one of the cast makes all forget."""
        scope = scope._replace(remembered=NOTHING)
        if run is not None:
            self._runs[run.loop] = run._replace(scope=scope)
            return
        self._cast = scope
        for id_, other in self._runs.items():
            self._runs[id_] = other._replace(scope=other.scope._replace(remembered=NOTHING))

    def _advance(self, route: Route) -> _Facts:
        loop = self._rules.loop_of(route.source)
        if loop is None or not (route.progress or route.used_up):
            return _FREE
        run = self._runs[loop.id]
        following = run.cursor + 1
        if not route.used_up:
            cursor = self._rules.capped(following)
            self._runs[loop.id] = Run(
                loop.id, cursor, self._rules.fresh(loop.id), sure=cursor == self._rules.cap
            )
            return self._has(loop, following)
        del self._runs[loop.id]
        held = self._ends(loop, run.cursor, following)
        if route.kind == "stream":
            self._lists[self._rules.place[loop.id]] = Length(1, self._rules.most, missing=False)
        return held

    def _plan(self, route: Route) -> _Facts:
        """A generator of streams leads into them where there is an item, else past them."""
        region = self._rules.ground.regions.get(route.source)
        loop = region.loop if region else None
        if loop is None or loop.id not in self._rules.loops:
            return _FREE
        return self._ends(loop, 0, 0) if route.kind == "jump" else self._has(loop, 0)

    def _has(self, loop: LoopView, cursor: int) -> _Facts:
        """There is an item under a cursor."""
        place = self._rules.place[loop.id]
        known = self._lists[place]
        if known.most <= cursor:
            return (self._rules.ground.list_of(loop),)
        self._lists[place] = Length(
            max(known.least, self._rules.capped(cursor + 1)), known.most, missing=False
        )
        return _FREE

    def _ends(self, loop: LoopView, cursor: int, length: int) -> _Facts:
        """A list is no longer than a length; for a cursor at the cap, than one that is not known."""
        place = self._rules.place[loop.id]
        known = self._lists[place]
        if known.least > length:
            return (self._rules.ground.list_of(loop),)
        if cursor < self._rules.cap:
            self._lists[place] = known._replace(most=min(known.most, length))
        return _FREE

    def come(self, route: Route) -> _Facts:
        """Come to what the step leads to: into a visit, or past a loop without an item."""
        if route.target == END or route.kind == "jump":
            return _FREE
        passed = self._graph.ways_past.get(route.target)
        loop = passed or self._graph.loop_of(route.target)
        if loop is not None and loop.id in self._rules.loops:
            held = self._enter(loop, route) or self._find(loop, empty=passed is not None)
            if held:
                return held
        if passed is not None:
            return _FREE
        return self._guard(route) or self._limit(route.target)

    def _enter(self, loop: LoopView, route: Route) -> _Facts:
        """Put an idle loop under way."""
        if loop.id in self._runs:
            return _FREE
        self._runs[loop.id] = Run(loop.id, 0, self._rules.fresh(loop.id))
        if route.budget is not None and self._graph.loop_of(route.source) is None:
            return _FREE
        self._cast, held = self._met(self._cast, ("loop", loop.id))
        return held

    def _find(self, loop: LoopView, *, empty: bool) -> _Facts:
        run = self._runs.pop(loop.id)
        if empty and run.sure:
            return (self._rules.ground.list_of(loop),)
        if empty:
            return self._ends(loop, run.cursor, run.cursor)
        # It is the one that is visited last.
        self._runs[loop.id] = run._replace(sure=run.cursor == self._rules.cap)
        return self._has(loop, run.cursor)

    def _guard(self, route: Route) -> _Facts:
        landmark = ("socket", route.target)
        if route.budget is not None or landmark not in self._rules.landmarks:
            return _FREE
        if not self._runs:
            self._cast, held = self._met(self._cast, landmark)
            return held
        loop = self._graph.loop_of(route.target)
        run = self._runs[loop.id] if loop else next(reversed(self._runs.values()))
        scope, held = self._met(run.scope, landmark)
        self._runs[run.loop] = run._replace(scope=scope)
        return held

    def _met(self, scope: Scope, landmark: Landmark) -> tuple[Scope, _Facts]:
        """Come to a landmark; what a scope remembers closes a cycle, and all else is forgotten."""
        if landmark not in self._rules.landmarks:
            return scope, _FREE
        if landmark not in scope.remembered:
            return scope._replace(remembered=scope.remembered | {landmark}), _FREE
        closed = scope.closed | {landmark} if self._rules.exact else NOTHING
        after = Scope(scope.counts, scope.cycles + 1, frozenset([landmark]), closed)
        if after.cycles <= self._rules.ground.cycles:
            return after, _FREE
        return after, tuple(("guard", each) for each in sorted(closed | {landmark}))

    def _limit(self, socket: str) -> _Facts:
        limits = self._graph.sockets[socket].written.limits
        place = self._rules.limited.get(socket)
        if place is None or limits is None or limits.max_visits is None:
            return _FREE
        if self._visits[place] >= limits.max_visits:
            return (("visits", socket),)
        self._visits[place] += 1
        return _FREE
