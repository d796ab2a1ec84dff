"""How a program is called for one turn: its arguments, environment, input, and the files that it is given."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from materiac.agents.preset import placeholders
from materiac.agents.preset.placeholders import Group, Value
from materiac.agents.preset.shape import Preset
from materiac.agents.protocol import Request
from materiac.environment import clean, looks_secret

_WRITING: Final = frozenset({"bash", "edit", "write"})


@dataclass(frozen=True, slots=True)
class Chosen:
    """What was said where the agent was chosen: the program, names of secrets, the model, the thinking."""

    spec: str
    program: Sequence[str]
    env: Collection[str] = ()
    model: str | None = None
    thinking: str | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """A command that can be run."""

    argv: list[str]
    env: dict[str, str]
    stdin: bytes


def called(preset: Preset, chosen: Chosen, request: Request, folder: Path) -> Call:
    """The call of a turn; its files are written into the folder, which is there for this turn alone."""
    values = _values(preset, chosen, request)
    values |= _written(preset, values, folder)
    groups = preset.resume if request.session is not None and preset.resume is not None else preset.argv
    arguments = placeholders.arguments(groups, values, _of_scope(preset, request))
    env = _environment(request, listed(preset, chosen, request))
    own = {name: placeholders.variable(content, values) for name, content in preset.env.items()}
    env |= {name: value for name, value in own.items() if value is not None}
    return Call([*chosen.program, *arguments], env, _prompt(preset, request).encode())


def listed(preset: Preset, chosen: Chosen, request: Request) -> frozenset[str]:
    """The names of the secrets that the program may see."""
    return frozenset((*preset.keys, *chosen.env, *request.env))


def _values(preset: Preset, chosen: Chosen, request: Request) -> dict[str, Value]:
    """What there is to put in."""
    texts = {
        "model": request.model or chosen.model,
        "thinking": request.thinking or chosen.thinking,
        "session": request.session,
        "system": request.system or None,
        "cwd": str(request.cwd),
        "socket": request.socket,
        "materia": request.materia,
    }
    values: dict[str, Value] = {name: value for name, value in texts.items() if value is not None}
    values["tools"] = _tools(preset, request)
    values["hidden"] = [name for name in _own_keys(preset, chosen) if name not in request.env]
    if request.handoff == "schema" and request.schema is not None:
        values["schema"] = request.schema
    return values | _of_server(request)


def _tools(preset: Preset, request: Request) -> list[str]:
    """The tools as the program calls them; those that the preset does not know keep their names."""
    named = [name for tool in request.tools for name in preset.tools.get(tool, [tool])]
    return list(dict.fromkeys(named))


def _own_keys(preset: Preset, chosen: Chosen) -> list[str]:
    """The secrets that are there for the program, and not for its tools."""
    names = dict.fromkeys((*preset.keys, *chosen.env))
    return [name for name in names if name in os.environ and looks_secret(name)]


def _of_server(request: Request) -> dict[str, Value]:
    server = request.tool_server
    if request.handoff != "tool" or server is None:
        return {}
    return {
        "server": server.name,
        "server_tool": server.tool,
        "server_command": server.command[0],
        "server_args": list(server.command[1:]),
        "server_argv": list(server.command),
        "server_env": dict(server.env),
    }


def _written(preset: Preset, values: Mapping[str, Value], folder: Path) -> dict[str, Value]:
    """Write the files that can be filled; the paths by name."""
    contents = {name: placeholders.variable(content, values) for name, content in preset.files.items()}
    named = preset.names()
    if "system.txt" in named and "system" in values:
        contents["system.txt"] = str(values["system"])
    if "schema.json" in named and "schema" in values:
        contents["schema.json"] = json.dumps(values["schema"])
    paths: dict[str, Value] = {}
    for name, content in contents.items():
        if content is not None:
            file = folder / name
            file.write_text(content, encoding="utf-8")
            paths[name] = str(file)
    return paths


def _of_scope(preset: Preset, request: Request) -> Sequence[Group]:
    """The arguments of the tool scope; one that the preset does not name is treated as the nearest."""
    if request.scope in preset.scopes:
        return preset.scopes[request.scope]
    if _WRITING & set(request.tools):
        nearest = preset.scopes.get("coding")
    else:
        nearest = preset.scopes.get("readOnly" if request.tools else "none")
    return nearest or ()


def _environment(request: Request, allowed: Collection[str]) -> dict[str, str]:
    told = {
        "PWD": str(request.cwd),
        "MATERIAC_SOCKET": request.socket,
        "MATERIAC_MATERIA": request.materia,
        "MATERIAC_ITEM": request.item_key,
        "MATERIAC_VISIT": str(request.visit),
        "MATERIAC_TURN": str(request.turn),
        "MATERIAC_SCOPE": request.scope,
        "MATERIAC_TOOLS": ",".join(request.tools),
        "MATERIAC_MODEL": request.model,
        "MATERIAC_THINKING": request.thinking,
        "MATERIAC_SESSION": request.session,
    }
    inherited = {name: value for name, value in clean(os.environ, allowed).items() if name not in told}
    return inherited | {name: value for name, value in told.items() if value is not None}


def _prompt(preset: Preset, request: Request) -> str:
    """The prompt; what the program cannot take as system text stands before it."""
    prompt = request.prompt
    if request.system and not preset.names() & {"system", "system.txt"}:
        prompt = f"{request.system}\n\n{prompt}"
    return placeholders.text(preset.prompt, {placeholders.PROMPT: prompt}) or ""
