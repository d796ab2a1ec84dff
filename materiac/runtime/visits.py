"""The visits that a journal tells of, each with all that came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from materiac.runtime.holder import BEGINNINGS
from materiac.runtime.journal import Record
from materiac.runtime.summary import PLACE, moment, usage
from materiac.runtime.usage import Total

Json = dict[str, Any]

RUNNING, FINISHED, FAILED, WAITING, UNFINISHED = "running", "finished", "failed", "waiting", "unfinished"


@dataclass
class Visited:
    """A visit as far as it is known.

    `attempt` counts the visits of the socket at its item, `number` all visits; `machine` is the file
    with the definition that held; `blocked` is budget or limit where the way was barred, and `cleared`
    says that the cast went on nevertheless; `tries` counts how often it was begun under its number.
    """

    number: int
    place: Json
    machine: str
    began: str
    attempt: int
    state: str = RUNNING
    seconds: float = 0.0
    tries: int = 1
    verdict: bool | None = None
    used_up: bool = False
    route: Json | None = None
    blocked: str | None = None
    cleared: bool = False
    failure: Json | None = None
    waiting: str | None = None
    turns: list[Json] = field(default_factory=list)
    commands: list[Json] = field(default_factory=list)
    said: list[Json] = field(default_factory=list)
    files: list[Json] = field(default_factory=list)

    @property
    def used(self) -> Total:
        """What its turns have used together."""
        total = Total()
        for turn in self.turns:
            total.add(usage(turn.get("usage")))
        return total

    def as_data(self) -> Json:
        """The visit as `--json` prints it."""
        return {
            "number": self.number,
            **self.place,
            "attempt": self.attempt,
            "tries": self.tries,
            "state": self.state,
            "began": self.began,
            "seconds": round(self.seconds, 6),
            "verdict": self.verdict,
            "usedUp": self.used_up,
            "route": self.route,
            "blocked": self.blocked,
            "cleared": self.cleared,
            "failure": self.failure,
            "waiting": self.waiting,
            "usage": self.used.as_data(),
        }


def visits(records: Iterable[Record], *, running: bool = False) -> list[Visited]:
    """The visits in the order in which they began; those under way are unfinished unless the cast runs.

    Records of other types, and fields that are not there, do not matter.
    """
    fold = _Fold()
    for record in records:
        fold.take(record)
    for visit in fold.visits if not running else ():
        if visit.state == RUNNING:
            visit.state = UNFINISHED
    return fold.visits


_Key = tuple[Any, Any, Any]


class _Fold:
    """The visits of the records so far."""

    def __init__(self) -> None:
        self.visits: list[Visited] = []
        self._known: dict[_Key, Visited] = {}
        self._latest: dict[Any, Visited] = {}
        self._attempts: Counter[_Key] = Counter()
        self._machine = "machine.json"
        self._before = ""
        self._takers: Final[dict[str, Callable[[Visited, Json], None]]] = {
            "turn_finished": _turn,
            "command_finished": _command,
            "person_said": _said,
            "socket_finished": _finished,
            "socket_failed": _failed,
            "socket_waits": _waits,
        }

    def take(self, record: Record) -> None:
        """Take one more record."""
        fields = record.fields
        if record.type in BEGINNINGS:
            self._machine = fields.get("machine") or self._machine
        else:
            self._pass(record.at)
        self._before = record.at
        if record.type == "socket_started":
            self._start(record)
        elif record.type == "socket_restarted":
            self._restart(record)
        elif (visit := self._known.get(_key(fields))) is not None and record.type in self._takers:
            self._takers[record.type](visit, fields)

    def _pass(self, at: str) -> None:
        """Let the time of a record come. Between two processes it stands still."""
        before, now = moment(self._before), moment(at)
        passed = max(0.0, (now - before).total_seconds()) if before and now else 0.0
        for visit in self._latest.values() if passed else ():
            if visit.state == RUNNING:
                visit.seconds += passed

    def _start(self, record: Record) -> None:
        fields = record.fields
        place = {key: fields.get(key) for key in PLACE}
        item = (place["stream"], place["socket"], place["itemKey"])
        self._attempts[item] += 1
        visit = Visited(len(self.visits) + 1, place, self._machine, record.at, self._attempts[item])
        before = self._latest.get(place["stream"])
        if before is not None and before.blocked:
            before.cleared = True
        self._known[_key(fields)] = self._latest[place["stream"]] = visit
        self.visits.append(visit)

    def _restart(self, record: Record) -> None:
        """Begin a visit again; the files of the try before have been renamed."""
        visit = self._known.get(_key(record.fields))
        if visit is None:
            self._start(record)
            return
        moved = {pair["from"]: pair["to"] for pair in record.fields.get("moved") or ()}
        for part in visit.files:
            part["file"] = moved.get(part.get("file"), part.get("file"))
            part["earlier"] = True
        visit.tries += 1
        visit.state, visit.failure, visit.waiting, visit.machine = RUNNING, None, None, self._machine


def _key(fields: Json) -> _Key:
    return fields.get("stream"), fields.get("socket"), fields.get("visit")


def _turn(visit: Visited, fields: Json) -> None:
    visit.state = RUNNING
    visit.turns.append(_own(fields))
    _add_files(visit, fields.get("files"), fields.get("turn"))


def _command(visit: Visited, fields: Json) -> None:
    visit.commands.append(_own(fields))
    _add_files(visit, fields.get("files"))


def _said(visit: Visited, fields: Json) -> None:
    visit.state, visit.waiting = RUNNING, None
    visit.said.append(_own(fields))
    file = fields.get("file")
    if isinstance(file, dict):
        _add_files(visit, [{"kind": "words", **file}], fields.get("turn"))
    elif isinstance(file, str):
        _add_files(visit, [{"kind": "words", "file": file}], fields.get("turn"))


def _finished(visit: Visited, fields: Json) -> None:
    visit.state, visit.failure, visit.waiting = FINISHED, None, None
    visit.verdict, visit.route = fields.get("verdict"), fields.get("route")
    visit.used_up, visit.blocked = bool(fields.get("usedUp")), fields.get("blocked")
    _add_files(visit, fields.get("output"))
    _add_files(visit, fields.get("files"))


def _failed(visit: Visited, fields: Json) -> None:
    visit.state = FINISHED if visit.state == FINISHED else FAILED
    visit.failure = fields.get("failure")
    _add_files(visit, fields.get("files"))


def _waits(visit: Visited, fields: Json) -> None:
    visit.state, visit.waiting = WAITING, fields.get("message")
    _add_files(visit, fields.get("files"))


def _own(fields: Json) -> Json:
    """What a record says beside its place and its files."""
    return {key: value for key, value in fields.items() if key not in {*PLACE, "files", "file"}}


def _add_files(visit: Visited, files: Any, turn: Any = None) -> None:
    """Add files; what is known of one by the same name is replaced, as the file was."""
    listed = {part["file"]: part for part in visit.files}
    for part in files or ():
        if isinstance(part, dict) and isinstance(part.get("file"), str):
            known = listed.get(part["file"], {})
            told = {"turn": known["turn"]} if "turn" in known else {} if turn is None else {"turn": turn}
            listed[part["file"]] = {**part, **told}
    visit.files = list(listed.values())
