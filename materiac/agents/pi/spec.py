"""The text of `--agent` for Pi: which program, and its options."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from materiac.agents.options import options
from materiac.agents.protocol import AgentError

NAME: Final = "pi"
OPTIONS: Final = ("provider", "model", "thinking", "env")
_SPEC: Final = re.compile(r"pi(?:\?([^:]*))?(?::(.*))?", re.DOTALL)
_INSTALL: Final = (
    "install it (npm install -g @earendil-works/pi-coding-agent), or say where it is: pi:/path/to/pi"
)


@dataclass(frozen=True, slots=True)
class Spec:
    """How Pi was chosen: `text` as it was written, the program with its first arguments, the options."""

    text: str
    program: tuple[str, ...]
    provider: str | None = None
    model: str | None = None
    thinking: str | None = None
    env: tuple[str, ...] = ()


def read(text: str) -> Spec:
    """What a text like `pi?model=…:/path/to/pi` says. Raises `AgentError`."""
    match = _SPEC.fullmatch(text)
    if match is None:
        raise AgentError(f"'{text}' is no agent, expected 'pi', 'pi?OPTION=VALUE' or 'pi:PROGRAM'")
    program = _program(match[2]) if match[2] is not None else (NAME,)
    if shutil.which(program[0]) is None:
        where = "does not exist or cannot be run" if "/" in program[0] else "is not on the PATH"
        raise AgentError(f"'{program[0]}' {where}: {_INSTALL}")
    options = _options(match[1] or "")
    env = tuple(filter(None, (options.pop("env", "")).split(",")))
    return Spec(text, program, env=env, **options)


def _program(text: str) -> tuple[str, ...]:
    if not text.lstrip().startswith("["):
        words = [text] if text.strip() else []
    else:
        try:
            words = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise AgentError(f"the program of '{NAME}:…' cannot be read: {error}: {text}") from error
    if not words or not all(isinstance(word, str) and word for word in words):
        raise AgentError(f"'{NAME}:{text}' names no program, expected a path or a list of texts")
    return tuple(words)


def _options(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in options(text, OPTIONS, f"'{NAME}'"):
        if not value:
            raise AgentError(f"the option '{name}' has no value")
        found[name] = unquote(value)
    return found
