"""The agent of `pi`: a process for each lane, which is kept between turns that are started alike."""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Final

from materiac.agents.pi import ABILITIES, talks
from materiac.agents.pi.course import Course
from materiac.agents.pi.launch import Launch, advised, launch
from materiac.agents.pi.rpc import GoneError, LateError, Rpc, StoppedError, Watch
from materiac.agents.pi.spec import NAME, Spec
from materiac.agents.protocol import AgentError, Reply, Request

_MAX_IDLE: Final = 4
"""How many processes are kept that wait for a turn; each takes some 150 MB."""
_MODELS_S: Final = 20.0
"""How long Pi may take to list its models."""


class Pi:
    """Asks Pi; threads may have turns of different lanes side by side."""

    abilities = ABILITIES

    def __init__(self, spec: Spec) -> None:
        self.spec = spec.text
        self._chosen = spec
        self._lanes: dict[str, _Lane] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._scratch: Path | None = None
        self._folders: set[Path] = set()
        self._made = time.time()

    def turn(self, request: Request) -> Reply:
        """One prompt, and all that Pi does about it. Raises `AgentError`."""
        lane = self._lane(request)
        watch = Watch(request, self._closed)
        try:
            wanted = launch(self._chosen, request, self._folder(request))
            with lane.lock:
                reply = lane.turn(wanted, request, watch)
        except LateError:
            words = f"gave no answer in {request.timeout_s:g} s and was ended"
            raise AgentError(f"'{self.spec}' {words}") from None
        except AgentError as error:
            raise type(error)(advised(str(error), self._chosen, request)) from error
        self._end_idle()
        if reply.error is None:
            return reply
        return replace(reply, error=advised(reply.error, self._chosen, request))

    def close(self) -> None:
        """End the turns that are under way, and every process."""
        self._closed.set()
        with self._lock:
            lanes, self._lanes = list(self._lanes.values()), {}
            scratch, self._scratch = self._scratch, None
        for lane in lanes:
            with lane.lock:
                lane.end()
        if scratch is not None:
            shutil.rmtree(scratch, ignore_errors=True)

    def models(self) -> list[str]:
        """The models that Pi has keys for, with and without their providers. Raises `AgentError`."""
        request = Request("", "models", "models", 1, 1, Path.cwd(), timeout_s=_MODELS_S)
        rpc = Rpc(launch(self._chosen, request, self._folder(request)), None)
        try:
            listed = rpc.ask("get_available_models", Watch(request, self._closed)).get("models", [])
        except (GoneError, LateError, StoppedError) as error:
            raise AgentError(f"'{self.spec}' does not list its models: {error}") from error
        finally:
            rpc.end()
        names = ((model["id"], f"{model['provider']}/{model['id']}") for model in listed)
        return sorted({name for pair in names for name in pair})

    def _lane(self, request: Request) -> _Lane:
        """The lane of a request, which is now the one that was used last."""
        with self._lock:
            if self._closed.is_set():
                raise AgentError(f"'{self.spec}' was closed before '{request.socket}' was asked")
            lane = self._lanes.pop(request.lane, None) or _Lane()
            self._lanes[request.lane] = lane
            return lane

    def _folder(self, request: Request) -> Path:
        """Where the talks of a request are kept; those of no cast last as long as this agent."""
        with self._lock:
            if request.sessions is None:
                self._scratch = self._scratch or Path(tempfile.mkdtemp(prefix="materiac-pi-"))
                return self._scratch
            folder = request.sessions.resolve() / NAME
            if folder not in self._folders:
                try:
                    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                except OSError as error:
                    raise AgentError(f"cannot make the folder '{folder}': {error.strerror}") from error
                talks.mask_all(folder, self._made)  # what a process that was killed has left
                self._folders.add(folder)
            return folder

    def _end_idle(self) -> None:
        """End the processes that have waited longest, where there are many."""
        with self._lock:
            idle = [lane for lane in self._lanes.values() if lane.waits]
        for lane in idle[: max(0, len(idle) - _MAX_IDLE)]:
            if lane.lock.acquire(blocking=False):
                try:
                    lane.end()
                finally:
                    lane.lock.release()


class _Lane:
    """The process of a lane. Whoever has a turn or ends it holds its `lock`."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._rpc: Rpc | None = None

    @property
    def waits(self) -> bool:
        """Whether there is a process without a turn."""
        return self._rpc is not None and not self.lock.locked()

    def turn(self, wanted: Launch, request: Request, watch: Watch) -> Reply:
        """A turn in the process that is here, if it was started as this one wants it, else in a new one.

        Raises `AgentError` and `LateError`. A process whose turn has not come to its own end is ended.
        """
        course, rpc = Course(request), None
        try:
            rpc = self._opened(wanted, request, watch)
            rpc.prompt(request.prompt, course, watch)
            reply = course.reply(rpc.session)
        except GoneError as error:
            self.end()
            if rpc is None:  # what it was started with is wrong, or what it runs on
                raise AgentError(str(error)) from error
            reply = course.failed(str(error), rpc.session, "transport")
        except (StoppedError, LateError) as error:
            self._abort(course)
            if isinstance(error, LateError):
                raise
            reply = course.aborted(request.session)
        except BaseException:
            self.end()
            raise
        finally:
            if rpc is not None and rpc.file is not None:
                talks.mask(rpc.file)
        return reply

    def end(self) -> None:
        """End the process, if there is one."""
        rpc, self._rpc = self._rpc, None
        if rpc is not None:
            rpc.end()

    def _opened(self, wanted: Launch, request: Request, watch: Watch) -> Rpc:
        """The process, in the talk of the request."""
        if self._rpc is not None and not self._fits(self._rpc, wanted, request.session):
            self.end()
        if self._rpc is None:
            self._rpc = Rpc(wanted, request.session)
        self._rpc.open(request.session, watch)
        return self._rpc

    def _fits(self, rpc: Rpc, wanted: Launch, session: str | None) -> bool:
        return rpc.launch == wanted and session in (None, rpc.session) and rpc.alive

    def _abort(self, course: Course) -> None:
        rpc, self._rpc = self._rpc, None
        if rpc is not None:
            rpc.abort(course)
