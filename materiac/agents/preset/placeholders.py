"""Placeholders in the arguments, the environment and the files of a preset, and what is put in for them.

`{model}` is a text as it is; `{tools}` is a list, with commas between. `{tools:json}` and `{tools:toml}`
spell a value in these languages. What names something that is not there is left out as a whole: a group of
arguments, a variable, a text file, the member of a table.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from materiac.names import suggestion

Value = str | list[str] | dict[str, Any]
Values = Mapping[str, Value]
Group = Sequence[str]

PROMPT: Final = "prompt"
SCOPE: Final = "{scope}"
"""An argument that stands for those of the tool scope."""

NAMES: Final = (
    "model",
    "thinking",
    "session",
    "system",
    "cwd",
    "socket",
    "materia",
    "tools",
    "hidden",
    "schema",
    "server",
    "server_tool",
    "server_command",
    "server_args",
    "server_argv",
    "server_env",
)
BUILT_IN_FILES: Final = ("system.txt", "schema.json")
"""Files that every preset may name: the path is put in."""

_PLACEHOLDER: Final = re.compile(r"\{(?P<name>[a-z][a-z0-9_.-]*)(?::(?P<form>[a-z]+))?\}")
_FORMS: Final = ("json", "toml")
_ONLY: Final = re.compile(r"\{(?P<name>[a-z][a-z0-9_.-]*)\}")


class _AbsentError(Exception):
    """Something is named that is not there."""


def named(text: str) -> Iterator[str]:
    """The names of the placeholders in a text."""
    return (match["name"] for match in _PLACEHOLDER.finditer(text))


def fault(text: str, files: Iterable[str], *, prompt: bool = False) -> str | None:
    """What is wrong with the placeholders in a text, or None."""
    known = [*NAMES, *BUILT_IN_FILES, *files, *([PROMPT] if prompt else [])]
    for match in _PLACEHOLDER.finditer(text):
        if match["name"] == PROMPT and not prompt:
            return f"'{match[0]}' cannot stand here: a prompt goes to the standard input"
        if match["name"] not in known:
            guess = suggestion(match["name"], known) or f"there are {', '.join(known)}"
            return f"'{match[0]}' stands for nothing: {guess}"
        if match["form"] not in (None, *_FORMS):
            return f"'{match[0]}' asks for an unknown form: expected {' or '.join(_FORMS)}"
    return None


def arguments(groups: Iterable[Group], values: Values, of_scope: Iterable[Group] = ()) -> list[str]:
    """The arguments of those groups that name nothing that is not there."""
    found: list[str] = []
    for group in groups:
        if list(group) == [SCOPE]:
            found += arguments(of_scope, values)
            continue
        filled = [text(part, values) for part in group]
        if None not in filled:
            found += [part for part in filled if part is not None]
    return found


def text(template: str, values: Values) -> str | None:
    """The text with all put in; None where something is not there."""
    try:
        return _PLACEHOLDER.sub(
            lambda match: _spelled(_value(match["name"], values), match["form"]), template
        )
    except _AbsentError:
        return None


def variable(template: Any, values: Values) -> str | None:
    """The value of a variable, or the content of a file: a text, or a table as JSON."""
    return text(template, values) if isinstance(template, str) else _as_json(table(template, values))


def table(template: Any, values: Values) -> Any:
    """A table with all put in, without the members that name something that is not there.

    A text that is one placeholder becomes its value; a key that is one with a list makes a member of each.
    """
    if isinstance(template, dict):
        return dict(_members(template, values))
    if isinstance(template, list):
        return list(_present(lambda part: table(part, values), template))
    if not isinstance(template, str):
        return template
    only = _ONLY.fullmatch(template)
    if only is not None:
        return _value(only["name"], values)
    filled = text(template, values)
    if filled is None:
        raise _AbsentError
    return filled


def _members(template: Mapping[str, Any], values: Values) -> Iterator[tuple[str, Any]]:
    for name, value in _present(lambda pair: [table(part, values) for part in pair], template.items()):
        names = name if isinstance(name, list) else [name]
        yield from ((str(each), value) for each in names)


def _present(fill: Callable[[Any], Any], parts: Iterable[Any]) -> Iterator[Any]:
    for part in parts:
        try:
            yield fill(part)
        except _AbsentError:
            continue


def _put_in(match: re.Match[str], values: Values) -> str:
    return _spelled(_value(match["name"], values), match["form"])


def _value(name: str, values: Values) -> Value:
    if name not in values:
        raise _AbsentError
    return values[name]


def _spelled(value: Value, form: str | None) -> str:
    if form == "toml":
        return _as_toml(value)
    if form == "json" or isinstance(value, dict):
        return _as_json(value)
    return ",".join(value) if isinstance(value, list) else value


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _as_toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_as_json(key)} = {_as_toml(below)}" for key, below in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_as_toml, value)) + "]"
    return _as_json(value)  # what JSON escapes in texts, TOML reads alike
