"""What is read of the state too early, or never, and how messages tell of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from materiac.rules.rule import LoadoutView
from materiac.rules.wording import loop_words
from materiac.source import Pointer

if TYPE_CHECKING:  # `materiac rules` lists the rules without loading what they look with
    from materiac.flow.accesses import Accesses
    from materiac.flow.slips import Slip
    from materiac.flow.unused import Unused
    from materiac.flow.unwritten import Gap
    from materiac.graph import LoadoutGraph


def gaps_of(view: LoadoutView) -> Sequence[Gap]:
    """The reads of what nothing has written, in the order in which casts come to them."""
    from materiac.flow.unwritten import gaps  # noqa: PLC0415 - see above

    return gaps(view.graph, view.file.frame.limits.max_no_advance_cycles)


def slips_of(view: LoadoutView) -> Iterator[Slip]:
    """The words in prompts that may be misspelt references."""
    from materiac.flow.slips import slips  # noqa: PLC0415 - see above

    return slips(view.graph)


def accesses_of(view: LoadoutView) -> Accesses:
    """What the sockets of a loadout read and write."""
    from materiac.flow.accesses import accesses  # noqa: PLC0415 - see above

    return accesses(view.graph)


def unused_of(view: LoadoutView) -> Iterator[Unused]:
    """The assignments that nothing sees, in the order in which casts come to them."""
    from materiac.flow.unused import unused  # noqa: PLC0415 - see above

    return unused(view.graph)


def words(gap: Gap, graph: LoadoutGraph) -> str:
    """Who reads what, as far as to 'which'."""
    read = gap.read
    if read.kind == "list":
        return f"{loop_words(graph.ways_past[gap.node])} goes through '{read.written}'"
    if read.kind == "source":
        return f"'{gap.node}' assigns '{read.written}' to '{read.target}'"
    return f"'{gap.node}' reads '{read.written}'"


def place(gap: Gap | Slip, graph: LoadoutGraph) -> Pointer:
    """Where it stands in the loadout itself: what a materia says, at the socket that uses it."""
    return (*graph.socket_at(gap.node), "materia") if gap.read.inherited else gap.read.at


def related(gap: Gap | Slip, graph: LoadoutGraph) -> tuple[tuple[Pointer, str], ...]:
    """Where its materia has it."""
    if not gap.read.inherited:
        return ()
    part = "in the prompt of" if gap.read.kind == "prompt" else "assigned by"
    return ((gap.read.at, f"{part} '{graph.sockets[gap.node].written.materia}'"),)
