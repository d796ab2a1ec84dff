"""Events as they are sent, made of the records of a journal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

Json = dict[str, Any]

LIFECYCLE: Final = "lifecycle."
EMITTED: Final = "emitted."
"""Stands before the type of an event of an agent or a utility that would pass for one of materiac's own."""

MAX_REQUEST: Final = 2_000
"""How many characters of a request are sent."""

_PLACE: Final = ("socket", "materia", "visit", "itemKey", "itemLabel", "stream")
_ENDS: Final[Mapping[str, tuple[str, str]]] = {
    "complete": ("completed", "info"),
    "failed": ("failed", "error"),
    "stopped": ("cancelled", "warning"),
    "waiting": ("waiting", "info"),
}


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
class Event:
    """One event: an id that it has for good, its type, and all of it as a receiver gets it, unmasked.

    A `terminal` one says that a cast has ended.
    """

    id: str
    type: str
    data: Json
    terminal: bool = False


def event_of(cast_id: str, record: Record) -> Event | None:
    """The event that a record stands for; None for the many that stand for none."""
    made = _MAKERS.get(record.type, _nothing)(record.fields)
    if made is None:
        return None
    terminal = record.type == "cast_finished" and record.fields.get("status") != "waiting"
    place = {key: record.fields[key] for key in _PLACE if record.fields.get(key) is not None}
    return _event(f"{cast_id}:{record.n}", cast_id, record, made | place, terminal=terminal)


def heartbeat(cast_id: str, last: Record, count: int, at: str, seconds: float) -> Event:
    """The sign of life number `count` of a process whose last record is `last`."""
    made = {
        "type": f"{LIFECYCLE}heartbeat",
        "severity": "debug",
        "payload": {"elapsedMs": round(seconds * 1000), "count": count},
    }
    event = _event(f"{cast_id}:{last.n}.{count}", cast_id, last, made)
    return Event(event.id, event.type, event.data | {"at": at})


def _event(id_: str, cast_id: str, record: Record, made: Json, *, terminal: bool = False) -> Event:
    data = {"id": id_, "type": made["type"], "castId": cast_id, "n": record.n, "at": record.at}
    return Event(id_, made["type"], data | made, terminal)


def _nothing(_: Json) -> Json | None:
    return None


def _emitted(fields: Json) -> Json | None:
    """What an agent or a utility said, with its own words."""
    event = fields.get("event")
    if not isinstance(event, dict):
        return None
    type_ = str(event.get("type", ""))
    if f"{type_}.".startswith(LIFECYCLE):
        type_ = EMITTED + type_
    said = {key: event[key] for key in ("message", "payload", "source") if key in event}
    return {"type": type_, "severity": event.get("severity", "info"), **said}


def _lifecycle(name: str, severity: str, message: Any = None, payload: Json | None = None) -> Json:
    told = {key: value for key, value in (("message", message), ("payload", payload)) if value}
    return {"type": f"{LIFECYCLE}{name}", "severity": severity, **told}


def _started(fields: Json) -> Json:
    payload = _some(fields, "loadout", "hash", "agent", "version")
    if isinstance(fields.get("request"), str):
        payload["request"] = fields["request"][:MAX_REQUEST]
    return _lifecycle("cast.started", "info", payload=payload)


def _resumed(fields: Json) -> Json:
    return _lifecycle("cast.resumed", "info", payload=_some(fields, "hash", "agent", "version"))


def _cast_finished(fields: Json) -> Json | None:
    name, severity = _ENDS.get(str(fields.get("status")), ("", ""))
    if not name:
        return None
    failure = _object(fields.get("failure"))
    return _lifecycle(f"cast.{name}", severity, failure.get("message") or fields.get("waiting"), failure)


def _socket_started(_: Json) -> Json:
    return _lifecycle("socket.started", "debug")


def _socket_finished(fields: Json) -> Json:
    payload = _some(fields, "verdict") | {"to": _object(fields.get("route")).get("to")}
    return _lifecycle("socket.finished", "debug", payload=payload)


def _socket_failed(fields: Json) -> Json:
    failure = _object(fields.get("failure"))
    return _lifecycle("socket.failed", "error", failure.get("message"), failure)


_MAKERS: Final[Mapping[str, Callable[[Json], Json | None]]] = {
    "event": _emitted,
    "cast_started": _started,
    "cast_resumed": _resumed,
    "cast_finished": _cast_finished,
    "socket_started": _socket_started,
    "socket_restarted": _socket_started,
    "socket_finished": _socket_finished,
    "socket_failed": _socket_failed,
}


def _some(fields: Json, *keys: str) -> Json:
    return {key: fields[key] for key in keys if fields.get(key) is not None}


def _object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}
