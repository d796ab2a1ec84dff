"""The journal as a cast writes it and, where the cast goes on, as it tells what has been done already.

A cast that goes on goes its whole way again, from the first step. What it would do is taken from the
records, and what it would write down is held against them, until none are left: from then on it works.
So nothing has to be kept but the journal and the files that it names.

The records of a cast and those of each of its streams are told apart from each other: nobody has to
know which of two streams was faster. A record `cast_resumed` stands where a process went on with the
cast, maybe in the middle of a visit; it is crossed, and counts in all streams.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from materiac.runtime.journal import Appending, Record
from materiac.runtime.visit import Json, VisitFailed, VisitWaits

RESUMED: Final = "cast_resumed"
TURN: Final = "turn_finished"
COMMAND: Final = "command_finished"
WORDS: Final = "person_said"
"""What came of a piece of work: a turn of an agent, a command, what a person said."""
STARTED: Final = "socket_started"
RESTARTED: Final = "socket_restarted"
FINISHED: Final = "socket_finished"
FAILED: Final = "socket_failed"
WAITS: Final = "socket_waits"
WARNING: Final = "budget_warning"

_CAST_ENDS: Final = "cast_finished"
_ENDS: Final = (_CAST_ENDS, "stream_finished")
_SAID: Final = frozenset(
    ["answer_shown", "event", "handoff_field_dropped", "state_field_dropped", "output_cut", WARNING]
)
"""Records for whoever watches, by which nothing is decided."""
_NOTES: Final = frozenset(["eventing_note", "leftovers_ended", "turn_retried", "handoff_chosen"])
"""Records of what surrounds the cast, which comes anew each time."""
_DECISIVE: Final = ("socket", "visit", "itemKey", "verdict", "usedUp", "route", "blocked", "status", "to")
_UNTOLD: Final = frozenset(["moved", "stream"])
"""What a second telling cannot know, and what it says apart."""


class PartedError(Exception):
    """A cast does not go the way that its records tell. `record` is the first one that does not fit."""

    def __init__(self, record: Record, kind: str, fields: Mapping[str, Any]) -> None:
        super().__init__(_parting(record, kind, fields))
        self.record, self.kind, self.fields = record, kind, fields


class UsedUp(Exception):
    """The records have come to their end, and nothing shall be done that they do not tell."""


class Changed(Exception):
    """From here on the cast has another definition: the visit begins again."""


class Chronicle:
    """The records of a cast, or of one of its streams: those told first, then those that are written.

    Without a `journal` nothing is written: where the records end, `UsedUp` is raised. With `strict`
    all that the records hold has to be as it was, else only what decides the way.
    `crossed` is the last `cast_resumed` since the visit began; `changes` are those that brought
    another definition and have not been heeded yet.
    """

    def __init__(
        self, journal: Appending | None, records: Sequence[Record] = (), *, strict: bool = False
    ) -> None:
        self.strict = strict
        self.crossed: Record | None = None
        self.changes: list[Record] = []
        self._journal = journal
        self._stream: str | None = None
        self._queues = _by_stream(records)
        self._queue = self._queues.setdefault(None, deque())

    def of(self, stream: str) -> Chronicle:
        """The chronicle of a stream, whose name is in all of its records."""
        other = Chronicle(self._journal, strict=self.strict)
        other._stream = stream
        other._queues = self._queues
        other._queue = self._queues.setdefault(stream, deque())
        return other

    @property
    def writes(self) -> bool:
        """Whether there is a journal behind the records, to which others are added."""
        return self._journal is not None

    @property
    def told(self) -> Record | None:
        """The next record of what was done; None where all has been told."""
        return next((record for record in self._queue if not _is_break(record)), None)

    def tells_of(self, bar: str) -> bool | None:
        """Whether a budget, or a property, kept the cast from its next step; None where that is not told."""
        told = self.told
        if told is None:
            return None
        if told.type == FINISHED:
            return bool(told.fields["blocked"] == bar)
        if told.type == FAILED:
            return bool(told.fields["failure"]["kind"] == bar)
        return told.type == WAITS and told.fields["reason"] == bar

    def append(self, kind: str, /, *, sync: bool = True, **fields: Any) -> Record | None:
        """Write a record, or hold it against the one that tells the same, and give that.

        Raises `PartedError`.
        """
        self.cross()
        if kind in (STARTED, RESTARTED):
            self.crossed = None
        if not self.strict and kind not in _SAID:
            self._skip_said()
        if not self._queue:
            self._write(kind, fields, sync=sync)
            return None
        if self._queue[0].type == kind:
            told = self._queue.popleft()
            self._compare(told, kind, fields)
            return told
        if self.strict or kind not in _SAID:
            raise PartedError(self._queue[0], kind, fields)
        return None

    def take(self, kind: str, *, pauses: bool = False) -> Record | None:
        """The record of what came of a piece of work; None where it has to be done now.

        Raises what ended the visit in its place. With `pauses` a wait that is over is passed by.
        """
        self.cross()
        while pauses and self._is_pause():
            self._queue.popleft()
            self.cross(ends=True)
        if self.changes:
            raise Changed
        if not self.strict:
            self._skip_said()
        if self._queue:
            return self._taken(kind)
        if self._journal is None:
            raise UsedUp
        return None

    def tried_again(self) -> bool:
        """Whether a failure comes next after which a person had it tried again; then it is passed by."""
        self.cross()
        if not self._queue or self._queue[0].type != FAILED:
            return False
        behind = (record for record in islice(self._queue, 1, None) if record.type != _CAST_ENDS)
        resumed = next(behind, None)
        if resumed is None or resumed.type != RESUMED or not resumed.fields["retry"]:
            return False
        self._queue.popleft()
        self.cross(ends=True)
        return True

    def pass_warning(self) -> bool:
        """Whether it is told if there was a warning of the budget here; one that is told is passed by."""
        told = self.told
        if told is not None and told.type == WARNING:
            self.cross()
            self._queue.popleft()
        return told is not None

    def finish(self, **fields: Any) -> Record | None:
        """Write that the cast rests, or hold it against the record; gives the `cast_resumed` behind it."""
        while self._queue and self._queue[0].type != RESUMED and _is_break(self._queue[0]):
            self._queue.popleft()
        if not self._queue:
            self.stop(**fields)
            return None
        if self._queue[0].type != RESUMED:
            if self._queue[0].type != _CAST_ENDS:
                raise PartedError(self._queue[0], _CAST_ENDS, fields)
            self._compare(self._queue.popleft(), _CAST_ENDS, fields)
        self.crossed = None
        self.cross()
        return self.crossed

    def stop(self, **fields: Any) -> None:
        """Write that the cast rests, whatever has not been told yet."""
        self._write(_CAST_ENDS, fields)

    def cross(self, *, ends: bool = False) -> None:
        """Pass by the records of processes that were interrupted here, and went on; or all their `ends`."""
        while self._queue and (_is_break(self._queue[0]) or (ends and self._queue[0].type in _ENDS)):
            record = self._queue.popleft()
            if record.type == RESUMED:
                self.crossed = record
                if self._stream is None and record.fields.get("accepted"):
                    self.changes.append(record)

    def _skip_said(self) -> None:
        while self._queue and self._queue[0].type in _SAID:
            self._queue.popleft()
            self.cross()

    def _taken(self, kind: str) -> Record:
        record = self._queue[0]
        if record.type == kind:
            return self._queue.popleft()
        if record.type == FAILED:
            told = record.fields["failure"]
            failure = VisitFailed(told["kind"], told["message"])
            failure.files = record.fields.get("files", [])
            raise failure
        if record.type == WAITS:
            raise VisitWaits(record.fields["message"], record.fields["reason"])
        raise PartedError(record, kind, {})

    def _is_pause(self) -> bool:
        """Whether a wait, or a budget that was spent in a talk, comes next, and the cast went on after it."""
        if not self._queue or not _is_wait(self._queue[0]):
            return False
        behind = (record.type for record in islice(self._queue, 1, None) if record.type != _CAST_ENDS)
        return next(behind, None) == RESUMED

    def _write(self, kind: str, fields: Mapping[str, Any], *, sync: bool = True) -> None:
        if self._journal is None:
            raise UsedUp
        stream = {} if self._stream is None else {"stream": self._stream}
        self._journal.append(kind, sync=sync, **{**fields, **stream})

    def _compare(self, record: Record, kind: str, fields: Mapping[str, Any]) -> None:
        if self.strict:
            names = (record.fields.keys() | fields.keys()) - _UNTOLD
            same = _plain(record.fields, names) == _plain(json.loads(json.dumps(fields)), names)
        else:
            same = _decisive(record.fields) == _decisive(fields)
        if not same:
            raise PartedError(record, kind, fields)


def _plain(fields: Mapping[str, Any], names: Iterable[str]) -> Json:
    return {name: fields.get(name) for name in names}


def _decisive(fields: Mapping[str, Any]) -> Json:
    """What decides the way; which number an edge has among the others does not."""
    route = fields.get("route") or {}
    return _plain(fields, _DECISIVE) | {"route": (route.get("kind"), route.get("to"), route.get("when"))}


def _by_stream(records: Sequence[Record]) -> dict[str | None, deque[Record]]:
    """The records of the cast itself under None, those of each stream under its name."""
    queues: dict[str | None, deque[Record]] = {None: deque()}
    for record in records:
        if record.type in _NOTES:
            continue
        if record.type == RESUMED:
            for queue in queues.values():
                queue.append(record)
        else:
            queues.setdefault(record.fields.get("stream"), deque()).append(record)
    return queues


def _is_break(record: Record) -> bool:
    """Whether a process went on here, or was stopped: both may be anywhere in a visit."""
    return record.type == RESUMED or (record.type in _ENDS and record.fields.get("status") == "stopped")


def _is_wait(record: Record) -> bool:
    return record.type == WAITS or (record.type == FAILED and record.fields["failure"]["kind"] == "budget")


def _parting(record: Record, kind: str, fields: Mapping[str, Any]) -> str:
    where = f"record {record.n} tells of '{record.type}'"
    if record.type != kind:
        return f"{where}, and now comes '{kind}'"
    names = [n for n in sorted(record.fields.keys() | fields.keys()) if record.fields.get(n) != fields.get(n)]
    said = "; ".join(f"'{n}' was {record.fields.get(n)!r} and is {fields.get(n)!r}" for n in names[:3])
    return f"{where}, in which {said}"
