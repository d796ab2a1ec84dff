"""The agent's side of the protocol: sessions, prompts, and what they come to."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any, Final, cast

import acp
from acp.agent import AgentSideConnection
from acp.schema import (
    AgentCapabilities,
    ConfigOptionUpdate,
    Implementation,
    InitializeResponse,
    ListSessionsResponse,
    LoadSessionResponse,
    NewSessionResponse,
    PromptCapabilities,
    PromptResponse,
    SessionCapabilities,
    SessionInfo,
    SessionListCapabilities,
    SetSessionConfigOptionResponse,
    SetSessionModeResponse,
)

from materiac import __version__
from materiac.editors import blocks
from materiac.editors import session as sessions
from materiac.editors.casting import Casting, Job
from materiac.editors.desk import Desk
from materiac.editors.door import Door
from materiac.editors.session import PromptError, Session

_FAILED: Final = -32603
_STOPPED_CODE: Final = 4


async def serve(desk: Desk) -> None:
    """Serve the editor on standard input and output until it ends. Raises `NoEditorError`."""
    server = Server(desk)
    connection = AgentSideConnection(cast("acp.Agent", server), await Door.standard(), listening=False)
    server.client = cast("acp.Client", connection)
    try:
        await connection.listen()
    finally:
        await connection.close()


class Server:
    """Answers the requests of an editor, which is the `client`."""

    client: acp.Client

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._sessions: dict[str, Session] = {}

    # What an editor asks

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        """Say what we can do; we know one version of the protocol."""
        can = AgentCapabilities(
            load_session=True,
            prompt_capabilities=PromptCapabilities(embedded_context=True),
            session_capabilities=SessionCapabilities(list=SessionListCapabilities()),
        )
        return InitializeResponse(
            protocol_version=min(protocol_version, acp.PROTOCOL_VERSION) or acp.PROTOCOL_VERSION,
            agent_capabilities=can,
            agent_info=Implementation(name="materiac", title="materiac", version=__version__),
        )

    async def new_session(self, cwd: str, **_: Any) -> NewSessionResponse:
        """Begin a session in a folder."""
        session = self._opened(uuid.uuid4().hex, cwd)
        return NewSessionResponse(
            session_id=session.id, modes=blocks.modes(session), config_options=blocks.options(session)
        )

    async def load_session(self, session_id: str, cwd: str, **_: Any) -> LoadSessionResponse:
        """Tell of the casts of an earlier session, and go on with it."""
        session = self._opened(session_id, cwd)
        found = sessions.of(self._desk.artifacts(session.cwd), session_id)
        if not found:
            del self._sessions[session_id]
            raise acp.RequestError.resource_not_found(session_id)
        for folder in found:
            for update in session.recall(folder):
                await self._tell(session, update)
            await self._rest(session, folder)
        return LoadSessionResponse(modes=blocks.modes(session), config_options=blocks.options(session))

    async def list_sessions(self, cwd: str | None = None, **_: Any) -> ListSessionsResponse:
        """The sessions that have had a cast in a folder, the newest first."""
        folder = Path(cwd) if cwd else Path.cwd()
        known = sessions.known(self._desk.artifacts(folder))
        infos = [
            SessionInfo(
                session_id=id_,
                cwd=str(folder),
                title=" ".join(str(began.fields.get("request", "")).split())[:80],
                updated_at=began.at,
            )
            for id_, (_, began) in known.items()
        ]
        return ListSessionsResponse(sessions=infos)

    async def set_session_mode(self, session_id: str, mode_id: str, **_: Any) -> SetSessionModeResponse:
        """Choose the loadout."""
        session = self._session(session_id)
        self._choose(session, mode_id)
        update = ConfigOptionUpdate(
            session_update="config_option_update", config_options=blocks.options(session) or []
        )
        await self._tell(session, update)
        return SetSessionModeResponse()

    async def set_config_option(
        self, session_id: str, config_id: str, value: str | bool, **_: Any
    ) -> SetSessionConfigOptionResponse:
        """Choose the loadout, the other way."""
        session = self._session(session_id)
        if config_id != blocks.LOADOUT:
            raise _invalid(f"there is no option '{config_id}', only '{blocks.LOADOUT}'")
        self._choose(session, value)
        await self._tell(session, acp.helpers.update_current_mode(str(value)))
        return SetSessionConfigOptionResponse(config_options=blocks.options(session) or [])

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> PromptResponse:
        """Run a cast, or go on with one, until it rests."""
        session = self._session(session_id)
        if session.is_busy:
            raise _invalid("a cast of this session is under way")
        try:
            job = session.job(blocks.text_of(prompt), self._desk)
        except PromptError as error:
            raise _invalid(str(error)) from error
        session.is_busy, session.is_stopped = True, False
        try:
            code, complaint = await self._cast(session, job)
        finally:
            session.is_busy, session.casting = False, None
        return await self._outcome(session, code, complaint)

    async def cancel(self, session_id: str, **_: Any) -> None:
        """Stop the cast of a session; it can be gone on with."""
        if session_id in self._sessions:
            self._sessions[session_id].stop()

    async def _cast(self, session: Session, job: Job) -> tuple[int, str]:
        """Do a job, and tell what happens; gives its exit code, and what was complained about."""
        casting = session.casting = await Casting.begin(self._desk.command, session.cwd, job)
        if session.is_stopped:
            casting.stop()
        try:
            async for line in casting.lines():
                for update in session.take(line):
                    await self._tell(session, update)
        finally:
            ended = await casting.end()
        return ended

    # What it comes to

    async def _outcome(self, session: Session, code: int, complaint: str) -> PromptResponse:
        telling = session.telling
        end = telling.end if telling else None
        if telling is None or end is None or telling.folder is None:
            if session.is_stopped and code == _STOPPED_CODE:
                return PromptResponse(stop_reason="cancelled")
            raise await self._refusal(session, complaint or f"the cast broke off with exit code {code}")
        if complaint:
            await self._tell(session, acp.update_agent_thought_text(f"{complaint}\n"))
        await self._rest(session, telling.folder)
        if end["status"] == "failed":
            failure = end.get("failure") or {}
            raise acp.RequestError(_FAILED, f"the cast failed: {failure.get('message')}")
        return PromptResponse(
            stop_reason="cancelled" if end["status"] == "stopped" else "end_turn",
            usage=blocks.usage_of(telling.used),
        )

    async def _refusal(self, session: Session, complaint: str) -> acp.RequestError:
        """An error whose message is the first line of a complaint; the rest is said."""
        lines = complaint.splitlines()
        if len(lines) > 1:
            await self._say(session, f"```\n{complaint}\n```")
        return acp.RequestError(_FAILED, lines[0].removeprefix("materiac: "))

    def _opened(self, id_: str, cwd: str) -> Session:
        folder = Path(cwd)
        if id_ in self._sessions and self._sessions[id_].is_busy:
            raise _invalid("a cast of this session is under way")
        if not folder.is_absolute() or not folder.is_dir():
            raise _invalid(f"'{cwd}' is no folder with an absolute path")
        offered, active = self._desk.loadouts(folder)
        self._sessions[id_] = session = Session(id_, folder, offered, active)
        return session

    def _session(self, id_: str) -> Session:
        if id_ not in self._sessions:
            raise acp.RequestError.resource_not_found(id_)
        return self._sessions[id_]

    def _choose(self, session: Session, name: str | bool) -> None:
        if name not in [loadout.name for loadout in session.offered]:
            raise _invalid(f"there is no loadout '{name}'")
        session.loadout = str(name)

    async def _rest(self, session: Session, folder: Path) -> None:
        """Tell how a cast rests, and by which commands one goes on with it."""
        await self._say(session, self._desk.ending(folder))
        await self._tell(session, acp.helpers.update_available_commands(blocks.commands()))

    async def _say(self, session: Session, text: str) -> None:
        await self._tell(session, acp.update_agent_message_text(f"\n\n{text}\n"))

    async def _tell(self, session: Session, update: Any) -> None:
        await self.client.session_update(session_id=session.id, update=update)


def _invalid(message: str) -> acp.RequestError:
    return acp.RequestError(acp.RequestError.invalid_params().code, message)
