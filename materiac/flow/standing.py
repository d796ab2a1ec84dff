"""What is known of a cast where it stands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from materiac.flow.ground import Fact

Landmark = tuple[str, str]
"""What the stall guard remembers: ("socket", id) or ("loop", id)."""
NOTHING: Final[frozenset[Landmark]] = frozenset()


class Scope(NamedTuple):
    """What an item has seen, or the cast outside of items: counts of edges, and the stall guard's part.

    `closed` are the landmarks by which cycles were closed, where that is asked for.
    """

    counts: tuple[int, ...] = ()
    cycles: int = 0
    remembered: frozenset[Landmark] = NOTHING
    closed: frozenset[Landmark] = NOTHING


class Run(NamedTuple):
    """A loop under way, and the scope of the item that it is at.

    Cursors from the cap on are one. Of such a one `sure` says that there is an item under it, which the
    length of the list tells for the others.
    """

    loop: str
    cursor: int
    scope: Scope
    sure: bool = False


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


def layers(kept: Kept | None) -> Iterator[Kept]:
    """What is kept of a stream, and of the cast around it."""
    while kept is not None:
        yield kept
        kept = kept.outer


class Standing(NamedTuple):
    """Where a cast is: in a visit of a socket, on the way past a loop, or at `end`; and the facts kept."""

    node: str
    kept: Kept = Kept()
    visits: tuple[int, ...] = ()


class Held(NamedTuple):
    """A step to a node that a cast cannot take where it stands, and the facts that hold it up."""

    node: str
    facts: tuple[Fact, ...]
