"""Any program as the agent: the prompt on its standard input, the answer on its standard output.

    command:my-agent --fast                     split as a shell would; no shell runs
    command:["my-agent", "--fast"]              the same, as a JSON list
    command?env=MY_API_KEY:my-agent             with secrets of the environment, by name
    command?text=result&usage.cost=cost:["my-agent", "--json"]

It is a preset, made from this text. Without other options, the output as it stands is the answer. With
them, the output is a JSON object, a list of objects or JSON lines, and each option is a path into it, of
names and indexes. Where there are several objects, the last one that has a value at the path counts; lines
that are no JSON do not.

    env                                 names of variables, with commas between
    text                                the answer; needed where there is any other option
    usage.input, usage.output,
    usage.cacheRead, usage.cacheWrite   tokens of this turn
    usage.cost                          US dollars of this turn
    session                             comes back in MATERIAC_SESSION at the next turn of the talk
    model, provider                     who answered
    error                               a text, or true, where the provider failed

The program runs in the working folder of the cast. It has the environment, without the variables whose
names look like secrets unless `env` or its materia names them, and MATERIAC_SOCKET, _MATERIA, _ITEM,
_VISIT, _TURN, _SCOPE, _TOOLS (names with commas between), _MODEL, _THINKING and _SESSION, those without
a value left out.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Mapping
from typing import Any, Final

from materiac.agents.preset import read_options
from materiac.agents.preset.agent import Program
from materiac.agents.preset.called import Chosen
from materiac.agents.preset.shape import Preset
from materiac.agents.protocol import AgentError
from materiac.path import PathError, parse_target

_USAGE: Final = ("usage.input", "usage.output", "usage.cacheRead", "usage.cacheWrite", "usage.cost")
OPTIONS: Final = ("env", "text", *_USAGE, "session", "model", "provider", "error")
_SPEC: Final = re.compile(r"command(?:\?([^:]*))?:(.*)", re.DOTALL)


def make(spec: str) -> Program:
    """The agent of `command:…`. Raises `AgentError` where the text is none."""
    match = _SPEC.fullmatch(spec)
    argv = _argv(match[2]) if match else []
    if match is None or not argv:
        raise AgentError(f"'{spec}' names no command, expected 'command:PROGRAM ARGUMENT…'")
    if "/" not in argv[0] and shutil.which(argv[0]) is None:
        raise AgentError(f"the agent's command '{argv[0]}' is not on the PATH")
    options = read_options(match[1] or "", OPTIONS, "command")
    env = tuple(filter(None, options.pop("env", "").split(",")))
    return Program(_preset(argv[0], _paths(options)), Chosen(spec, argv, env))


def _preset(program: str, paths: Mapping[str, str]) -> Preset:
    """The preset that the options stand for; all arguments belong to the program."""
    preset: dict[str, Any] = {"program": program, "argv": []}
    if paths:
        usage = {name.partition(".")[2]: path for name, path in paths.items() if name in _USAGE}
        preset["output"] = {"format": "json"} | {
            name: path for name, path in paths.items() if name not in _USAGE
        }
        preset |= {"usage": usage} if usage else {}
    return Preset.model_validate(preset)


def _argv(text: str) -> list[str]:
    try:
        words = json.loads(text) if text.lstrip().startswith("[") else shlex.split(text)
    except (ValueError, RecursionError) as error:
        raise AgentError(f"the agent's command cannot be read: {error}: {text}") from error
    if not all(isinstance(word, str) for word in words):
        raise AgentError(f"the agent's command is no list of texts: {text}")
    return list(words)


def _paths(options: Mapping[str, str]) -> Mapping[str, str]:
    for name, path in options.items():
        try:
            parse_target(path)
        except PathError as error:
            raise AgentError(f"'{path}' is no path for '{name}': {error}") from error
    if options and "text" not in options:
        raise AgentError("the option 'text' is missing: it says where the answer is")
    return options
