"""Which loops the records of a cast leave under way."""

from __future__ import annotations

from collections.abc import Mapping

from materiac.program import Program
from materiac.runtime.chronicle import FINISHED, RESTARTED, RESUMED, STARTED
from materiac.runtime.journal import Record

_ADOPTS = (STARTED, RESTARTED, "loop_skipped", "streams_started", "streams_resumed")
"""What a cast does by a definition that was accepted before."""


class UnderWay:
    """A fold over the records of a cast. `programs` has, by their files, those that it went over to.

    Streams have loops of their own, and are passed by.
    """

    def __init__(self, program: Program, programs: Mapping[str, Program]) -> None:
        self._program = program
        self._programs = programs
        self._accepted: Program | None = None
        self._loops: dict[str, None] = {}

    @property
    def loops(self) -> tuple[str, ...]:
        """The loops under way, as they were entered."""
        return tuple(self._loops)

    def take(self, record: Record) -> None:
        fields, kind = record.fields, record.type
        if "stream" in fields:
            return
        if kind == RESUMED and fields["accepted"]:
            self._accepted = self._programs[fields["machine"]]
        if kind in _ADOPTS and self._accepted is not None:
            self._adopt(self._accepted)
        if kind == STARTED:
            self._enter(fields["socket"])
        elif kind == "loop_skipped":
            self._leave(fields["socket"])
        elif kind == FINISHED:
            self._finish(fields["socket"], used_up=fields["usedUp"])

    def _adopt(self, program: Program) -> None:
        """Go over to another definition: loops of the same id stay where they are."""
        self._program, self._accepted = program, None
        self._loops = {id_: None for id_ in self._loops if id_ in program.loops}

    def _enter(self, socket: str) -> None:
        loop = self._program.sockets[socket].loop
        if loop is not None:
            self._loops.setdefault(loop)

    def _leave(self, socket: str) -> None:
        self._loops.pop(self._program.sockets[socket].loop or "", None)

    def _finish(self, socket: str, *, used_up: bool) -> None:
        """Leave the loop whose list is used up, and those whose list has been sent anew."""
        if used_up:
            self._leave(socket)
        if self._program.materia[self._program.sockets[socket].materia].generator:
            for loop in self._program.loops.values():
                if loop.source == socket:
                    self._loops.pop(loop.id, None)
