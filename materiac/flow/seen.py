"""The standings that a search has come to, and which of them are worth going on from.

Of two standings that differ in nothing but facts, one may be as good as the other in each of them: an edge
taken less often, a list less known, a stall guard that has closed fewer cycles, or as many and remembers
less. Whatever the worse one comes to the better one comes to as well, so the worse one is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from materiac.flow.standing import Kept, Scope, Standing, layers


class Seen:
    """Standings without those that are no better than another one; `work` counts what was compared."""

    def __init__(self) -> None:
        self.work = 0
        self._found: dict[object, list[_Worth]] = {}

    def adds(self, standing: Standing, mode: object) -> bool:
        """Keep a standing, unless another one is as good."""
        stack = list(layers(standing.kept))
        runs = [(run.loop, run.cursor, run.sure) for kept in stack for run in kept.runs]
        key = (standing.node, mode, len(stack), *runs) if runs else (standing.node, mode)
        worth, others = _worth(standing, stack), self._found.setdefault(key, [])
        self.work += len(others)
        if any(other.is_as_good_as(worth) for other in others):
            return False
        others.append(worth)
        return True


class _Worth(NamedTuple):
    """The facts of a standing; less is better."""

    counts: tuple[float, ...]
    scopes: tuple[Scope, ...]

    def is_as_good_as(self, other: _Worth) -> bool:
        return all(mine <= its for mine, its in zip(self.counts, other.counts, strict=True)) and all(
            mine.cycles < its.cycles or (mine.cycles == its.cycles and mine.remembered <= its.remembered)
            for mine, its in zip(self.scopes, other.scopes, strict=True)
        )


def _worth(standing: Standing, stack: Iterable[Kept]) -> _Worth:
    counts: list[float] = [*standing.visits]
    scopes: list[Scope] = []
    for kept in stack:
        scopes += (kept.cast, *(run.scope for run in kept.runs))
        for known in kept.lists:
            counts += (known.least, -known.most, not known.missing)
    for scope in scopes:
        counts += scope.counts
    return _Worth(tuple(counts), tuple(scopes))
