"""An editor that talks with `materiac acp` over real pipes, with the client's side of the library."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import acp
from acp.client import ClientSideConnection
from acp.schema import AgentMessageChunk, AgentPlanUpdate, AgentThoughtChunk, UserMessageChunk

PATIENCE_S = 30.0


class Editor:
    """Keeps the updates of all sessions; `on_update` hears each of them too."""

    agent: ClientSideConnection

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.updates: list[Any] = []
        self.on_update: Callable[[Any], None] = lambda _: None

    async def session_update(self, update: Any, **_: Any) -> None:
        self.updates.append(update)
        self.on_update(update)

    async def begin(self) -> str:
        """A new session, in the folder; its id."""
        return (await self.agent.new_session(cwd=str(self.folder))).session_id

    async def say(self, session: str, text: str) -> Any:
        """Send a prompt; the updates are those of this one then."""
        self.updates.clear()
        return await self.agent.prompt(session_id=session, prompt=[acp.text_block(text)])

    def of(self, kind: type) -> list[Any]:
        return [update for update in self.updates if isinstance(update, kind)]

    @property
    def said(self) -> str:
        """All that the agent said."""
        return "".join(chunk.content.text for chunk in self.of(AgentMessageChunk))

    @property
    def thought(self) -> str:
        return "".join(chunk.content.text for chunk in self.of(AgentThoughtChunk))

    @property
    def typed(self) -> list[str]:
        """What a person said, as it is told of the past."""
        return [chunk.content.text for chunk in self.of(UserMessageChunk)]

    @property
    def plans(self) -> list[list[tuple[str, str]]]:
        """The plans, one after the other, without those that changed nothing."""
        plans = [
            [(entry.content, entry.status) for entry in plan.entries] for plan in self.of(AgentPlanUpdate)
        ]
        return [plan for before, plan in zip([[], *plans], plans, strict=False) if plan != before]

    @property
    def calls(self) -> dict[str, tuple[str, str, str]]:
        """The visits by the ids of their tool calls: title, status and content, as they are at the end."""
        calls: dict[str, tuple[str, str, str]] = {}
        for update in self.updates:
            if getattr(update, "tool_call_id", None):
                title, status, text = calls.get(update.tool_call_id, ("", "", ""))
                parts = [part.content.text for part in update.content or []]
                calls[update.tool_call_id] = (
                    update.title or title,
                    update.status or status,
                    "".join(parts) if update.content is not None else text,
                )
        return {id_.partition("/")[2]: call for id_, call in calls.items()}


@asynccontextmanager
async def editing(folder: Path, *words: str, env: Mapping[str, str] | None = None) -> AsyncIterator[Editor]:
    """An editor with `materiac acp` as its agent."""
    editor = Editor(folder)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("MATERIA")}
    own = {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "config"), **(env or {})}
    async with acp.spawn_agent_process(
        cast("acp.Client", editor),
        sys.executable,
        *("-P", "-m", "materiac", "acp", *words),
        env={**inherited, **own},
        cwd=folder,
        transport_kwargs={"stderr": None, "shutdown_timeout": PATIENCE_S},
    ) as (connection, _):
        editor.agent = connection
        await connection.initialize(protocol_version=acp.PROTOCOL_VERSION)
        yield editor


def write(folder: Path, sockets: Any, materia: Any, answers: Any, **rest: Any) -> None:
    """The project's loadout `Trial`, and what the scripted agent answers."""
    place = folder / ".materia" / "loadout.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    trial = {"entry": next(iter(sockets)), "sockets": sockets, "description": "a trial"}
    data = {"activeLoadout": "Trial", "loadouts": {"Trial": trial}, "materia": materia, **rest}
    place.write_text(json.dumps(data), encoding="utf-8")
    (folder / "answers.json").write_text(json.dumps({"sockets": answers}), encoding="utf-8")
