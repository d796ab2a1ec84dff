"""A process of Pi in RPC mode: commands in, responses and events out, each a line of JSON."""

from __future__ import annotations

import json
import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from materiac.agents.pi.course import Course
from materiac.agents.pi.launch import Launch
from materiac.agents.protocol import AgentError, Request
from materiac.environment import unsecret
from materiac.process import StartError
from materiac.process.lines import EndedError, Lines, LineTooLongError

Json = dict[str, Any]

_MAX_LINE: Final = 256 * 1024**2
"""An answer of the longest kind as JSON, with all that the turn has said before it."""
_LOOK_S: Final = 0.05
"""How often is looked whether the turn has to end."""
_ABORT_S: Final = 0.4
"""How long Pi may take to abort; it takes some milliseconds, and the turn has to end in any case."""
_LAST_WORDS: Final = 1200
"""How many characters of what it wrote to standard error a message shows."""


class StoppedError(Exception):
    """Somebody wants the turn to end."""


class LateError(Exception):
    """The time of the turn is over."""


class GoneError(Exception):
    """Pi has ended. The message says how, with its last words."""


class Watch:
    """Looks whether a turn has to end before it is over."""

    def __init__(self, request: Request, closed: threading.Event) -> None:
        self._stop, self._closed = request.stop, closed
        self._until = math.inf if request.timeout_s is None else time.monotonic() + request.timeout_s

    def look(self) -> None:
        """Raises `StoppedError` and `LateError`."""
        if self._closed.is_set() or (self._stop is not None and self._stop.is_set()):
            raise StoppedError
        if time.monotonic() >= self._until:
            raise LateError


class Rpc:
    """A process. `session` is the talk that it is in, `file` where that is kept.

    Raises `AgentError` where it cannot be started.
    """

    def __init__(self, launch: Launch, session: str | None) -> None:
        self.launch = launch
        self.session = session
        self.file: Path | None = None
        self._count = 0
        argv = [*launch.argv, *(() if session is None else ("--session-id", session))]
        try:
            self._lines = Lines(argv, cwd=launch.cwd, env=launch.env, max_line=_MAX_LINE, owner=launch.owner)
        except StartError as error:
            raise AgentError(str(error)) from error

    @property
    def alive(self) -> bool:
        with suppress(LineTooLongError):
            return self._lines.alive
        return False

    def open(self, session: str | None, watch: Watch) -> None:
        """Go on with a talk, or begin one. Raises `AgentError` where the talk is not there."""
        state = self.ask("get_state", watch)
        if session is None and state.get("messageCount"):
            self.ask("new_session", watch)
            state = self.ask("get_state", watch)
        if session is not None and not state.get("messageCount"):
            raise AgentError(f"the talk '{session}' is not in '{self.launch.folder}' any more")
        self.session = str(state.get("sessionId") or session or "") or None
        self.file = Path(state["sessionFile"]) if state.get("sessionFile") else None

    def prompt(self, text: str, course: Course, watch: Watch) -> None:
        """Say something, and hear what comes of it until Pi has settled. Raises `AgentError`."""
        id_ = self._send("prompt", message=text)
        for record in self._records(watch):
            if record.get("id") == id_ and _data(record).get("disposition") == "handled":
                raise AgentError("Pi takes the prompt for a command of its own")
            course.hear(record)
            if course.settled:
                return

    def ask(self, command: str, watch: Watch, **fields: Any) -> Json:
        """What Pi answers to a command. Raises `AgentError` where it refuses."""
        id_ = self._send(command, **fields)
        return _data(next(record for record in self._records(watch) if record.get("id") == id_))

    def _send(self, command: str, **fields: Any) -> str:
        """Give a command; its response has the id that is returned."""
        self._count += 1
        id_ = f"materiac-{self._count}"
        self._lines.send(json.dumps({"id": id_, "type": command, **fields}).encode())
        return id_

    def _records(self, watch: Watch) -> Iterator[Json]:
        """What Pi tells, without end; an empty record whenever it is silent for a moment.

        Raises `GoneError`, `StoppedError` and `LateError`.
        """
        while True:
            watch.look()
            try:
                line = self._lines.receive(_LOOK_S)
            except EndedError:
                self.end()
                raise GoneError(self._how_it_ended()) from None
            except LineTooLongError as error:
                raise AgentError(f"'{self.launch.argv[0]}' wrote {error}") from error
            yield {} if line is None else _record(line)

    def abort(self, course: Course) -> None:
        """Have Pi end its turn by itself, and hear what it still tells; then end it in any case."""
        id_ = self._send("abort")
        until = time.monotonic() + _ABORT_S
        with suppress(EndedError, LineTooLongError):
            while time.monotonic() < until:
                record = _record(self._lines.receive(_LOOK_S) or b"{}")
                if record.get("id") == id_:
                    break
                course.hear(record)
        self.end()

    def end(self) -> None:
        """End the process, with all that its tools have left running."""
        self._lines.end()

    def _how_it_ended(self) -> str:
        code = self._lines.code or 0
        how = f"ended with exit code {code}"
        if code < 0:
            how = f"was ended by signal {-code} ({signal.strsignal(-code) or 'unknown'})"
        said = unsecret(self._lines.stderr.decode(errors="replace").strip())
        said = said if len(said) <= _LAST_WORDS else f"…{said[-_LAST_WORDS:]}"
        return f"'{self.launch.argv[0]}' {how}" + (f": {said}" if said else "")


def _data(response: Json) -> Json:
    """What a response has in it. Raises `AgentError` where it is a refusal."""
    if not response.get("success"):
        raise AgentError(f"Pi refuses '{response.get('command')}': {response.get('error')}")
    data = response.get("data")
    return data if isinstance(data, dict) else {}


def _record(line: bytes) -> Json:
    """A line as a record; what is none is passed over."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}
