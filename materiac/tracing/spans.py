"""The spans that the records of a journal stand for: a cast, its streams, visits, turns and commands.

A span is given when it has ended. What it is called by, its `key`, follows from the record that it begins
with, so that a process that goes on with a cast calls the spans before it by the same names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal, Protocol

from materiac.program import Materia
from materiac.tracing.contents import Contents
from materiac.tracing.work import FAILED_TURNS, command_attributes, turn_attributes

Json = dict[str, Any]
Value = str | bool | int | float | tuple[str, ...]

CAST: Final = "cast"
"""The key of the span of the process that began a cast."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_HAPPENINGS: Final = frozenset(["turn_retried", "person_said", "budget_warning"])
_WORK: Final = frozenset(["turn_finished", "command_finished", "person_said", "turn_retried"])
"""Records that are only written in a visit."""


class Record(Protocol):
    """A record of a journal: its number, its time, its type, its fields."""

    @property
    def n(self) -> int: ...
    @property
    def at(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def fields(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that has no length: its name, its time in nanoseconds, what is known of it."""

    name: str
    at: int
    attributes: Mapping[str, Value]


@dataclass(slots=True)
class Span:
    """A span: times are nanoseconds since 1970; `error` is why it failed, empty where that is not told."""

    key: str
    parent: str | None
    name: str
    began: int
    kind: Literal["internal", "client"] = "internal"
    ended: int = 0
    attributes: dict[str, Value] = field(default_factory=dict)
    happenings: list[Happening] = field(default_factory=list)
    error: str | None = None


class Spans:
    """The spans of the records so far. `materia` are those of the program that runs."""

    def __init__(self, materia: Mapping[str, Materia], contents: Contents | None = None) -> None:
        self._materia = materia
        self._contents = contents
        self._agent = ""
        self._before = 0
        self._cast: Span | None = None
        self._streams: dict[str, Span] = {}
        self._visits: dict[str | None, Span] = {}
        self._left: dict[str | None, tuple[Any, Any]] = {}
        self._takers: Final[dict[str, Callable[[Record, int], list[Span]]]] = {
            "cast_started": self._cast_started,
            "cast_resumed": self._cast_resumed,
            "cast_finished": self._cast_finished,
            "stream_started": self._stream_started,
            "stream_resumed": self._stream_started,
            "stream_finished": self._stream_finished,
            "socket_started": self._socket_started,
            "socket_restarted": self._socket_started,
            "socket_finished": self._socket_finished,
            "socket_failed": self._socket_failed,
            "socket_waits": self._socket_waits,
            "turn_finished": self._turn_finished,
            "command_finished": self._command_finished,
            **dict.fromkeys(_HAPPENINGS, self._happen),
        }

    def take(self, record: Record) -> list[Span]:
        """Take one more record, from the first one on; gives the spans that end with it."""
        at = _nanoseconds(record.at)
        taker = self._takers.get(record.type)
        ended = [] if taker is None else taker(record, at)
        self._before = at
        return ended

    # The cast and its streams

    def _cast_started(self, record: Record, at: int) -> list[Span]:
        self._begin_cast(CAST, None, record, at)
        return []

    def _cast_resumed(self, record: Record, at: int) -> list[Span]:
        """What an interrupted process had begun ends with its last record."""
        ended = self._end_lanes(self._before)
        if self._cast is not None and not self._cast.ended:
            ended.append(_interrupted(self._cast, self._before))
        self._begin_cast(f"{record.n}", CAST, record, at)
        return ended

    def _begin_cast(self, key: str, parent: str | None, record: Record, at: int) -> None:
        fields = record.fields
        self._agent = str(fields.get("agent") or self._agent)
        before = self._cast.attributes if self._cast else {}
        name = fields.get("loadout") or before.get("gen_ai.agent.name")
        told = {
            "gen_ai.operation.name": "invoke_workflow",
            "gen_ai.agent.name": name,
            "materiac.cast.id": fields.get("castId") or before.get("materiac.cast.id"),
            "materiac.loadout.hash": fields.get("hash"),
            "materiac.agent": self._agent,
            "materiac.version": fields.get("version"),
        }
        self._cast = Span(key, parent, f"invoke_workflow {name}", at, attributes=_known(told))
        if self._contents is not None and isinstance(fields.get("request"), str):
            self._cast.attributes["materiac.request"] = self._contents.cut(fields["request"])

    def _cast_finished(self, record: Record, at: int) -> list[Span]:
        ended = self._end_lanes(at)
        return ended if self._cast is None else [*ended, self._close(self._cast, at, record.fields)]

    def _end_lanes(self, at: int) -> list[Span]:
        """End the visits and streams that are under way."""
        visits = [self._stop_visit(lane, at) for lane in list(self._visits)]
        streams = [_interrupted(span, at) for span in self._streams.values()]
        self._streams.clear()
        return [*visits, *streams]

    def _stream_started(self, record: Record, at: int) -> list[Span]:
        self._stream(str(record.fields["stream"]), record, at)
        return []

    def _stream(self, name: str, record: Record, at: int) -> Span:
        """The span of a stream that goes on; it begins now where a process before this one began it."""
        if name not in self._streams:
            span = Span(f"{record.n}s", self._cast_key, f"stream {name}", at)
            span.attributes["materiac.stream"] = name
            self._streams[name] = span
        return self._streams[name]

    @property
    def _cast_key(self) -> str:
        return self._cast.key if self._cast else CAST

    def _stream_finished(self, record: Record, at: int) -> list[Span]:
        name = str(record.fields["stream"])
        visits = [self._stop_visit(name, at)] if name in self._visits else []
        span = self._stream(name, record, at)
        del self._streams[name]
        return [*visits, self._close(span, at, record.fields)]

    def _close(self, span: Span, at: int, fields: Json) -> Span:
        """End a cast or a stream as its record says."""
        span.ended = at
        span.attributes["materiac.status"] = str(fields.get("status"))
        self._fail(span, fields.get("failure") if fields.get("status") == "failed" else None)
        return span

    # Visits

    def _socket_started(self, record: Record, at: int) -> list[Span]:
        lane = record.fields.get("stream")
        ended = [self._stop_visit(lane, at)] if lane in self._visits else []
        self._begin_visit(record, at)
        return ended

    def _begin_visit(self, record: Record, at: int) -> Span:
        fields, lane = record.fields, record.fields.get("stream")
        materia = self._materia.get(str(fields.get("materia")))
        parent = self._cast_key if lane is None else self._stream(lane, record, at).key
        told = {
            "materiac.socket": fields.get("socket"),
            "materiac.materia": fields.get("materia"),
            "materiac.visit": fields.get("visit"),
            "materiac.item.key": fields.get("itemKey"),
            "materiac.stream": lane,
        }
        name = f"visit {fields.get('socket')}"
        if materia is not None and materia.agent is not None:
            name = f"invoke_agent {materia.name}"
            told |= {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": materia.name,
                "gen_ai.request.model": materia.agent.model,
            }
        if self._contents is not None:
            told["materiac.item.label"] = fields.get("itemLabel")
        self._visits[lane] = Span(f"{record.n}v", parent, name, at, attributes=_known(told))
        self._left.pop(lane, None)
        return self._visits[lane]

    def _visit(self, record: Record, at: int) -> Span | None:
        """The visit that a record belongs to, begun anew where it was left before; None where it is over."""
        lane = record.fields.get("stream")
        span = self._visits.get(lane)
        if span is None and (record.type in _WORK or self._left.get(lane) == _place(record.fields)):
            return self._begin_visit(record, at)
        return span

    def _leave(self, record: Record, at: int) -> Span | None:
        """End the visit of a record; None where none is under way, as when only the way out was barred."""
        span = self._visit(record, at)
        if span is not None:
            del self._visits[record.fields.get("stream")]
            span.ended = at
        return span

    def _socket_finished(self, record: Record, at: int) -> list[Span]:
        span = self._leave(record, at)
        if span is None:
            return []
        route = record.fields.get("route") or {}
        told = {
            "materiac.verdict": record.fields.get("verdict"),
            "materiac.route.to": route.get("to"),
            "materiac.route.kind": route.get("kind"),
            "materiac.blocked": record.fields.get("blocked"),
        }
        span.attributes |= _known(told)
        return [span]

    def _socket_failed(self, record: Record, at: int) -> list[Span]:
        span = self._leave(record, at)
        if span is None:
            return []
        self._fail(span, record.fields.get("failure") or {})
        return [span]

    def _socket_waits(self, record: Record, at: int) -> list[Span]:
        span = self._leave(record, at)
        if span is None:
            return []
        self._left[record.fields.get("stream")] = _place(record.fields)
        span.attributes["materiac.waiting_for"] = str(record.fields.get("reason"))
        return [span]

    def _stop_visit(self, lane: str | None, at: int) -> Span:
        span = self._visits.pop(lane)
        self._left[lane] = span.attributes.get("materiac.socket"), span.attributes.get("materiac.visit")
        return _interrupted(span, at)

    # Turns and commands

    def _turn_finished(self, record: Record, at: int) -> list[Span]:
        fields, visit = record.fields, self._visit(record, at)
        asked = visit.attributes.get("gen_ai.request.model") if visit else None
        attributes = turn_attributes(fields, self._agent, asked, self._contents)
        model = asked or fields.get("model")
        span = self._work(record, at, f"chat {model}" if model else "chat", attributes)
        span.kind = "client"
        if fields.get("stop") in FAILED_TURNS:
            self._fail(span, {"kind": fields.get("fault") or fields["stop"], "message": fields.get("error")})
        return [span]

    def _command_finished(self, record: Record, at: int) -> list[Span]:
        fields = record.fields
        attributes = command_attributes(fields, self._contents)
        span = self._work(record, at, f"execute_tool {fields.get('materia')}", attributes)
        if fields.get("timedOut") or fields.get("code") != 0:
            self._fail(span, {"kind": "timeout" if fields.get("timedOut") else "exit", "message": None})
        return [span]

    def _work(self, record: Record, at: int, name: str, attributes: Mapping[str, Any]) -> Span:
        visit = self._visit(record, at)
        seconds = record.fields.get("seconds")
        began = at - round(seconds * 1e9) if isinstance(seconds, int | float) else at
        if visit is not None and visit.key == f"{record.n}v":
            visit.began = began  # it goes on with this piece of work
        parent = visit.key if visit else self._cast_key
        return Span(f"{record.n}", parent, name, began, ended=at, attributes=_known(attributes))

    def _happen(self, record: Record, at: int) -> list[Span]:
        span = self._visit(record, at) or self._cast
        names = {"turn": "materiac.turn", "fault": "error.type", "pauseS": "materiac.pause_s"}
        told = _known({name: record.fields.get(key) for key, name in names.items()})
        if span is not None and not span.ended:
            span.happenings.append(Happening(f"materiac.{record.type}", at, told))
        return []

    def _fail(self, span: Span, failure: Json | None) -> None:
        """Have a span failed; what went wrong may quote an answer, and is told with the contents alone."""
        if failure is not None:
            message = failure.get("message")
            span.attributes["error.type"] = str(failure.get("kind") or "_OTHER")
            span.error = self._contents.cut(message) if self._contents and isinstance(message, str) else ""


def _interrupted(span: Span, at: int) -> Span:
    span.ended = max(at, span.began)
    span.attributes["materiac.interrupted"] = True
    return span


def _place(fields: Json) -> tuple[Any, Any]:
    return fields.get("socket"), fields.get("visit")


def _known(told: Mapping[str, Any]) -> dict[str, Value]:
    return {name: value for name, value in told.items() if value is not None}


def _nanoseconds(at: str) -> int:
    return (datetime.fromisoformat(at) - _EPOCH) // timedelta(microseconds=1) * 1000
