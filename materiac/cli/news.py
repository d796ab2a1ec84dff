"""The records of a cast in words: what a person is told while it runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from materiac.cli.wording import clipped, count, duration, item, lines, one_line
from materiac.program import Program
from materiac.runtime.chronicle import TURN
from materiac.runtime.journal import Record
from materiac.runtime.usage import Total, Turn

Json = dict[str, Any]

_NAMES_SHOWN: Final = 10
_HASH_DIGITS: Final = 12
_VERDICTS: Final = {True: " satisfied", False: " not satisfied", None: ""}
_TONES: Final = {"warning": "warning", "error": "failure", "critical": "failure"}


@dataclass(frozen=True, slots=True)
class Started:
    """A visit has begun, at a time of the monotonic clock; attempts at an item are counted from 1."""

    title: str
    attempt: int
    at: float
    stream: str | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """A visit is over; `route` is its verdict and where control goes."""

    visit: Started
    route: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Ended:
    """A stream goes no further: of its visits none runs any more."""

    stream: str


@dataclass(frozen=True, slots=True)
class Doing:
    """What an agent does just now, in a stream or in the cast itself."""

    stream: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Spent:
    """What the cast has used so far."""

    total: Total


@dataclass(frozen=True, slots=True)
class Note:
    """Something else. `tone` is plain, warning or failure; the text may have several lines."""

    text: str
    tone: str = "plain"


News = Started | Finished | Ended | Doing | Spent | Note


class Teller:
    """Makes news of records. All text in them is safe for a terminal."""

    def __init__(self, program: Program) -> None:
        self._materia = program.materia
        self._attempts: Counter[tuple[str, str | None, str | None]] = Counter()
        self._total = Total()
        self._visits: dict[str | None, Started] = {}
        self._tellers: dict[str, Callable[[Json, float], Iterator[News]]] = {
            "cast_started": self._cast_started,
            "cast_resumed": self._cast_resumed,
            "streams_started": self._streams,
            "stream_finished": self._stream_ended,
            "socket_started": self._started,
            "socket_restarted": self._restarted,
            TURN: self._turn,
            "socket_finished": self._finished,
            "socket_failed": self._failed,
            "socket_waits": self._waits,
            "loop_skipped": self._skipped,
            "answer_shown": self._answer,
            "event": self._event,
            "handoff_field_dropped": self._dropped,
            "state_field_dropped": self._dropped_state,
            "output_cut": self._cut,
            "budget_warning": self._budget,
            "turn_retried": self._retried,
            "handoff_chosen": self._handoff,
            "eventing_note": self._note,
            "leftovers_ended": self._leftovers,
        }

    def tell(self, record: Record, at: float) -> Iterator[News]:
        """What a record, come at a time of the monotonic clock, has to say; most often one thing."""
        teller = self._tellers.get(record.type)
        return teller(record.fields, at) if teller is not None else iter(())

    def _cast_started(self, fields: Json, _: float) -> Iterator[News]:
        yield Note(f"agent      {clipped(fields['agent'], 200)}\ncast       {one_line(fields['castId'])}")

    def _cast_resumed(self, fields: Json, at: float) -> Iterator[News]:
        begun = count(self._attempts.total(), "visit")
        yield Note(f"agent      {clipped(fields['agent'], 200)}\ngoes on    after {begun}")
        if fields["accepted"]:
            yield Note(f"with another definition, hash {fields['hash'][:_HASH_DIGITS]}", "warning")
        for stream, visit in self._visits.items():
            self._visits[stream] = replace(visit, at=at)
            yield self._visits[stream]

    def _streams(self, fields: Json, _: float) -> Iterator[News]:
        names = [part["name"] for part in fields["streams"]]
        if names:
            width = min(fields["maxConcurrency"], len(names))
            yield Note(f"{count(len(names), 'stream')}, {width} at a time: {_names(names)}")

    def _stream_ended(self, fields: Json, _: float) -> Iterator[News]:
        yield Ended(fields["stream"])

    def _started(self, fields: Json, at: float) -> Iterator[News]:
        stream = fields.get("stream")
        place = (fields["socket"], fields["itemKey"], stream)
        self._attempts[place] += 1
        visit = Started(_title(fields), self._attempts[place], at, stream)
        self._visits[stream] = visit
        yield visit

    def _restarted(self, fields: Json, at: float) -> Iterator[News]:
        stream = fields.get("stream")
        attempts = self._attempts[fields["socket"], fields["itemKey"], stream]
        self._visits[stream] = Started(_title(fields), attempts, at, stream)
        yield self._visits[stream]

    def _turn(self, fields: Json, _: float) -> Iterator[News]:
        self._total.add(Turn.from_data(fields).usage)
        yield Spent(replace(self._total))
        if fields.get("stop") == "length":
            yield Note(f"{_here(fields)}: the answer was cut off: it was too long", "warning")

    def _finished(self, fields: Json, at: float) -> Iterator[News]:
        barred = " (not taken)" if fields["blocked"] else ""
        route = f"{_VERDICTS[fields['verdict']]} → {one_line(fields['route']['to'])}{barred}"
        visit = self._visits.pop(fields.get("stream"))
        yield Finished(visit, route.strip(), at - visit.at)

    def _failed(self, fields: Json, _: float) -> Iterator[News]:
        failure = fields["failure"]
        self._visits.pop(fields.get("stream"), None)
        title = _title({**fields, "socket": failure["socket"] or "the cast"})
        yield Note(f"{title} failed, {failure['kind']}: {one_line(failure['message'])}", "failure")

    def _waits(self, fields: Json, _: float) -> Iterator[News]:
        yield Note(f"{_title(fields)} waits: {one_line(fields['message'])}", "warning")

    def _skipped(self, fields: Json, _: float) -> Iterator[News]:
        yield Note(f"{_here(fields)} has no item → {one_line(fields['to'])}")

    def _answer(self, fields: Json, _: float) -> Iterator[News]:
        said = lines(fields["text"])
        if fields["length"] > len(fields["text"]):
            said.append(f"… {count(fields['length'], 'character')} in all, in {one_line(fields['file'])}")
        yield Note("\n".join([f"{_title(fields)} says:", *(f"  {line}".rstrip() for line in said)]))

    def _event(self, fields: Json, _: float) -> Iterator[News]:
        event = fields["event"]
        severity = event.get("severity")
        weight = f" ({severity})" if severity else ""
        message = f": {clipped(event['message'], 500)}" if event.get("message") else ""
        text = f"{_here(fields)} sends the event '{clipped(event['type'])}'{weight}{message}"
        yield Note(text, _TONES.get(severity, "plain"))

    def _dropped(self, fields: Json, _: float) -> Iterator[News]:
        utility = self._materia[fields["materia"]].utility
        if utility is not None and utility.builtin is not None:
            return  # what a built-in answers is known, and nobody can have it answer less
        yield Note(f"{_here(fields)}: dropped from its answer: {_names(fields['fields'])}")

    def _dropped_state(self, fields: Json, _: float) -> Iterator[News]:
        yield Note(f"{_here(fields)}: dropped from its state: {_names(fields['fields'])}")

    def _cut(self, fields: Json, _: float) -> Iterator[News]:
        kept, came = fields["kept"], fields["bytes"]
        yield Note(
            f"{_here(fields)}: the output was cut, {kept:,} of {came:,} bytes are kept",
            "warning",
        )

    def _retried(self, fields: Json, _: float) -> Iterator[News]:
        pause = f" in {duration(fields['pauseS'])}" if fields["pauseS"] else ""
        why = one_line(fields["error"] or "no reason was given")
        yield Note(f"{_here(fields)} is asked again{pause}: {why}", "warning")

    def _handoff(self, fields: Json, _: float) -> Iterator[News]:
        if fields["taken"] != fields["wanted"]:
            wanted, taken = fields["wanted"], fields["taken"]
            yield Note(f"{_here(fields)} hands over by {taken}, not by {wanted}: {one_line(fields['why'])}")

    def _note(self, fields: Json, _: float) -> Iterator[News]:
        yield Note(f"eventing: {one_line(fields['message'])}", "warning")

    def _leftovers(self, fields: Json, _: float) -> Iterator[News]:
        yield Note(f"ended {count(fields['processes'], 'leftover')} of a run that was killed", "warning")

    def _budget(self, fields: Json, _: float) -> Iterator[News]:
        yield Note(f"budget: {one_line(fields['message'])}", "warning")


def words(news: News) -> str | None:
    """The news as a text of its own; None where there is nothing to say."""
    match news:
        case Started():
            return f"{_visit(news)} …"
        case Finished(visit, route, seconds):
            return f"{_visit(visit)} {route}  ({duration(seconds)})"
        case Note(text):
            return text
        case _:
            return None


def _visit(visit: Started) -> str:
    return visit.title + (f", attempt {visit.attempt}" if visit.attempt > 1 else "")


def _here(fields: Json) -> str:
    """The socket, and in front of it the stream that it runs in."""
    stream = fields.get("stream")
    return (f"[{one_line(stream)}] " if stream else "") + one_line(fields["socket"])


def _title(fields: Json) -> str:
    materia = f" ({one_line(fields['materia'])})" if fields.get("materia") else ""
    where = item(fields.get("itemKey"), fields.get("itemLabel"))
    return f"{_here(fields)}{materia}" + (f" {where}" if where else "")


def _names(names: list[str]) -> str:
    shown = ", ".join(f"'{clipped(name)}'" for name in names[:_NAMES_SHOWN])
    more = len(names) - _NAMES_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown
