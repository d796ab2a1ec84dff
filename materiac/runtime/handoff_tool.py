"""Taking the object of an agent through a tool: what serves the tool, and what came through it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from materiac import handoff_server
from materiac.agents.protocol import ToolServer
from materiac.handoff_server import ACCEPTED, CALLS_FILE, REPEATED, TOOL_FILE, calls_in

Json = dict[str, Any]

SERVER: Final = "materiac"
TOOL: Final = "handoff"
_DESCRIPTION: Final = (
    "Hand over the result of your work. Call it exactly once, as the last thing that you do: nothing else "
    "that you say counts as the result."
)


def tool_server(folder: Path, schema: Json, env: Mapping[str, str] | None = None) -> ToolServer:
    """Prepare a folder for the calls of one turn; gives what serves its tool. `env` is what that needs.

    Calls of an earlier turn in the folder are gone then.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    tool = {"name": TOOL, "description": _DESCRIPTION, "inputSchema": schema}
    _write(folder / TOOL_FILE, json.dumps(tool))
    _write(folder / CALLS_FILE, "")
    # By its file and isolated: no module of the folder that the agent works in can take a place in it.
    command = (sys.executable, "-I", str(Path(handoff_server.__file__)), str(folder.resolve()))
    return ToolServer(SERVER, TOOL, command, dict(env or {}))


def calls(folder: Path) -> list[Json]:
    """The calls of the tool, in order, each with its `outcome`, `arguments` and the `problems` of these."""
    try:
        return calls_in((folder / CALLS_FILE).read_bytes())
    except FileNotFoundError:
        return []


def handed_over(folder: Path) -> tuple[Json | None, list[str]]:
    """The one object that was handed over, or what is wrong with how that was done."""
    made = calls(folder)
    if any(call["outcome"] == REPEATED for call in made):
        return None, [f"the tool '{TOOL}' was called again after it had accepted a result"]
    accepted: list[Json] = [call["arguments"] for call in made if call["outcome"] == ACCEPTED]
    if accepted:
        return accepted[0], []
    if made:
        return None, list(made[-1]["problems"])
    return None, [f"the tool '{TOOL}' was not called"]


def _write(file: Path, text: str) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    with os.fdopen(os.open(file, flags, 0o600), "w", encoding="utf-8") as stream:
        stream.write(text)
