"""What a journal comes to, in the few words that a list of casts has for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from materiac.agents.protocol import Usage
from materiac.runtime.chronicle import TURN
from materiac.runtime.find import JOURNAL
from materiac.runtime.holder import BEGINNINGS, Holder, holder
from materiac.runtime.journal import JournalError, Record, read
from materiac.runtime.usage import Total

Json = dict[str, Any]

RUNNING, INTERRUPTED, NOT_BEGUN, BROKEN = "running", "interrupted", "not begun", "broken"
"""States that no record tells; the others are the statuses of `cast_finished`."""

_STARTS: Final = frozenset({"socket_started", "socket_restarted"})
_KINDS: Final = BEGINNINGS | _STARTS | {TURN}
PLACE: Final = ("socket", "materia", "visit", "itemKey", "itemLabel", "stream")
_ID_TIME: Final = "%Y%m%d-%H%M%S-%f"


@dataclass(frozen=True, slots=True)
class Summary:
    """What a list of casts shows of one. What its journal does not tell is None.

    `reason` is why a journal is broken; `at` is the place of the last visit that began, and when it did;
    `waiting_for` is person, budget or uncertain; `machine` is the file that holds the definition; `limits`
    are those of the budget that were raised.
    """

    folder: Path
    state: str
    reason: str | None = None
    loadout: str | None = None
    request: str | None = None
    agent: str | None = None
    began: str | None = None
    last: str | None = None
    age: float = 0.0
    visits: int = 0
    at: Json | None = None
    failure: Json | None = None
    waiting: str | None = None
    waiting_for: str | None = None
    usage: Total = field(default_factory=Total)
    resumes: int = 0
    holder: Holder | None = None
    machine: str = "machine.json"
    limits: Json = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The id of the cast, which its folder is named by."""
        return self.folder.name

    def as_data(self) -> Json:
        """The summary as `--json` prints it."""
        held = self.holder
        return {
            "castId": self.id,
            "state": self.state,
            "reason": self.reason,
            "loadout": self.loadout,
            "request": self.request,
            "agent": self.agent,
            "began": self.began,
            "last": self.last,
            "ageSeconds": round(self.age, 3),
            "visits": self.visits,
            "at": self.at,
            "failure": self.failure,
            "waiting": self.waiting,
            "waitingFor": self.waiting_for,
            "usage": self.usage.as_data(),
            "resumes": self.resumes,
            "holder": None if held is None else {"pid": held.pid, "host": held.host, "since": held.since},
            "artifacts": str(self.folder),
        }


def summary(folder: Path, now: datetime | None = None) -> Summary:
    """Sum up the cast of a folder; nothing is locked, written or waited for."""
    journal = folder / JOURNAL
    try:
        records = read(journal, _KINDS).records if journal.exists() else ()
    except (JournalError, OSError) as error:
        return Summary(folder, BROKEN, str(error), age=_age(folder, None, now), holder=holder(journal, ()))
    return folded(folder, records, now)


def folded(folder: Path, records: Sequence[Record], now: datetime | None = None) -> Summary:
    """The summary of a cast whose journal has been read."""
    held = holder(folder / JOURNAL, records)
    if not records:
        return Summary(folder, NOT_BEGUN, age=_age(folder, None, now), holder=held)
    started = records[0].fields
    process = next((record.fields for record in reversed(records) if record.type in BEGINNINGS), {})
    return Summary(
        folder,
        state(records, held),
        loadout=_text(started.get("loadout")),
        request=_text(started.get("request")),
        agent=_text(_newest(records, "agent")),
        began=records[0].at,
        last=records[-1].at,
        age=_age(folder, records[0].at, now),
        visits=sum(record.type == "socket_started" for record in records),
        at=_place(records),
        failure=_end(records).get("failure"),
        waiting=_text(_end(records).get("waiting")),
        waiting_for=_text(_end(records).get("waitingFor")),
        usage=used(records),
        resumes=sum(record.type == "cast_resumed" for record in records),
        holder=held,
        machine=_text(process.get("machine")) or "machine.json",
        limits={key: process.get(key) for key in ("maxTokens", "maxCostUsd")},
    )


def state(records: Sequence[Record], held: Holder | None) -> str:
    """Where a cast stands, by its records and by who holds its journal."""
    if not records:
        return NOT_BEGUN
    if records[-1].type == "cast_finished":
        return str(records[-1].fields.get("status"))
    return RUNNING if held is not None else INTERRUPTED


def used(records: Sequence[Record]) -> Total:
    """The sum of all turns."""
    total = Total()
    for record in records:
        if record.type == TURN:
            total.add(usage(record.fields.get("usage")))
    return total


def usage(data: Any) -> Usage | None:
    """What a turn used, as its record has it; None where that is unknown."""
    if not isinstance(data, Mapping):
        return None
    names = ("input", "output", "cacheRead", "cacheWrite", "cost")
    numbers = [data.get(name, 0) for name in names]
    return Usage(*numbers) if all(isinstance(number, int | float) for number in numbers) else None


def moment(at: str) -> datetime | None:
    """The time of a record; None for what is no time."""
    try:
        return datetime.fromisoformat(at).astimezone(UTC)
    except ValueError:
        return None


def since(at: str | None, now: datetime | None = None) -> float:
    """The seconds since the time of a record; none where that is unknown, or is yet to come."""
    time = moment(at) if at is not None else None
    return max(0.0, ((now or datetime.now(UTC)) - time).total_seconds()) if time is not None else 0.0


def _end(records: Sequence[Record]) -> Json:
    """The fields of the end of a cast; none where it has not come to one, or goes on."""
    return records[-1].fields if records[-1].type == "cast_finished" else {}


def _newest(records: Sequence[Record], key: str) -> Any:
    """What the last process says that says it at all."""
    said = (record.fields.get(key) for record in reversed(records) if record.type in BEGINNINGS)
    return next((value for value in said if value is not None), None)


def _place(records: Sequence[Record]) -> Json | None:
    last = next((record for record in reversed(records) if record.type in _STARTS), None)
    if last is None:
        return None
    return {**{key: last.fields.get(key) for key in PLACE}, "began": last.at}


def _age(folder: Path, began: str | None, now: datetime | None) -> float:
    """The seconds since a cast began, or since its folder was made; never fewer than none."""
    if began is None:
        named = _named_time(folder.name)
        began = named.isoformat() if named is not None else None
    return since(began, now)


def _named_time(cast_id: str) -> datetime | None:
    try:
        return datetime.strptime(cast_id.rpartition("-")[0], _ID_TIME).replace(tzinfo=UTC)
    except ValueError:
        return None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
