"""How Pi is started for a turn: its arguments and its environment."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from materiac.agents.pi.keys import keys_of
from materiac.agents.pi.spec import NAME, Spec
from materiac.agents.protocol import AgentError, Request
from materiac.environment import clean, looks_secret, withheld

EXTENSION: Final = Path(__file__).with_name("extension.js")
VARIABLE: Final = "MATERIAC_PI"
"""What the extension is told, as JSON."""

_HERMETIC: Final = (
    "--no-extensions",
    "--no-skills",
    "--no-prompt-templates",
    "--no-themes",
    "--no-context-files",
    "--no-approve",
    "--system-prompt",  # not the one of a file
    "",
)
_QUIET: Final = {"PI_OFFLINE": "1", "PI_TELEMETRY": "0", "PI_SKIP_VERSION_CHECK": "1"}
_TOOL: Final = re.compile(r"[A-Za-z]\w*(?:-\w+)*", re.ASCII)
"""The name of one tool; Pi takes `*` for all of them and `+name` for one more than by default."""
_LACKS: Final = re.compile(
    r"api key|credential|auth|log ?in|\b40[13]\b|no models?\b|not found", re.IGNORECASE
)
"""What Pi says that has not found a key."""
_HELPS: Final = {
    "Error: Unknown option": "materiac needs Pi 0.83 or newer",
    "\nNode.js v": "Pi needs Node 22.19 or newer",
}
"""What helps, by what Pi says where it does not start."""
_NAMED: Final = 8
"""How many variables a message names."""


@dataclass(frozen=True)
class Launch:
    """What a process of Pi is started with. Two turns whose launches are equal may have one process.

    `folder` is where the talks are kept.
    """

    argv: tuple[str, ...]
    cwd: Path
    env: dict[str, str]
    folder: Path
    owner: str


def launch(spec: Spec, request: Request, folder: Path) -> Launch:
    """What Pi is started with for a request. Raises `AgentError`."""
    hidden = _passed(spec) - frozenset(request.env)
    told = _told(request, hidden)
    extension = ["--extension", str(EXTENSION)] if told else []
    model = _model(spec, request)
    argv = [*spec.program, "--mode", "rpc", *_HERMETIC, *_tools(request), *model, *extension]
    argv += ["--append-system-prompt", _system(request.system, folder)]
    argv += ["--session-dir", str(folder)]
    seen = clean(os.environ, _passed(spec) | frozenset(request.env))
    env = {**seen, **_QUIET, "PWD": str(request.cwd)}
    env.pop(VARIABLE, None)
    if told:
        env[VARIABLE] = json.dumps(told)
    return Launch(tuple(argv), request.cwd, env, folder, request.owner)


def advised(message: str, spec: Spec, request: Request) -> str:
    """A message, with what helps where it sounds as if a key, or another Pi or Node was missing."""
    helps = [words for sign, words in _HELPS.items() if sign in message]
    names = withheld(os.environ, _passed(spec) | frozenset(request.env))
    if names and not helps and _LACKS.search(message):
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        listed = f"{', '.join(names[:_NAMED])}{more}"
        helps = [f"it does not see {listed}: list what Pi needs as '{NAME}?env=NAME'"]
    return "\nhelp: ".join([message, *helps])


def _passed(spec: Spec) -> frozenset[str]:
    """The variables that Pi itself needs, by their names."""
    return keys_of(os.environ) | frozenset(spec.env)


def _told(request: Request, hidden: frozenset[str]) -> dict[str, Any]:
    told: dict[str, Any] = {}
    names = sorted(name for name in hidden if name in os.environ and looks_secret(name))
    if "bash" in request.tools and names:
        told["bash"] = True
    server = request.tool_server
    if server is not None:
        told["server"] = {"tool": server.tool, "command": server.command, "env": dict(server.env)}
    return told | {"hidden": names} if told else told


def _tools(request: Request) -> Iterator[str]:
    names = [name for name in request.tools if _TOOL.fullmatch(name)]
    if request.tool_server is not None:
        names.append(request.tool_server.tool)
    yield from ("--tools", ",".join(names)) if names else ("--no-tools",)


def _model(spec: Spec, request: Request) -> Iterator[str]:
    chosen = {
        "--provider": spec.provider,
        "--model": request.model or spec.model,
        "--thinking": request.thinking or spec.thinking,
    }
    for name, value in chosen.items():
        if value:
            yield from (name, value)


def _system(text: str, folder: Path) -> str:
    """The system text as a file: an argument of the command line has a limit. Nothing where there is none."""
    if not text:
        return ""
    file = folder / f"system-{hashlib.sha256(text.encode()).hexdigest()[:16]}.md"
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise AgentError(f"cannot write '{file}': {error.strerror}") from error
    return str(file)
