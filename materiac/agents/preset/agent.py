"""A program as the agent, called and read as its preset says; it is started anew for each turn."""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import signal
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from materiac.agents.preset.called import Call, Chosen, called, listed
from materiac.agents.preset.reading import EXCERPT, Lines, Reading, masked, objects
from materiac.agents.preset.shape import Preset
from materiac.agents.preset.totals import Totals
from materiac.agents.protocol import Abilities, AgentError, AnswerLimitError, Json, Reply, Request, Usage
from materiac.environment import withheld
from materiac.process import Completed, StartError, StoppedError, end_leftovers, run
from materiac.process.descendants import MARK
from materiac.process.runner import Stop
from materiac.shipped import back_end_of

_MAX_STDERR_BYTES: Final = 64 * 1024
_ENDING_S: Final = 3.0
"""How long a turn may take to end when all is closed; ending a program takes less."""
_HEAD: Final = 64 * 1024
"""How much is kept of an output that is read line by line."""
_LACKS: Final = re.compile(
    r"key(?![a-z])|token(?![a-z])|secret|password|credential|auth|log ?in|\b40[13]\b", re.IGNORECASE
)
"""What a program says that has not found its key."""
_NAMED: Final = 8
"""How many variables a message names."""
_WITH_REST: Final = ("command", "preset")
"""The kinds of agents whose text goes on after the options."""


def abilities(preset: Preset) -> Abilities:
    """What a preset can do: what it promises, and what it puts in and reads."""
    names = preset.names()
    return Abilities(
        scopes=frozenset(preset.promises),
        sessions=bool(preset.output.session),
        schema=bool(names & {"schema", "schema.json"}),
        tool_server="server" in names,
        usage=preset.usage is not None,
    )


class Program:
    """Runs the program of a preset; threads may run it side by side."""

    def __init__(self, preset: Preset, chosen: Chosen) -> None:
        self.spec = chosen.spec
        self.abilities = abilities(preset)
        self._preset, self._chosen = preset, chosen
        self._name = chosen.program[0]
        self._totals = Totals(preset.program)
        self._closed = threading.Event()
        self._turns = 0
        self._ended = threading.Condition()
        self._mark = os.urandom(8).hex()

    def turn(self, request: Request) -> Reply:
        """One run of the program."""
        try:
            with self._counted():
                reply = self._reply(request)
        except AgentError as error:
            raise type(error)(self._advised(str(error), request)) from error
        return reply if reply.error is None else replace(reply, error=self._advised(reply.error, request))

    def close(self) -> None:
        """End every run that is under way, and all that runs on of those that have ended."""
        self._closed.set()
        with self._ended:  # else a program that is asked to end could answer before its turn hears of it
            self._ended.wait_for(lambda: self._turns == 0, _ENDING_S)
        end_leftovers(self._mark)

    @contextlib.contextmanager
    def _counted(self) -> Iterator[None]:
        with self._ended:
            self._turns += 1
        try:
            yield
        finally:
            with self._ended:
                self._turns -= 1
                self._ended.notify_all()

    def _reply(self, request: Request) -> Reply:
        by_line = self._preset.output.format == "lines"
        reading = Reading(self._preset, self._name, request.progress)
        lines = Lines(reading) if by_line else None
        with tempfile.TemporaryDirectory(prefix="materiac-") as folder:
            done = self._run(called(self._preset, self._chosen, request, Path(folder)), request, lines)
        whole = self._taken(done, request, reading, lines)
        error = self._error(done, reading)
        if error is not None:
            return self._failed(error, reading, request)
        if self._preset.output.format == "text":
            return Reply(whole)
        return self._answered(whole, reading, request)

    def _run(self, call: Call, request: Request, lines: Lines | None) -> Completed:
        try:
            done = run(
                call.argv,
                stdin=call.stdin,
                cwd=request.cwd,
                env={**call.env, MARK: f"{call.env.get(MARK, '')}:{self._mark}.run"},
                timeout_s=math.inf if request.timeout_s is None else request.timeout_s,
                max_bytes=request.max_bytes if lines is None else _HEAD,
                max_stderr_bytes=_MAX_STDERR_BYTES,
                stop=_AnyOf([one for one in (self._closed, request.stop, lines) if one is not None]),
                owner=request.owner,
                hear=None if lines is None else lines.hear,
            )
        except StartError as error:
            raise AgentError(str(error)) from error
        except StoppedError:
            endless = lines is not None and lines.is_set()
            why = "wrote a line without an end and was ended" if endless else "was stopped before it answered"
            raise AgentError(f"'{self._name}' {why}") from None
        if done.timed_out:
            raise AgentError(f"'{self._name}' gave no answer in {request.timeout_s:g} s and was ended")
        return done

    def _taken(self, done: Completed, request: Request, reading: Reading, lines: Lines | None) -> str:
        """What was printed, all of it read; of lines its beginning, for messages."""
        if lines is not None:
            lines.end()
            return done.stdout.decode(errors="replace")
        self._refuse_long(done.stdout_bytes, request)
        whole = _decoded(self._name, done)
        if self._preset.output.format == "json":
            for part in objects(whole):
                reading.take(part)
        return whole

    def _error(self, done: Completed, reading: Reading) -> str | None:
        """What went wrong as the program says, or as its end does. Raises `AgentError` where neither does."""
        error = reading.error()
        if error is not None or done.code == 0:
            return error
        words = f"'{self._name}' {_end(done)}{_last_words(done)}"
        if self._preset.faults.meant(words) is None:
            raise AgentError(words)
        return words

    def _failed(self, error: str, reading: Reading, request: Request) -> Reply:
        meant = self._preset.faults.meant(error)
        reply = self._told(reading.word("text") or "", reading, request)
        if meant == "length":
            # Where the error stands in the place of the answer, there is no answer.
            if reply.text.strip() and error.strip() not in reply.text:
                return replace(reply, stop="length")
            meant = None
        wait_s = self._preset.faults.wait_s(error)
        return replace(reply, stop="error", error=error, fault=meant or "provider", retry_after_s=wait_s)

    def _answered(self, whole: str, reading: Reading, request: Request) -> Reply:
        text = reading.text(whole)
        self._refuse_long(len(text.encode()), request)
        reply = self._told(text, reading, request)
        if request.handoff != "schema" or request.schema is None or not self.abilities.schema:
            return reply
        data = reading.data() or _object(text)
        if data is None:
            return reply
        return replace(reply, text=json.dumps(data, ensure_ascii=False, separators=(",", ":")), data=data)

    def _told(self, text: str, reading: Reading, request: Request) -> Reply:
        """All that was told of a turn, however it went."""
        return Reply(
            text=text,
            usage=self._used(reading, request),
            session=reading.word("session"),
            stop="length" if reading.cut else "stop",
            model=reading.word("model"),
            provider=reading.word("provider"),
            events=tuple(reading.events),
        )

    def _used(self, reading: Reading, request: Request) -> Usage | None:
        """What the turn used: as it was told, or what a session has used more than when it was told last."""
        told = reading.usage()
        sums = self._preset.usage.totals if self._preset.usage is not None else []
        if told is None or not sums:
            return told
        before = self._totals.of(request.session, request.sessions)
        self._totals.keep(reading.word("session") or request.session, request.sessions, told)
        if before is None and "tokens" in sums:
            return None
        tokens = told if "tokens" not in sums or before is None else _more(told, before)
        cost = told.cost if "cost" not in sums else 0.0 if before is None else _more(told, before).cost
        return replace(tokens, cost=cost)

    def _refuse_long(self, size: int, request: Request) -> None:
        if size > request.max_bytes:
            words = f"answered with {size} bytes, {request.max_bytes} are allowed"
            raise AnswerLimitError(f"'{self._name}' {words}")

    def _advised(self, message: str, request: Request) -> str:
        """A message, with the names of what was withheld where it sounds as if that was missing."""
        names = withheld(os.environ, listed(self._preset, self._chosen, request))
        if not names or not _LACKS.search(message):
            return message
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        kind = back_end_of(self.spec)
        form = f"{kind}?env=NAME{':…' if kind in _WITH_REST else ''}"
        return (
            f"{message}\nhelp: it does not see {', '.join(names[:_NAMED])}{more}, which look like secrets: "
            f"list what it needs in 'env' of materia '{request.materia}', or as '{form}'"
        )


class _AnyOf:
    """Is set when one of them is."""

    def __init__(self, stops: Sequence[Stop]) -> None:
        self._stops = stops

    def is_set(self) -> bool:
        return any(stop.is_set() for stop in self._stops)


def _more(told: Usage, before: Usage) -> Usage:
    return Usage(
        max(0, told.input - before.input),
        max(0, told.output - before.output),
        max(0, told.cache_read - before.cache_read),
        max(0, told.cache_write - before.cache_write),
        max(0.0, told.cost - before.cost),
    )


def _object(text: str) -> Json | None:
    found = list(objects(text))
    return found[0] if len(found) == 1 else None


def _decoded(program: str, done: Completed) -> str:
    try:
        return done.stdout.decode()
    except UnicodeDecodeError as error:
        raise AgentError(f"the answer of '{program}' is no UTF-8: byte {error.start} of it") from error


def _end(done: Completed) -> str:
    if done.signal is None:
        return f"ended with exit code {done.code}"
    return f"was ended by signal {done.signal} ({signal.strsignal(done.signal) or 'unknown'})"


def _last_words(done: Completed) -> str:
    said = masked((done.stderr.strip() or done.stdout.strip()).decode(errors="replace"))
    return f": {said if len(said) <= EXCERPT else f'…{said[-EXCERPT:]}'}" if said else ""
