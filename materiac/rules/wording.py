"""How messages list names and ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from materiac.diagnostic import Bilingual, Step

if TYPE_CHECKING:
    from materiac.flow.termination import Cycle
    from materiac.graph import LoadoutGraph, LoopView

_MOST = 8
"""More names than this are counted instead."""


def listed(names: Sequence[str]) -> str:
    """`'a', 'b' and 'c'`; of many names the first, and how many more there are."""
    quoted = [f"'{name}'" for name in names[:_MOST]]
    if len(names) > _MOST:
        return f"{', '.join(quoted)} and {len(names) - _MOST} more"
    return " and ".join([part for part in (", ".join(quoted[:-1]), *quoted[-1:]) if part])


def way(nodes: Sequence[str], graph: LoadoutGraph) -> str:
    """`'a' → 'b' → 'c'`; the middle of a long way is left out."""
    if len(nodes) <= _MOST:
        return " → ".join(_node(node, graph) for node in nodes)
    first, last = nodes[: _MOST // 2], nodes[-_MOST // 2 + 1 :]
    return f"{way(first, graph)} → … → {way(last, graph)}"


def steps(nodes: Sequence[str], graph: LoadoutGraph) -> tuple[Step, ...]:
    """A whole way, for programs."""
    passed = ((node, graph.ways_past.get(node)) for node in nodes)
    return tuple(Step("socket", node) if loop is None else Step("empty", loop.id) for node, loop in passed)


def _node(node: str, graph: LoadoutGraph) -> str:
    passed = graph.ways_past.get(node)
    return f"(empty: {loop_words(passed)})" if passed else f"'{node}'"


def loop_words(loop: LoopView) -> str:
    """A loop by its id; the one that a socket is by its `foreach`, by the socket."""
    return f"the 'foreach' of '{loop.sockets[0]}'" if loop.foreach else f"loop '{loop.id}'"


def read_as_json(socket: str, otherwise: str = "") -> Bilingual:
    """What lets the output of a socket be read as JSON."""
    return Bilingual(
        f'give \'{socket}\' "parse": "json"{otherwise}',
        f"write 'json' behind the materia of '{socket}'{otherwise}",
    )


def remedy(cycle: Cycle, graph: LoadoutGraph) -> str | Bilingual:
    """What would bound a cycle."""
    if cycle.bound is not None:
        edge = f"the edge of '{cycle.bound.source}' to '{cycle.bound.target}'"
        return Bilingual(f"give {edge} a 'maxTraversals'", f"give {edge} a 'max'")
    visited = cycle.culprit or next((node for node in cycle.nodes if node in graph.sockets), None)
    if visited is not None:
        limit = f"give '{visited}' a 'maxVisits' in its 'limits'"
        return Bilingual(limit, f"limit the 'visits' of '{visited}'")
    return "let an empty list lead out of the cycle"
