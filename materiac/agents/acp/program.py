"""A program that runs: a thread of its own talks with it, from its start to its end.

The library lives in that thread's event loop; turns are handed in from others.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, cast

import acp
from acp.schema import (
    ClientCapabilities,
    EnvVariable,
    FileSystemCapabilities,
    Implementation,
    InitializeResponse,
    LoadSessionResponse,
    McpServerStdio,
    NewSessionResponse,
    PromptResponse,
)

from materiac import __version__
from materiac.agents.acp import choices
from materiac.agents.acp.faults import failure
from materiac.agents.acp.news import News
from materiac.agents.acp.warden import Warden
from materiac.agents.acp.wire import MAX_LINE, Wire
from materiac.agents.protocol import AgentError, Json, Reply, Request, StopReason, ToolServer, Usage
from materiac.environment import Mask, secrets
from materiac.process.lines import Lines

_HANDSHAKE_S: Final = 60.0
"""How long a program may take until it has a session: some load a lot before they speak."""
_END_S: Final = 3.0
_LAST_WORDS: Final = 1200
"""How many characters of what it wrote to standard error a message shows."""
_STOPS: Final[Mapping[str, StopReason]] = {
    "max_tokens": "length",
    "max_turn_requests": "length",
    "cancelled": "aborted",
}
_REFUSED: Final = "refusal"


class GoneError(Exception):
    """The program ended. `asked` says whether it had got the prompt by then."""

    def __init__(self, *, asked: bool) -> None:
        super().__init__()
        self.asked = asked


class Program:
    """A program under way. `sessions` are those that it has open, each with whether it has a tool server.

    Raises `StartError` where it cannot be started.
    """

    def __init__(
        self,
        argv: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        owner: str,
        *,
        serves_files: bool = True,
    ) -> None:
        self.argv, self.cwd, self.env, self.owner = argv, cwd, env, owner
        self._serves_files = serves_files
        self.sessions: dict[str, bool] = {}
        self._costs: dict[str, float | None] = {}
        self._warden = Warden()
        self._lines = Lines(argv, cwd=cwd, env=env, max_line=MAX_LINE, owner=owner)
        self._wire = Wire(self._lines, self._hear)
        self._connection: acp.client.ClientSideConnection | None = None
        self._about: InitializeResponse | None = None
        self._loop = asyncio.new_event_loop()
        self._over = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="acp", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether it can be asked, as far as that is known."""
        return not self._wire.over

    @property
    def loads(self) -> bool:
        """Whether another process can go on with its sessions."""
        capabilities = self._about.agent_capabilities if self._about else None
        return bool(capabilities and capabilities.load_session)

    def turn(self, request: Request) -> Future[Reply]:
        """Begin a turn. It raises `AgentError`, and `GoneError` where the program ends in it."""
        return asyncio.run_coroutine_threadsafe(self._turn(request), self._loop)

    def cancel(self) -> None:
        """Tell it to stop what it does in all its sessions."""
        asyncio.run_coroutine_threadsafe(self._cancel(), self._loop)

    def stop(self) -> None:
        """Begin to end it, and all that it started."""
        with suppress(RuntimeError):  # it is over already
            self._loop.call_soon_threadsafe(self._over.set)

    def end(self) -> None:
        """End it, and wait until that is done; may be called twice."""
        self.stop()
        self._thread.join(_END_S)

    def how_it_ended(self) -> str:
        """What became of it, with its last words, once it has ended."""
        code = self._lines.code or 0
        how = f"ended with exit code {code}"
        if code < 0:
            how = f"was ended by signal {-code} ({signal.strsignal(-code) or 'unknown'})"
        said = self._lines.stderr.decode(errors="replace").strip() or "\n".join(self._wire.chatter)
        said = Mask(secrets(self.env)).text(said)
        said = said if len(said) <= _LAST_WORDS else f"…{said[-_LAST_WORDS:]}"
        return f"'{self.argv[0]}' {how}" + (f": {said}" if said else "")

    # What the thread does

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._over.wait())
            left = asyncio.all_tasks(self._loop)
            for task in left:
                task.cancel()
            if left:
                self._loop.run_until_complete(asyncio.wait(left))
        finally:
            self._lines.end()
            self._loop.close()

    def _hear(self, params: Any) -> None:
        if isinstance(params, dict) and isinstance(params.get("update"), dict):
            self._warden.hear(params.get("sessionId"), params["update"])

    async def _turn(self, request: Request) -> Reply:
        news = News(request.progress, request.max_bytes)
        asked = False
        try:
            async with asyncio.timeout(_HANDSHAKE_S):
                connection = await self._opened()
                session = await self._session(connection, request, news)
            asked = True
            self._warden.begin(session, request, news)
            response = await connection.prompt(session_id=session, prompt=[acp.text_block(_prompt(request))])
        except ConnectionError:
            if self._wire.fault is not None:
                raise type(self._wire.fault)(f"'{self.argv[0]}': {self._wire.fault}") from None
            raise GoneError(asked=asked) from None
        except acp.RequestError as error:
            return self._failed(error, request, news, asked=asked)
        except TimeoutError:
            raise AgentError(
                f"'{self.argv[0]}' had no session for us in {_HANDSHAKE_S:g} s{_DOUBT}"
            ) from None
        except ValueError as error:  # what is not as the protocol has it
            raise AgentError(f"'{self.argv[0]}' gave an answer that cannot be read: {error}") from error
        finally:
            if asked:
                self._warden.end(session)
        return self._reply(response, session, news)

    async def _opened(self) -> acp.client.ClientSideConnection:
        """The connection, after the greetings."""
        if self._connection is None:
            client = cast("acp.Client", self._warden)
            self._connection = acp.connect_to_agent(client, self._wire)
            serves = self._serves_files
            files = FileSystemCapabilities(read_text_file=serves, write_text_file=serves)
            self._about = await self._connection.initialize(
                protocol_version=acp.PROTOCOL_VERSION,
                client_capabilities=ClientCapabilities(fs=files),
                client_info=Implementation(name="materiac", title="materiac", version=__version__),
            )
        about = self._about
        if about is not None and about.protocol_version != acp.PROTOCOL_VERSION:
            found, expected = about.protocol_version, acp.PROTOCOL_VERSION
            raise AgentError(f"'{self.argv[0]}' speaks version {found} of the protocol, expected {expected}")
        return self._connection

    async def _session(
        self, connection: acp.client.ClientSideConnection, request: Request, news: News
    ) -> str:
        """The session to ask in: an open one, one of another process, or a new one."""
        if request.session in self.sessions:
            return request.session
        servers: list[Any] = [] if request.tool_server is None else [_server(request.tool_server)]
        opened: NewSessionResponse | LoadSessionResponse
        cwd, session = str(request.cwd.absolute()), request.session
        if session is not None:
            opened = await connection.load_session(cwd=cwd, session_id=session, mcp_servers=servers)
        else:
            opened = await connection.new_session(cwd=cwd, mcp_servers=servers)
            session = opened.session_id
        await choices.make(connection, session, opened.config_options or [], request, news)
        self.sessions[session] = bool(servers)
        self._costs[session] = None if request.session is not None else 0.0
        return session

    async def _cancel(self) -> None:
        if self._connection is None:
            return
        with suppress(ConnectionError):
            for session in self.sessions:
                await self._connection.cancel(session_id=session)

    def _reply(self, response: PromptResponse, session: str, news: News) -> Reply:
        before, self._costs[session] = self._costs[session], news.cost
        refused = response.stop_reason == _REFUSED
        stop: StopReason = "error" if refused else _STOPS.get(response.stop_reason, "stop")
        return Reply(
            text="" if refused else news.text,
            usage=_usage(response, news.cost, before),
            session=session if self.loads else None,
            stop=stop,
            error="the agent refuses to go on with this" if refused else None,
            provider=self._name(),
            fault="provider" if refused else None,
            events=tuple(news.told),
        )

    def _failed(self, error: acp.RequestError, request: Request, news: News, *, asked: bool) -> Reply:
        message, fault, wait_s = failure(error)
        name = f"'{self.argv[0]}'"
        if not asked and request.session is None:
            raise AgentError(f"{name} gives no session: {message}{_login(self._about, error)}")
        what = "failed" if asked else f"cannot go on with the session '{request.session}'"
        return Reply(
            "",
            stop="error",
            error=f"{name} {what}: {message}",
            provider=self._name(),
            # A session that is lost is made up for as one that is full: by a fresh one, told all of it.
            fault=fault if asked else "context",
            retry_after_s=wait_s,
            events=tuple(news.told),
        )

    def _name(self) -> str | None:
        info = self._about.agent_info if self._about else None
        return info.name if info else None


_DOUBT: Final = ": is it one that speaks the Agent Client Protocol?"


def _prompt(request: Request) -> str:
    """The protocol has no place for a system text of one's own."""
    return f"{request.system}\n\n{request.prompt}" if request.system else request.prompt


def _server(server: ToolServer) -> McpServerStdio:
    command, *arguments = server.command
    env = [EnvVariable(name=name, value=value) for name, value in server.env.items()]
    return McpServerStdio(name=server.name, command=command, args=arguments, env=env)


def _usage(response: PromptResponse, cost: float | None, before: float | None) -> Usage | None:
    """What the program says of the turn; what it says of the session so far becomes the difference."""
    used = response.usage
    if used is None:
        return None
    spent = max(0.0, cost - before) if cost is not None and before is not None else 0.0
    return Usage(
        input=used.input_tokens,
        output=used.output_tokens,
        cache_read=used.cached_read_tokens or 0,
        cache_write=used.cached_write_tokens or 0,
        cost=spent,
    )


def _login(about: InitializeResponse | None, error: acp.RequestError) -> str:
    """How to log in, as the program names its ways, where that is what it wants."""
    if error.code != acp.RequestError.auth_required().code or about is None:
        return ""
    ways: list[Json] = [way.model_dump() for way in about.auth_methods or []]
    named = ", ".join(f"'{way.get('name')}'" for way in ways)
    return "; log in with it by hand first" + (f" ({named})" if named else "")
