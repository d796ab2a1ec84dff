"""Programs as agents by a preset: a file that says how one is called and what its output means.

    codex                                 a preset that is shipped, by name
    claude?model=sonnet&thinking=high     with a model and a thinking for the materia that name none
    codex?env=WORK_KEY:/opt/bin/codex     with secrets of the environment by name, and the program elsewhere
    qwen:["node", "cli.js"]               the program with arguments, as a JSON list
    preset:my-agent.toml                  a preset of one's own
    preset:pi                             a shipped one, also where another kind of agent has the name

In the value of an option `%3A` stands for a colon and `%26` for `&`.
"""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from materiac.agents.options import options
from materiac.agents.preset.agent import Program, abilities
from materiac.agents.preset.called import Chosen
from materiac.agents.preset.shape import Preset, read_file
from materiac.agents.protocol import AgentError, Standing
from materiac.agents.standing import of_program
from materiac.shipped import back_end_of

NAME: Final = "preset"
OPTIONS: Final = ("env", "model", "thinking")
_FOLDER: Final = Path(__file__).parent / "shipped"
SHIPPED: Final = tuple(sorted(file.stem for file in _FOLDER.glob("*.toml")))
"""The names of the presets that come with the package."""

_SPEC: Final = re.compile(r"[^?:]*(?:\?(?P<options>[^:]*))?(?::(?P<rest>.*))?", re.DOTALL)


def make(spec: str) -> Program:
    """The agent of a spec. Raises `AgentError`, also where the program is not there."""
    match = _SPEC.fullmatch(spec)
    rest = (match and match["rest"]) or ""
    options = read_options((match and match["options"]) or "", OPTIONS, back_end_of(spec))
    if back_end_of(spec) == NAME:
        preset = _own(spec, rest)
        program = [preset.program]
    else:
        preset = shipped(back_end_of(spec))
        program = _program(rest) if rest else [preset.program]
    _refuse_missing(preset, program[0], spec)
    env = tuple(filter(None, options.get("env", "").split(",")))
    chosen = Chosen(spec, program, env, options.get("model"), options.get("thinking"))
    return Program(preset, chosen)


def inspect(name: str) -> Standing:
    """How the program of a shipped preset stands on this machine."""
    if name == NAME:
        return Standing(installed=True)
    preset = shipped(name)
    found = of_program(preset.program, keys=tuple(preset.keys), abilities=abilities(preset))
    if found.installed or not preset.install:
        return found
    return replace(found, why_not=f"{found.why_not}: {preset.install}")


def shipped(name: str) -> Preset:
    """A preset that comes with the package."""
    return read_file(_FOLDER / f"{name}.toml")


def read_options(text: str, known: tuple[str, ...], kind: str) -> dict[str, str]:
    """The options of a spec, `a=1&b=2`. Raises `AgentError`."""
    return {name: unquote(value) for name, value in options(text, known, f"a {kind}")}


def _own(spec: str, rest: str) -> Preset:
    if not rest:
        raise AgentError(f"'{spec}' names no file, expected 'preset:FILE' or one of {', '.join(SHIPPED)}")
    return shipped(rest) if rest in SHIPPED else read_file(Path(rest))


def _program(rest: str) -> list[str]:
    if not rest.lstrip().startswith("["):
        return [rest]
    try:
        words = json.loads(rest)
    except (ValueError, RecursionError) as error:
        raise AgentError(f"the program cannot be read: {error}: {rest}") from error
    if not words or not all(isinstance(word, str) for word in words):
        raise AgentError(f"the program is no list of texts: {rest}")
    return list(words)


def _refuse_missing(preset: Preset, program: str, spec: str) -> None:
    if "/" in program or shutil.which(program) is not None:
        return
    kind = back_end_of(spec)
    where = "give its path in the preset" if kind == NAME else f"say where it is: '{kind}:/path/to/{program}'"
    how = f"{preset.install}, or {where}" if preset.install else where
    raise AgentError(f"'{program}' is not on the PATH: {how}")
