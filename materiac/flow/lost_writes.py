"""Keys of the state that streams write and that are read after them, when what they wrote is gone."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from materiac.flow.accesses import Read, Write, accesses
from materiac.names import END
from materiac.routes import past

if TYPE_CHECKING:
    from materiac.flow.accesses import Accesses
    from materiac.flow.regions import RegionView
    from materiac.graph import Assignment, LoadoutGraph


class Lost(NamedTuple):
    """A key that `writer`, a socket in streams, writes, and the first `read` of it after them."""

    key: str
    writer: str
    reader: str
    read: Read

    def is_of(self, assignment: Assignment) -> bool:
        """Whether an assignment writes the key, or something in it."""
        return assignment.target.split(".")[0] == self.key


def lost_writes(graph: LoadoutGraph, region: RegionView) -> Iterator[Lost]:
    """The keys that are read after a region while the streams of it were the last to write them.

    Where another socket writes a key before it is read, what is read is its own.
    """
    known = accesses(graph)
    writers: dict[str, str] = {}
    for id_ in region.members:
        for key in _written(known, id_):
            writers.setdefault(key, id_)
    if region.after == END or not writers:
        return
    for node, reads, open_keys in _after(graph, region, known, frozenset(writers)):
        for read in reads:
            key = read.place[1]
            if key in open_keys and key in writers:
                yield Lost(key, writers.pop(key), node, read)


def _written(known: Accesses, id_: str) -> Iterator[str]:
    acts = known.visits.get(id_, ())
    return (act.place[1] for act in acts if isinstance(act, Write) and len(act.place) > 1)


def _after(
    graph: LoadoutGraph, region: RegionView, known: Accesses, keys: frozenset[str]
) -> Iterator[tuple[str, list[Read], frozenset[str]]]:
    """Each node after a region: what it reads before it writes, and the keys not written since then."""
    members = frozenset(region.members)
    loop = graph.loop_of(region.after)
    starts = [region.after, *([past(loop)] if loop is not None else [])]
    open_at: dict[str, frozenset[str]] = dict.fromkeys(starts, keys)
    waiting = deque(starts)
    while waiting:
        node = waiting.popleft()
        left = open_at[node] - _closed(known, node)
        for target in graph.after(node):
            here = open_at.get(target, frozenset())
            if target not in members and not left <= here:
                open_at[target] = here | left
                waiting.append(target)
    for node, open_keys in open_at.items():
        yield node, list(_reads(graph, known, node)), open_keys


def _closed(known: Accesses, node: str) -> frozenset[str]:
    acts = known.visits.get(node, ())
    return frozenset(act.place[1] for act in acts if isinstance(act, Write) and len(act.place) == 2)


def _reads(graph: LoadoutGraph, known: Accesses, node: str) -> Iterator[Read]:
    loop = graph.ways_past.get(node) or graph.loop_of(node)
    if loop is not None and loop.id in known.lists:
        yield known.lists[loop.id]
    written: set[str] = set()
    for act in known.visits.get(node, ()):
        if isinstance(act, Read) and act.place[1] not in written:
            yield act
        elif isinstance(act, Write) and len(act.place) == 2:
            written.add(act.place[1])
