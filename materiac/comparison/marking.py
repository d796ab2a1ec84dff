"""What a picture marks as another of a program."""

from __future__ import annotations

from collections.abc import Iterator

from materiac.change import Change, changes
from materiac.program import Image, Program
from materiac.render.against import Before


def before(old: Image, new: Image) -> Before:
    """The old program for a picture of the new one."""
    return Before(old, frozenset(_changed(new.program, changes(old.program, new.program))))


def _changed(program: Program, found: tuple[Change, ...]) -> Iterator[tuple[str, str]]:
    """The sockets and loops that are another, themselves or by their materia; arrows show edges and exits."""
    parts = {change.part for change in found if change.part and not _is_arrow(change)}
    for section, id_ in parts:
        if section in ("sockets", "loops"):
            yield section, id_
        if section == "loops" and id_ in program.loops and program.loops[id_].foreach:
            yield from (("sockets", member) for member in program.loops[id_].sockets)
    for socket in program.sockets.values():
        if ("materia", socket.materia) in parts:
            yield "sockets", socket.id


def _is_arrow(change: Change) -> bool:
    """Whether an arrow alone shows a change: edges and exits have numbers."""
    return change.what.startswith(("edge ", "exit ")) or change.what in ("empty", "done", "advance.done")
