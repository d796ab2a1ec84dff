"""How messages list names and ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from materiac.flow.termination import Cycle
    from materiac.graph import LoopView

_MOST = 8
"""More names than this are counted instead."""


def listed(names: Sequence[str]) -> str:
    """`'a', 'b' and 'c'`; of many names the first, and how many more there are."""
    quoted = [f"'{name}'" for name in names[:_MOST]]
    if len(names) > _MOST:
        return f"{', '.join(quoted)} and {len(names) - _MOST} more"
    return " and ".join([part for part in (", ".join(quoted[:-1]), *quoted[-1:]) if part])


def way(names: Sequence[str]) -> str:
    """`'a' → 'b' → 'c'`; the middle of a long way is left out."""
    quoted = [f"'{name}'" for name in names]
    if len(quoted) > _MOST:
        quoted[_MOST // 2 : -_MOST // 2 + 1] = ["…"]
    return " → ".join(quoted)


def loop_words(loop: LoopView) -> str:
    """A loop by its id; the one that a socket is by its `foreach`, by the socket."""
    return f"the 'foreach' of '{loop.sockets[0]}'" if loop.foreach else f"loop '{loop.id}'"


def remedy(cycle: Cycle) -> str:
    """What would bound a cycle."""
    if cycle.bound is not None:
        return f"give the edge of '{cycle.bound.source}' to '{cycle.bound.target}' a 'maxTraversals'"
    return f"give '{cycle.culprit or cycle.sockets[0]}' a 'maxVisits' in its 'limits'"
