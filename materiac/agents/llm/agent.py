"""The agent of `llm`: starts turns, waits for them, ends them."""

from __future__ import annotations

import math
import os
import secrets
import threading
import time
from collections.abc import Mapping
from typing import Final, Literal

from materiac.agents.llm import ABILITIES
from materiac.agents.llm.endpoint import Endpoint
from materiac.agents.llm.talks import Talks
from materiac.agents.llm.turn import Turn
from materiac.agents.protocol import AgentError, Reply, Request
from materiac.environment import clean
from materiac.process import end_leftovers
from materiac.process.descendants import MARK

_LOOK_S: Final = 0.02
"""How often is looked whether somebody wants a turn to end."""
_PATIENCE_S: Final = 1.9
"""How long a turn may take to end: a command that does not hear is killed in less."""


class Llm:
    """Asks a model; threads may have turns side by side."""

    abilities = ABILITIES

    def __init__(self, spec: str, endpoint: Endpoint) -> None:
        self.spec = spec
        self._endpoint = endpoint
        self._talks = Talks()
        self._id = f"llm{secrets.token_hex(8)}"
        self._closed = threading.Event()
        self._idle = threading.Condition()
        self._turns = 0
        self._has_run = False

    def turn(self, request: Request) -> Reply:
        """Ask, and run the tools that are called, until there is an answer. Raises `AgentError`."""
        if self._closed.is_set():
            raise AgentError(f"'{self.spec}' was closed before '{request.socket}' was asked")
        turn = Turn(self._endpoint, request, self._talks, self._environment(request))
        with self._idle:
            self._turns += 1
            self._has_run |= "bash" in request.tools
        try:
            turn.start()
            end = self._end_of(turn, request)
        finally:
            turn.cancel()
            turn.done.wait(_PATIENCE_S)
            with self._idle:
                self._turns -= 1
                self._idle.notify_all()
        if end == "late":
            raise AgentError(f"'{self.spec}' gave no answer in {request.timeout_s:g} s and was ended")
        return turn.aborted() if end == "stopped" else turn.result()

    def close(self) -> None:
        """End every turn that is under way, and what their commands have left running."""
        self._closed.set()
        with self._idle:
            self._idle.wait_for(lambda: self._turns == 0, _PATIENCE_S)
            has_run, self._has_run = self._has_run, False
        if has_run:
            end_leftovers(self._id)

    def _end_of(self, turn: Turn, request: Request) -> Literal["done", "stopped", "late"]:
        deadline = math.inf if request.timeout_s is None else time.monotonic() + request.timeout_s
        while not turn.done.wait(_LOOK_S):
            if self._closed.is_set() or (request.stop is not None and request.stop.is_set()):
                return "stopped"
            if time.monotonic() >= deadline:
                return "late"
        return "done"

    def _environment(self, request: Request) -> Mapping[str, str]:
        """What the commands of a turn see: not the key, whatever its name, and the mark of this agent."""
        seen = clean(os.environ, request.env)
        if self._endpoint.key is not None and self._endpoint.key not in request.env:
            seen.pop(self._endpoint.key, None)
        return {**seen, MARK: f"{seen.get(MARK, '')}:{self._id}."}
