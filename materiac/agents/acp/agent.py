"""The agent of `acp`: programs that run, each asked by one turn at a time."""

from __future__ import annotations

import math
import os
import re
import threading
import time
from collections.abc import Collection, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Final

from materiac.agents.acp import ABILITIES
from materiac.agents.acp.program import GoneError, Program
from materiac.agents.protocol import AgentError, Reply, Request
from materiac.environment import clean, withheld
from materiac.process import StartError

_LOOK_S: Final = 0.02
"""How often is looked whether somebody wants a turn to end."""
_CANCEL_S: Final = 0.3
"""How long a program may take to cancel its turn before it is ended."""
_PATIENCE_S: Final = 1.9
_MAX_IDLE: Final = 4
"""How many programs are kept that wait for a turn."""
_LACKS: Final = re.compile(
    r"key(?![a-z])|token(?![a-z])|secret|password|credential|auth|log ?in|\b40[13]\b", re.IGNORECASE
)
"""What a program says that has not found its key."""
_NAMED: Final = 8
"""How many variables a message names."""


class _LateError(Exception):
    """The time of the turn is over."""


class Acp:
    """Asks a program; threads may have turns side by side, each with a process of its own.

    A process is kept for later turns that see the same secrets.
    """

    abilities = ABILITIES

    def __init__(
        self, spec: str, argv: Sequence[str], env: Collection[str] = (), *, serves_files: bool = True
    ) -> None:
        self.spec = spec
        self._serves_files = serves_files
        self._argv = argv
        self._env = env
        self._idle: list[Program] = []
        self._closed = threading.Event()
        self._changed = threading.Condition()
        self._turns = 0

    def turn(self, request: Request) -> Reply:
        """Ask, and answer what the program asks for, until it has answered. Raises `AgentError`."""
        with self._changed:
            if self._closed.is_set():
                raise AgentError(f"'{self.spec}' was closed before '{request.socket}' was asked")
            self._turns += 1
        try:
            reply = self._asked(request)
        except AgentError as error:
            raise type(error)(self._advised(str(error), request)) from error
        finally:
            with self._changed:
                self._turns -= 1
                self._changed.notify_all()
        return reply if reply.error is None else replace(reply, error=self._advised(reply.error, request))

    def close(self) -> None:
        """End every turn that is under way, and every program."""
        self._closed.set()
        with self._changed:
            self._changed.wait_for(lambda: self._turns == 0, _PATIENCE_S)
            idle, self._idle = self._idle, []
        _end(idle)

    def _asked(self, request: Request) -> Reply:
        program = self._taken(request)
        keep = False
        try:
            reply = self._answered(program, request)
            keep = reply.stop != "aborted"
        except _LateError:
            words = f"gave no answer in {request.timeout_s:g} s and was ended"
            raise AgentError(f"'{self._argv[0]}' {words}") from None
        except GoneError as gone:
            program.end()
            how = program.how_it_ended()
            if not gone.asked:
                raise AgentError(f"{how}; a program that speaks the Agent Client Protocol goes on") from None
            return Reply("", session=request.session, stop="error", error=how, fault="transport")
        finally:
            self._given_back(program, keep=keep)
        return reply

    def _answered(self, program: Program, request: Request) -> Reply:
        """What comes of a turn, unless somebody wants it to end before. Raises `_LateError` too."""
        deadline = math.inf if request.timeout_s is None else time.monotonic() + request.timeout_s
        under_way = program.turn(request)
        while not _waited(under_way, _LOOK_S):
            late = time.monotonic() >= deadline
            if late or self._closed.is_set() or (request.stop is not None and request.stop.is_set()):
                program.cancel()
                _waited(under_way, _CANCEL_S)
                if late:
                    raise _LateError
                return Reply("", stop="aborted", error="it was stopped before it answered")
        return under_way.result()

    def _taken(self, request: Request) -> Program:
        """A program for a turn: one that has its session open, one that waits, or a new one."""
        env = {**clean(os.environ, self._listed(request)), "PWD": str(request.cwd)}
        wanted = (request.cwd, env, request.owner)
        with self._changed:
            fits = [one for one in self._idle if one.alive and (one.cwd, one.env, one.owner) == wanted]
            holders = [one for one in self._idle if request.session in one.sessions]
            # A session has the tool server that it was opened with: for another one it is opened anew.
            usable = [one for one in fits if request.tool_server is None or one not in holders]
            chosen = next((one for one in usable if one in holders), usable[-1] if usable else None)
            over = [one for one in self._idle if not one.alive or (one in holders and one is not chosen)]
            self._idle = [one for one in self._idle if one is not chosen and one not in over]
        _end(over)
        return chosen or self._started(request, env)

    def _started(self, request: Request, env: dict[str, str]) -> Program:
        try:
            return Program(self._argv, request.cwd, env, request.owner, serves_files=self._serves_files)
        except StartError as error:
            raise AgentError(str(error)) from error

    def _given_back(self, program: Program, *, keep: bool) -> None:
        """Keep a program for later turns, or end it; of many that wait the one that waits longest."""
        with self._changed:
            self._idle += [program] if keep and not self._closed.is_set() else []
            over = self._idle[:-_MAX_IDLE] + [one for one in [program] if one not in self._idle]
            self._idle = self._idle[-_MAX_IDLE:]
        _end(over)

    def _listed(self, request: Request) -> frozenset[str]:
        return frozenset((*self._env, *request.env))

    def _advised(self, message: str, request: Request) -> str:
        """A message, with the names of what was withheld where it sounds as if that was missing."""
        names = withheld(os.environ, self._listed(request))
        if not names or not _LACKS.search(message):
            return message
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        return (
            f"{message}\nhelp: it does not see {', '.join(names[:_NAMED])}{more}, which look like secrets: "
            f"list what it needs as 'acp?env=NAME:…', or in 'env' of materia '{request.materia}'"
        )


def _waited(under_way: Future[Reply], seconds: float) -> bool:
    """Whether a turn is over after some time, whatever came of it."""
    try:
        under_way.exception(seconds)
    except TimeoutError:
        return False
    return True


def _end(programs: Sequence[Program]) -> None:
    for program in programs:
        program.stop()
    for program in programs:
        program.end()
