"""Handing over through a tool: what is prepared for a turn, and what came of it."""

from __future__ import annotations

import json
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from materiac.agents.protocol import ToolServer
from materiac.runtime.handoff_tool import calls, handed_over, tool_server

Json = dict[str, Any]

SCHEMA: Json = {
    "type": "object",
    "properties": {"satisfied": {"type": "boolean"}},
    "required": ["satisfied"],
    "additionalProperties": False,
}


def call(server: ToolServer, *arguments: Json, cwd: Path) -> list[Json]:
    """Call the tool of a server in a process of its own; gives the results."""
    lines = [
        {
            "jsonrpc": "2.0",
            "id": index,
            "method": "tools/call",
            "params": {"name": server.tool, "arguments": a},
        }
        for index, a in enumerate(arguments)
    ]
    done = subprocess.run(
        server.command,
        input="".join(json.dumps(line) + "\n" for line in lines),
        env=dict(server.env),
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    return [json.loads(line)["result"] for line in done.stdout.splitlines()]


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    """Where an agent works, with modules that must not be taken for those of the server."""
    folder = tmp_path / "work"
    folder.mkdir()
    for name in ("json.py", "materiac.py"):
        (folder / name).write_text("raise SystemExit(9)")
    return folder


YES, NO, ODD = {"satisfied": True}, {"satisfied": False}, {"satisfied": "yes"}


@pytest.mark.parametrize(
    ("made", "outcomes", "handed", "problems"),
    [
        ([], [], None, ["the tool 'handoff' was not called"]),
        ([YES], ["accepted"], YES, []),
        ([ODD, NO], ["refused", "accepted"], NO, []),
        ([ODD], ["refused"], None, ["'satisfied' is a string, expected true or false"]),
        (
            [YES, NO],
            ["accepted", "repeated"],
            None,
            ["the tool 'handoff' was called again after it had accepted a result"],
        ),
    ],
    ids=["not called", "once", "mended", "never mended", "twice"],
)
def test_what_comes_of_calls(
    tmp_path: Path, cwd: Path, made: list[Json], outcomes: list[str], handed: Json | None, problems: list[str]
) -> None:
    folder = tmp_path / "visit" / "turn"
    server = tool_server(folder, SCHEMA, {"LANG": "C"})
    assert (server.name, server.tool, server.env) == ("materiac", "handoff", {"LANG": "C"})
    assert len(call(server, *made, cwd=cwd)) == len(made)
    assert [one["outcome"] for one in calls(folder)] == outcomes
    assert [one["arguments"] for one in calls(folder)] == made
    assert handed_over(folder) == (handed, problems)


def test_the_next_turn_begins_anew(tmp_path: Path, cwd: Path) -> None:
    call(tool_server(tmp_path, SCHEMA), YES, cwd=cwd)
    [result] = call(tool_server(tmp_path, {**SCHEMA, "required": []}), {}, cwd=cwd)
    assert (result["isError"], handed_over(tmp_path)) == (False, ({}, []))


def test_files_are_private(tmp_path: Path) -> None:
    tool_server(tmp_path / "t", SCHEMA)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "t").iterdir()}
    assert modes == {"tool.json": 0o600, "calls.jsonl": 0o600}
    assert stat.S_IMODE((tmp_path / "t").stat().st_mode) == 0o700


def test_no_folder_is_no_call(tmp_path: Path) -> None:
    assert calls(tmp_path / "none") == []
    assert handed_over(tmp_path / "none")[0] is None
