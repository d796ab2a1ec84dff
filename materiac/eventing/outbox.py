"""What waits for one sink, and the thread that sends it: in order, again where that may help."""

from __future__ import annotations

import random
import threading
from collections import deque
from collections.abc import Iterable
from typing import Final

from materiac.eventing import outcomes
from materiac.eventing.body import encoded
from materiac.eventing.events import Event
from materiac.eventing.outcomes import Hide, Outcome, Outcomes
from materiac.eventing.sinks import Sink
from materiac.eventing.webhook import Attempt, Webhook

LONGEST_PAUSE_S: Final = 60.0
"""No pause before another attempt is longer, whatever the receiver asks for."""

_MOST_DOUBLED: Final = 16
_random: Final = random.SystemRandom()


class Outbox:
    """Events for a sink. `earlier` ones, of a cast that goes on, are sent before all that are put in.

    No more than the sink's `queue` wait: over it the oldest is dropped, but none that is terminal.
    """

    def __init__(self, sink: Sink, hide: Hide, log: Outcomes | None, earlier: Iterable[Event] = ()) -> None:
        self.sink = sink
        self._hide = hide
        self._log = log
        self._webhook = Webhook(sink)
        self._earlier = deque(earlier)
        self._waiting: deque[Event] = deque()
        self._sending: Event | None = None
        self._attempts = 0
        self._changed = threading.Condition()
        self._closing = False
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, name=f"eventing {sink.name}", daemon=True)
        self._thread.start()

    def put(self, event: Event) -> None:
        """Have an event sent, if it is for this sink. Does not wait."""
        if not self.sink.filter.lets_through(event.type):
            return
        with self._changed:
            if self._closing:
                return
            dropped = self._make_room()
            self._waiting.append(event)
            self._changed.notify()
        if dropped is not None:
            self._say(dropped, Outcome(outcomes.DROPPED, why=f"{self.sink.queue} events were waiting"))

    def _make_room(self) -> Event | None:
        if len(self._waiting) < self.sink.queue:
            return None
        at = next((at for at, event in enumerate(self._waiting) if not event.terminal), None)
        if at is None:
            return None
        dropped = self._waiting[at]
        del self._waiting[at]
        return dropped

    def finish(self) -> None:
        """Take no more events, and end when those that wait are sent."""
        with self._changed:
            self._closing = True
            self._changed.notify()

    def give_up(self, timeout_s: float) -> None:
        """Wait this long for the end; then say of what is left that it was not sent."""
        self._thread.join(max(timeout_s, 0))
        with self._changed:
            self._over.set()
            tried, self._sending = self._sending, None
            left = [*self._earlier, *self._waiting]
            self._earlier.clear()
            self._waiting.clear()
            self._changed.notify()
        why = "the cast was over"
        if tried is not None:
            self._say(tried, Outcome(outcomes.UNSENT, self._attempts, why=why))
        for event in left:
            self._say(event, Outcome(outcomes.UNSENT, why=why))

    def _work(self) -> None:
        while (event := self._take()) is not None:
            outcome = self._deliver(event)
            with self._changed:
                if self._over.is_set() or outcome is None:
                    break  # who gave up has said what became of it
                self._sending = None
            self._say(event, outcome)
        self._webhook.close()

    def _take(self) -> Event | None:
        """The next event; None where there will be none."""
        with self._changed:
            self._changed.wait_for(lambda: self._earlier or self._waiting or self._closing)
            queue = self._earlier or self._waiting
            if self._over.is_set() or not queue:
                return None
            self._sending, self._attempts = queue.popleft(), 0
            return self._sending

    def _deliver(self, event: Event) -> Outcome | None:
        """Send an event, as often as it takes and is allowed; None where it was given up."""
        try:
            body = encoded(self._hide(event.data), self.sink.form)
        except (ValueError, RecursionError):
            return Outcome(outcomes.FAILED, why="it cannot be written as JSON")
        while True:
            self._attempts += 1
            attempt = self._webhook.send(body, event.id)
            if attempt.why is None:
                return Outcome(outcomes.DELIVERED, self._attempts, attempt.status)
            if not attempt.again or self._attempts > self.sink.retries:
                return Outcome(outcomes.FAILED, self._attempts, attempt.status, attempt.why)
            if self._over.wait(self._pause(attempt)):
                return None

    def _pause(self, attempt: Attempt) -> float:
        """Twice as long each time, at random down to half of it, so that many casts do not come at once."""
        doubled = 1 << min(self._attempts - 1, _MOST_DOUBLED)
        pause = self.sink.first_pause_s * doubled * _random.uniform(0.5, 1)
        return min(max(pause, attempt.after_s or 0), LONGEST_PAUSE_S)

    def _say(self, event: Event, outcome: Outcome) -> None:
        if self._log is not None:
            self._log.write(self.sink.name, event.id, event.type, outcome)
