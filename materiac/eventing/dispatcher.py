"""The dispatcher: a reader of a cast's journal that tells the sinks, and never holds up the cast."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from materiac.environment import Mask
from materiac.eventing.events import Event, Record, event_of, heartbeat
from materiac.eventing.outcomes import Hide, Outcomes
from materiac.eventing.sinks import Sink, resolve, secrets

if TYPE_CHECKING:
    from materiac.eventing.outbox import Outbox

Json = dict[str, Any]

CLOSE_S: Final = 2.0
"""How long the end of a cast waits for what is not yet sent."""

_FINISHED: Final = "cast_finished"
_LONGEST_MS: Final = 86_400_000


class Dispatcher:
    """Sends what the records of a cast stand for to sinks. Subscribe it to the journal, and close it.

    `notes` says what of the configuration cannot be used.
    """

    def __init__(
        self, cast_id: str, notes: Sequence[str], outboxes: Sequence[Outbox], log: Outcomes | None
    ) -> None:
        self.notes = tuple(notes)
        self._cast_id = cast_id
        self._outboxes = tuple(outboxes)
        self._log = log
        self._last: Record | None = None
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._began = time.monotonic()

    @classmethod
    def begin(
        cls,
        settings: Json,
        folder: Path,
        cast_id: str,
        mask: Mask,
        environ: Mapping[str, str],
        records: Sequence[Record] = (),
    ) -> Self | None:
        """Begin to send, where `settings`, the `eventing` of a configuration, are enabled.

        `records` are those so far of a cast that goes on: what a sink has not got of them, as
        `events/dispatch.jsonl` in the `folder` of the cast has it, is sent first.
        """
        if settings.get("enabled") is not True:
            return None
        try:
            sinks, notes = resolve(settings, environ)
            own = Mask(secrets(settings, environ))
        except (AttributeError, TypeError, ValueError):
            sinks, notes = [], ["nothing is sent: what is said of eventing has not the form that it needs"]
        if not sinks:
            return cls(cast_id, notes, (), None)
        from materiac.eventing.outbox import Outbox  # noqa: PLC0415 - brings the HTTP client along

        hide = _hiding(mask, own)
        try:
            log = Outcomes(folder, hide)
        except OSError as error:
            log = None
            notes.append(f"what is sent is not written down: {error.strerror}")
        outboxes = [Outbox(sink, hide, log, _missing(sink, cast_id, records, log)) for sink in sinks]
        dispatcher = cls(cast_id, notes, outboxes, log)
        dispatcher._start_beating(settings.get("heartbeatIntervalMs", 0))
        return dispatcher

    def __call__(self, record: Record) -> None:
        """Take a record; whatever is to be sent of it is sent later. Never waits for a sink."""
        event = event_of(self._cast_id, record)
        with self._lock:
            self._last = record
            if event is not None:
                self._put(event)

    def close(self, timeout_s: float = CLOSE_S) -> None:
        """Give what waits this long to be sent, in all, and write down what was not. May be called twice."""
        self._closed.set()
        deadline = time.monotonic() + timeout_s
        for outbox in self._outboxes:
            outbox.finish()
        for outbox in self._outboxes:
            outbox.give_up(deadline - time.monotonic())
        if self._log is not None:
            self._log.close()

    def _put(self, event: Event) -> None:
        for outbox in self._outboxes:
            outbox.put(event)

    def _start_beating(self, interval_ms: Any) -> None:
        if isinstance(interval_ms, int) and interval_ms > 0:
            interval_s = min(interval_ms, _LONGEST_MS) / 1000
            threading.Thread(target=self._beat, args=(interval_s,), name="heartbeat", daemon=True).start()

    def _beat(self, interval_s: float) -> None:
        count = 0
        while not self._closed.wait(interval_s):
            with self._lock:
                if self._last is not None and self._last.type != _FINISHED:
                    count += 1
                    seconds = time.monotonic() - self._began
                    at = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
                    self._put(heartbeat(self._cast_id, self._last, count, at, seconds))


def _hiding(*masks: Mask) -> Hide:
    def hide(value: Any) -> Any:
        for mask in masks:
            value = mask.data(value)
        return value

    return hide


def _missing(sink: Sink, cast_id: str, records: Sequence[Record], log: Outcomes | None) -> Iterator[Event]:
    """Events of earlier records that a sink has not got; none where nobody knows which these are."""
    if log is None:
        return
    for record in records:
        event = event_of(cast_id, record)
        known = event is None or (sink.name, event.id) in log.settled
        if event is not None and not known and sink.filter.lets_through(event.type):
            yield event
