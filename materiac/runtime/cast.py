"""A cast: what the machine asks, answered by the sockets of a program, one visit after the other.

The machine decides where control goes; this decides whether it may come there, performs the visit, and
keeps what was decided in the journal before the machine moves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from materiac.machine import FAILED, WAITING, Way
from materiac.path import MISSING
from materiac.program import END, Edge, Loop, Program, Socket
from materiac.runtime import chronicle
from materiac.runtime.announce import announced
from materiac.runtime.ask import ask
from materiac.runtime.bench import Bench
from materiac.runtime.call import call
from materiac.runtime.course import Course
from materiac.runtime.folder_names import folder_names
from materiac.runtime.follow_up import Note, reason_of
from materiac.runtime.items import ItemId, Loops
from materiac.runtime.journal import Record
from materiac.runtime.limits import check_items
from materiac.runtime.outcome import Arrival, Outcome
from materiac.runtime.prompt import PromptView
from materiac.runtime.scopes import Landmark, Scopes
from materiac.runtime.state import Knowledge
from materiac.runtime.usage import warn
from materiac.runtime.visit import Json, Output, Visit, VisitFailed, VisitWaits
from materiac.runtime.watch import Watch
from materiac.verdict import holds


class GoneError(Exception):
    """A cast stands at a socket that the definition it goes on with does not have."""


class Cast:
    """The driver of a machine: implements `materiac.machine.Driver`."""

    def __init__(self, bench: Bench, state: Json | None = None, course: Course | None = None) -> None:
        self.bench = bench
        self.knowledge = Knowledge.starting(state or {})
        self.loops = Loops(self.program)
        self.course = course or Course()
        self.path, self.items = self.course.path, self.course.items
        self.visits, self.traversals = self.course.visits, self.course.traversals
        self.numbers: Counter[str] = Counter()
        self.failure: Json | None = None
        self.waits: VisitWaits | None = None
        self.watch = Watch(self.program)
        self._scopes = Scopes()
        self._arrival: Arrival | None = None
        self._now = Outcome()
        self._refused: Way | None = None
        self._is_let_through = False

    @property
    def program(self) -> Program:
        """What runs; a cast may go on with another one."""
        return self.bench.program

    # What the machine asks

    def failed(self) -> bool:
        return self._now.failure is not None

    def waiting(self) -> bool:
        return self._now.waits is not None

    def skipped(self) -> bool:
        return self._now.skipped

    def used_up(self) -> bool:
        return self._now.used_up

    def verdict(self) -> bool | None:
        return self._now.verdict

    def over_budget(self, to: str) -> bool:
        told = self.bench.journal.tells_of("budget")
        if told is not None:
            return told
        return self.bench.over_budget() is not None and self._landing(to) != END

    def spent(self, source: str, index: int, edge: Edge) -> bool:
        return self._scopes.spent(self._item_id(), source, index, edge)

    def unfinished(self) -> bool:
        told = self.bench.journal.tells_of("property")
        return self.watch.breach(END) is not None if told is None else told

    # What the machine has done

    def enter(self, socket: Socket) -> None:
        """Come to a socket: past it, where its loop has no item, or into a visit."""
        self.heed_changes()
        self._now = Outcome()
        self._try(lambda: self._come(self._socket(socket.id)))

    def _try(self, visit: Callable[[], None]) -> None:
        try:
            visit()
        except VisitFailed as failure:
            self._now.failure = failure
        except VisitWaits as waits:
            self._now.waits = waits

    def leave(self, way: Way) -> None:
        """Write down what came of the visit, and take the step, or say why not."""
        if way.kind == "failed":
            self._fail(self._now.failure)
        elif way.kind == "waiting":
            self._wait(self._now.waits)
        elif way.kind == "empty":
            self._append("loop_skipped", sync=False, socket=way.source, to=way.to)
        elif self._now.visit is not None:
            self._finish(way)
        elif way.blocked is not None:
            self._refuse(way, way.blocked)
        if way.to not in (FAILED, WAITING):
            self._arrival = Arrival(way, self._item_id())

    def schedule(self) -> list[Json]:
        """The streams that the last output schedules, each with its `name` and its `workItemIndexes`."""
        streams: list[Json] = self.knowledge.last_json["parallelSchedule"]["streams"]
        return streams

    def join(self, place: Json, failure: VisitFailed | None, waits: VisitWaits | None) -> None:
        """Say what came of the streams of a region, which take the place of a visit."""
        self._now = Outcome(failure=failure, waits=waits, place=place)

    # What a person has done for a cast that rests

    @property
    def is_refused(self) -> bool:
        """Whether the visit is done, and what the cast rests by is the step out of it."""
        return self._refused is not None

    def go_on(self) -> None:
        """Forget what the cast rested by."""
        self.failure = self.waits = self._refused = None

    def allow_edge(self) -> None:
        """Let the edge that is used up be taken once more, for its item alone."""
        edge = self._refused.blocked if self._refused else None
        if edge is not None and edge.index is not None:
            self._scopes.of(self._item_id()).allow((edge.source, edge.index))

    def again(self) -> None:
        """Do the visit that failed, or that was interrupted, once more, under its number."""
        visit, failure = self._now.visit, self._now.failure
        if failure is not None and failure.kind == "stalled":
            self._scopes.of(self._now.scope).restart()
        if visit is None:
            self._is_let_through = failure is not None and failure.kind in ("visit-limit", "property")
            self.enter(self._socket(self._now.place["socket"]))
            return
        self.heed_changes()
        socket = self._socket(visit.socket.id)
        visit = replace(visit, socket=socket, materia=self.program.materia[socket.materia])
        self._now = Outcome()
        self._now.come(socket.id, visit.item)
        self._try(lambda: self._perform(visit, chronicle.RESTARTED))

    def heed_changes(self) -> None:
        """Go on with another definition, where a person has accepted it."""
        journal = self.bench.journal
        journal.cross()
        while journal.changes:
            self.adopt(self.bench.programs[journal.changes.pop(0).fields["machine"]])

    def adopt(self, program: Program) -> None:
        """Go on with another program from here."""
        folder = self.bench.folder
        folders = folder_names([*folder.folders, *program.sockets])
        self.bench = replace(self.bench, program=program, folder=replace(folder, folders=folders))
        self.loops.adopt(program)
        self.watch.adopt(program, self.path)

    def _socket(self, id_: str) -> Socket:
        socket = self.program.sockets.get(id_)
        if socket is None:
            raise GoneError(f"the cast stands at '{id_}', which its new definition does not have")
        return socket

    def _come(self, socket: Socket) -> None:
        self._now.come(socket.id, None)
        loop = self.program.loops[socket.loop] if socket.loop is not None else None
        item = None
        if loop is not None:
            self._enter(loop)
            item = self.loops.item(loop, self._read)
            if item is None:
                self.loops.leave(loop)
                self._now.skipped = True
                return
        self._now.come(socket.id, item)
        scope_id = item.id if item else self.loops.current()
        budgeted = self._arrival is not None and self._arrival.budgeted
        if not (budgeted or self._is_let_through):
            self._guard(scope_id, ("socket", socket.id))
        self._is_let_through = False
        self._count(socket, item.key if item else None)
        if loop is not None:
            self.loops.visit(loop)
        self.numbers[socket.id] += 1
        number = self.numbers[socket.id]
        visit = Visit(socket, self.program.materia[socket.materia], number, item)
        self._perform(visit, chronicle.STARTED)

    def _count(self, socket: Socket, item: str | None) -> None:
        """Count a visit that begins now, unless it is told of one that began."""
        told = self.bench.journal.told
        if told is None or told.type != chronicle.STARTED:
            self.course.visit(socket, item, self.watch.breach(socket.id))
        self.watch.come(socket.id)

    def _enter(self, loop: Loop) -> None:
        """Put an idle loop under way; doing so is remembered unless a budget of the cast bounds it."""
        if not self.loops.enter(loop):
            return
        self._scopes.drop_finished(self.loops.live())
        arrival = self._arrival
        if arrival is None or not (arrival.budgeted and arrival.item is None):
            self._guard(None, ("loop", loop.id))

    def _guard(self, item: ItemId | None, landmark: Landmark) -> None:
        self._now.scope = item
        key = self._now.place.get("itemKey")
        self._scopes.guard(item, landmark, self.program.max_no_advance_cycles, f" for {key}" if key else "")

    def _perform(self, visit: Visit, beginning: str) -> None:
        self._now.visit = visit
        self._begin(visit, beginning)
        loop = self.program.loops[visit.socket.loop] if visit.socket.loop is not None else None
        output = self._output(visit, loop)
        self._now.output = output
        self._take(visit, output)
        cursor = partial(self.loops.cursor, inside=loop)
        result = output.accepted.output if output.accepted else output.text
        self.knowledge.assign(visit.socket, visit.item, cursor, result)
        self._advance(visit.socket, loop)
        if visit.materia.generator:
            self.loops.renewed_by(visit.socket.id)

    def _begin(self, visit: Visit, beginning: str) -> None:
        """Write down that a visit begins; the files of an earlier try make room."""
        if beginning == chronicle.STARTED:
            self._append(beginning)
            return
        folder, journal = self.bench.folder, self.bench.journal
        moved = folder.old_files(*visit.id) if journal.writes and journal.told is None else []
        told = self._append(beginning, moved=moved)
        if journal.writes:
            folder.set_aside(moved if told is None else told.fields["moved"])

    def _output(self, visit: Visit, loop: Loop | None) -> Output:
        if visit.materia.agent is not None:
            return ask(self.bench, visit, self._view(visit, loop))
        position = self.loops.cursor(loop.cursor, loop) if loop is not None else None
        return call(self.bench, visit, self.knowledge.state, self.loops.cursors(loop), position)

    def _take(self, visit: Visit, output: Output) -> None:
        if output.accepted is None:
            self.knowledge.take_text(output.text)
        else:
            check_items(self.bench.limits, output.accepted.output)
            self.knowledge.take_object(visit.socket, visit.materia, output.accepted)
            for kind, fields in announced(output.accepted, output.files):
                self._append(kind, sync=False, **fields)

    def _advance(self, socket: Socket, loop: Loop | None) -> None:
        step = socket.advance
        if step is not None and loop is not None and holds(step.when, self._now.verdict):
            self._now.advanced = True
            self._now.used_up = self.loops.advance(loop, self._read)

    # After a visit

    def _finish(self, way: Way) -> None:
        taken, now = way.blocked or way, self._now
        route = {"kind": taken.kind, "to": taken.to, "when": taken.when, "edge": taken.index}
        files = now.output.files if now.output else []
        asked = now.visit is not None and now.visit.materia.agent is not None
        listed = ("context", "output", "said") if asked else ()  # with the turns that they belong to
        if not now.finished:
            self._append(
                chronicle.FINISHED,
                verdict=now.verdict,
                usedUp=now.used_up,
                route=route,
                blocked=way.kind if way.blocked else None,
                output=[part for part in files if part["kind"] in ("output", "parsed")],
                files=[part for part in files if part["kind"] not in listed],
            )
            now.finished = True
            self._warn_of_budget()
        if way.blocked is not None:
            self._refuse(way, way.blocked)
        elif way.edge is not None and way.index is not None:
            self._traverse(way, way.index, way.edge)

    def _traverse(self, way: Way, index: int, edge: Edge) -> None:
        item = self._item_id()
        self._scopes.take(item, way.source, index, edge)
        self.course.traverse(way.source, way.to)
        accepted = self._now.output.accepted if self._now.output else None
        if edge.when == "not_satisfied" and accepted is not None:
            note = Note(way.source, way.to, index, reason_of(accepted))
            self._scopes.of(item).note(way.to, note)

    def _refuse(self, way: Way, blocked: Way) -> None:
        """The cast goes no further: its budget is spent, or that of the edge."""
        self._refused = way
        if way.kind == "budget":
            self._refuse_spending()
            return
        if way.kind == "property":
            self._refuse_ending()
            return
        limit = blocked.edge.max_traversals if blocked.edge else None
        item = self._now.visit.item if self._now.visit else None
        whom = f"for {item.key} ('{item.label}')" if item else "for this cast"
        edge = f"the {blocked.when} edge of '{blocked.source}' to '{blocked.to}'"
        again = self._scopes.of(self._item_id()).traversals[blocked.source, blocked.index or 0] + 1
        self._fail(
            VisitFailed("edge-limit", f"{edge} would be taken {again} times {whom}, its limit is {limit}")
        )

    def _refuse_spending(self) -> None:
        told = self.bench.journal.told
        reached = self.bench.over_budget() or ""
        if self.program.budget.stop_at_limit:
            self._fail(VisitFailed("budget", told.fields["failure"]["message"] if told else reached))
        else:
            message = f"{reached}: the cast waits for a higher limit"
            self._wait(VisitWaits(told.fields["message"] if told else message, "budget"))

    def _refuse_ending(self) -> None:
        told = self.bench.journal.told
        words = told.fields["failure"]["message"] if told else None
        self._fail(VisitFailed("property", words) if words else self.watch.breach(END))

    def _fail(self, failure: VisitFailed | None) -> None:
        if failure is None:
            return
        place = self._now.where()
        self.failure = {
            "kind": failure.kind,
            "message": failure.message,
            "socket": place["socket"],
            "visit": place.get("visit"),
            "item": place.get("itemKey"),
        }
        self._append(chronicle.FAILED, failure=self.failure, files=failure.files)

    def _wait(self, waits: VisitWaits | None) -> None:
        self.waits = waits
        if waits is not None:
            self._append(chronicle.WAITS, message=waits.message, reason=waits.reason)

    def _warn_of_budget(self) -> None:
        if self.bench.journal.pass_warning():
            return
        message = warn(self.program.budget, self.bench.tally)
        if message is not None and self.course.first_warning():
            self._append(chronicle.WARNING, sync=False, message=message)

    # What the sockets see

    def _view(self, visit: Visit, loop: Loop | None) -> PromptView:
        knowledge = self.knowledge
        return PromptView(
            program=self.program,
            socket=visit.socket,
            materia=visit.materia,
            request=self.bench.request,
            state=knowledge.state,
            item=visit.item,
            last_output=knowledge.last_output,
            last_json=knowledge.last_json,
            previous=knowledge.shown,
            cursor=partial(self.loops.cursor, inside=loop),
            upstream=knowledge.state.get("workItems"),
            notes=self._notes(visit),
            written=tuple(knowledge.written),
        )

    def _notes(self, visit: Visit) -> list[Note]:
        """Why this visit is rework, if the edge that led here says so, for the same item."""
        arrival, item = self._arrival, visit.item.id if visit.item else None
        if arrival is None or not arrival.rework:
            return []
        if arrival.item is not None and item is not None and arrival.item != item:
            return []
        return list(self._scopes.of(arrival.item).notes.get(visit.socket.id, ()))

    def _read(self, source: str) -> Any:
        value = self.knowledge.read(source, None, partial(self.loops.cursor, inside=None))
        return None if value is MISSING else value

    def _landing(self, to: str) -> str:
        """Where a step would lead, past loops that would be found empty, and regions without streams."""
        region = self.program.regions.get(self._now.visit.socket.id) if self._now.visit else None
        to = region.after if region and to == region.entry and not self.schedule() else to
        return self.loops.landing(self.program, to, self._read)

    def _item_id(self) -> ItemId | None:
        visit = self._now.visit
        return visit.item.id if visit is not None and visit.item is not None else None

    def _append(self, kind: str, *, sync: bool = True, **fields: Any) -> Record | None:
        place = self._now.where()
        return self.bench.journal.append(kind, sync=sync, **{**place, **fields})
