"""An agent for tests that plays a part, with the agent's side of the library.

acp_stage.py FILE

The file has what it is, and the steps of each prompt; what comes back is a line each in `FILE.log`.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, cast

import acp
from acp.schema import (
    AgentCapabilities,
    AuthMethodAgent,
    Implementation,
    InitializeResponse,
    LoadSessionResponse,
    NewSessionResponse,
    PermissionOption,
    PromptResponse,
    SetSessionConfigOptionResponse,
    ToolCallUpdate,
)
from pydantic import BaseModel

Json = dict[str, Any]


class Stage:
    """Plays the steps of a file."""

    def __init__(self, file: Path) -> None:
        self.part: Json = json.loads(file.read_text(encoding="utf-8"))
        self.file = file
        self.client: acp.Client
        self.stopped = asyncio.Event()
        self.count = 0

    def on_connect(self, conn: acp.Client) -> None:
        self.client = conn

    async def initialize(self, protocol_version: int, **told: Any) -> InitializeResponse:
        self.log(client=told["client_info"].name, files=told["client_capabilities"].fs.read_text_file)
        await self.hold("initialize")
        return InitializeResponse(
            protocol_version=self.part.get("version", protocol_version),
            agent_capabilities=AgentCapabilities(load_session=self.part.get("loads", True)),
            agent_info=Implementation(name="stage", version="1"),
            auth_methods=[AuthMethodAgent(id="door", name="By the door")],
        )

    async def new_session(self, cwd: str, mcp_servers: Any = None, **_: Any) -> NewSessionResponse:
        await self.hold("new")
        self.count += 1
        self.log(new=cwd, servers=[server.name for server in mcp_servers or []])
        options = self.part.get("settings", [])
        data = {"sessionId": f"{os.getpid()}.{self.count}", "configOptions": options}
        return NewSessionResponse.model_validate(data)

    async def load_session(self, session_id: str, mcp_servers: Any = None, **_: Any) -> LoadSessionResponse:
        self.log(load=session_id, servers=[server.name for server in mcp_servers or []])
        await self.hold("load")
        await self.say("This was said before.", session_id)
        return LoadSessionResponse()

    async def set_config_option(self, config_id: str, value: Any, **_: Any) -> SetSessionConfigOptionResponse:
        self.log(set=config_id, value=value)
        return SetSessionConfigOptionResponse(config_options=[])

    async def cancel(self, **_: Any) -> None:
        self.log(cancel=True)
        self.stopped.set()

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> PromptResponse:
        self.log(prompt=prompt[0].text)
        end: Json = {"stopReason": "end_turn"}
        for name, *given in self.steps():
            end = await getattr(self, name)(*given, session_id) or end
        return PromptResponse.model_validate(end)

    def steps(self) -> list[list[Any]]:
        """Those of the next prompt; the last are played again and again."""
        played = self.file.with_suffix(".played")
        number = int(played.read_text()) if played.exists() else 0
        played.write_text(str(number + 1))
        prompts = self.part["prompts"]
        return list(prompts[min(number, len(prompts) - 1)])

    # The steps

    async def say(self, text: str, session: str, message: str | None = None) -> None:
        chunk = acp.update_agent_message_text(text)
        chunk.message_id = message
        await self.update(chunk, session)

    async def say_as(self, message: str, text: str, session: str) -> None:
        await self.say(text, session, message)

    async def think(self, text: str, session: str) -> None:
        await self.update(acp.update_agent_thought_text(text), session)

    async def raw(self, update: Json, session: str) -> None:
        """An update that may be none."""
        self.write({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, **update}})

    async def garbage(self, text: str, _: str) -> None:
        sys.stdout.buffer.write(text.encode() + b"\n")
        sys.stdout.buffer.flush()

    async def huge(self, size: int, session: str) -> None:
        await self.say("x" * size, session)

    async def tool(self, id_: str, kind: Any, title: str, session: str) -> None:
        update = acp.start_tool_call(id_, title, kind=kind, status="in_progress", raw_input={"a": 1})
        await self.update(update, session)

    async def over(self, id_: str, status: Any, text: str, session: str) -> None:
        content = [acp.tool_content(acp.text_block(text))]
        await self.update(acp.update_tool_call(id_, status=status, content=content), session)

    async def ask(self, id_: str, kind: Any, title: str, kinds: list[Any], session: str) -> None:
        """Ask for permission, with an option of each of these kinds."""
        options = [PermissionOption(option_id=kind, name=kind, kind=kind) for kind in kinds]
        call = ToolCallUpdate(tool_call_id=id_, kind=kind, title=title)
        reply = await self.client.request_permission(session_id=session, tool_call=call, options=options)
        self.log(asked=title, got=getattr(reply.outcome, "option_id", reply.outcome.outcome))

    async def read(self, path: str, session: str, **lines: int) -> None:
        await self.tried(self.client.read_text_file(session_id=session, path=path, **lines))

    async def read_lines(self, path: str, line: int, limit: int, session: str) -> None:
        await self.read(path, session, line=line, limit=limit)

    async def write_file(self, path: str, content: str, session: str) -> None:
        await self.tried(self.client.write_text_file(session_id=session, path=path, content=content))

    async def terminal(self, _: str) -> None:
        await self.tried(self.client.create_terminal(session_id="-", command="true"))

    async def wait(self, _: str) -> Json:
        """Until the turn is cancelled."""
        await self.stopped.wait()
        return {"stopReason": "cancelled"}

    async def hang(self, _: str) -> None:
        """And hear nothing."""
        time.sleep(600)

    async def crash(self, code: int, _: str) -> None:
        sys.stderr.write("it burns\n")
        sys.stderr.flush()
        os._exit(code)

    async def fail(self, code: int, message: str, data: Any, _: str) -> None:
        raise acp.RequestError(code, message, data)

    async def end(self, end: Json, _: str) -> Json:
        return end

    # What they are made of

    async def hold(self, what: str) -> None:
        """What the part has for one of the first requests."""
        if what in self.part.get("at", {}):
            name, *given = self.part["at"][what]
            await getattr(self, name)(*given, "")

    async def tried(self, request: Any) -> None:
        try:
            reply = await request
            self.log(got=reply.model_dump(exclude_none=True) if isinstance(reply, BaseModel) else reply)
        except acp.RequestError as error:
            self.log(code=error.code, error=str(error))

    async def update(self, update: Any, session: str) -> None:
        await self.client.session_update(session_id=session, update=update)

    def write(self, message: Json) -> None:
        sys.stdout.buffer.write(json.dumps(message).encode() + b"\n")
        sys.stdout.buffer.flush()

    def log(self, **fields: Any) -> None:
        with self.file.with_suffix(".log").open("a", encoding="utf-8") as log:
            log.write(json.dumps(fields) + "\n")


async def main() -> None:
    await acp.run_agent(cast("acp.Agent", Stage(Path(sys.argv[1]))))


if __name__ == "__main__":
    asyncio.run(main())
