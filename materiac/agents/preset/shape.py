"""What a preset file holds, and the words for what is wrong in one."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from materiac.agents.preset import placeholders
from materiac.agents.preset.places import Place, parse
from materiac.agents.protocol import AgentError, Fault, ProgressKind
from materiac.names import suggestion

Scope = Literal["none", "readOnly", "coding", "custom"]


class _Node(BaseModel):
    model_config = ConfigDict(
        frozen=True, strict=True, extra="forbid", alias_generator=to_camel, arbitrary_types_allowed=True
    )


def _place(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError(f"found {_shown(value)}, expected a path")  # noqa: TRY004
    return parse(value)


def _listed(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def _pick(value: Any) -> Any:
    return {"at": value} if isinstance(value, str) else value


def _pattern(value: Any) -> Any:
    try:
        return re.compile(value, re.IGNORECASE)
    except (re.error, TypeError) as error:
        raise ValueError(f"{_shown(value)} is no regular expression: {error}") from error


def _conditions(value: Any) -> Any:
    if not isinstance(value, dict):
        raise ValueError(f"found {_shown(value)}, expected a table of values by path")  # noqa: TRY004
    return [(_place(path), _listed(wanted)) for path, wanted in value.items()]


def _jsonlike(value: Any) -> Any:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError("it has a date, a time or a number in it that JSON does not have") from error
    if isinstance(value, str | dict):
        return value
    raise ValueError(f"found {_shown(value)}, expected a text or a table")


At = Annotated[Place, BeforeValidator(_place)]
Where = Annotated[list[tuple[Any, list[Any]]], BeforeValidator(_conditions)]
Text = Annotated[str, Field(min_length=1)]
Groups = list[Annotated[list[str], BeforeValidator(_listed)]]
Pattern = Annotated[Any, BeforeValidator(_pattern)]
Content = Annotated[Any, BeforeValidator(_jsonlike)]


class Pick(_Node):
    """Where a value is: in the objects for which `where` holds, at the first of the paths that has one.

    Of several objects the last one counts, or all of them as a text or a number; those before an object
    for which `reset` holds are forgotten. Without a path the object itself is the value, as `true`.
    """

    at: Annotated[list[At], BeforeValidator(_listed)] = Field(default_factory=list)
    where: Where = Field(default_factory=list)
    take: Literal["last", "join", "sum"] = "last"
    reset: Where = Field(default_factory=list)


Picks = Annotated[list[Annotated[Pick, BeforeValidator(_pick)]], BeforeValidator(_listed)]


class Output(_Node):
    """What the program prints: a text, JSON (an object, a list of them, or lines), or JSON lines."""

    format: Literal["text", "json", "lines"] = "text"
    text: Picks = Field(default_factory=list)
    session: Picks = Field(default_factory=list)
    data: Picks = Field(default_factory=list)
    error: Picks = Field(default_factory=list)
    ended: Picks = Field(default_factory=list)
    length: Picks = Field(default_factory=list)
    model: Picks = Field(default_factory=list)
    provider: Picks = Field(default_factory=list)

    @model_validator(mode="after")
    def _readable(self) -> Self:
        if self.format != "text" and not self.text:
            raise ValueError("it does not say where the 'text' is")
        if self.format == "text" and self.model_fields_set - {"format"}:
            raise ValueError("a plain text has no places in it: the 'format' is missing, 'json' or 'lines'")
        return self


class Usage(_Node):
    """Where the counts of tokens and the cost are, and which of them are those of the whole session."""

    input: Picks = Field(default_factory=list)
    output: Picks = Field(default_factory=list)
    cache_read: Picks = Field(default_factory=list)
    cache_write: Picks = Field(default_factory=list)
    cost: Picks = Field(default_factory=list)
    input_has_cache: bool = False
    totals: list[Literal["tokens", "cost"]] = Field(default_factory=list)


class Faults(_Node):
    """What the texts of errors mean; `length` is an answer that was cut off, and no failure."""

    context: list[Pattern] = Field(default_factory=list)
    rate: list[Pattern] = Field(default_factory=list)
    transport: list[Pattern] = Field(default_factory=list)
    tool: list[Pattern] = Field(default_factory=list)
    length: list[Pattern] = Field(default_factory=list)
    retry_after: list[Pattern] = Field(default_factory=list)

    def meant(self, error: str) -> Fault | Literal["length"] | None:
        """What an error is, by the first pattern that is found in it."""
        kinds: tuple[Fault | Literal["length"], ...] = ("length", "context", "rate", "transport", "tool")
        return next((kind for kind in kinds if any(p.search(error) for p in getattr(self, kind))), None)

    def wait_s(self, error: str) -> float | None:
        """How long to wait, where the error says so: the first number that a pattern finds."""
        found = (pattern.search(error) for pattern in self.retry_after)
        seconds = next((match[1] for match in found if match and match.re.groups), None)
        try:
            return None if seconds is None else float(seconds)
        except ValueError:
            return None


class News(_Node):
    """Something that happens in a turn: the values at `at`, of each the parts at `show`."""

    kind: ProgressKind
    where: Where = Field(default_factory=list)
    at: At
    show: list[At] = Field(default_factory=list)


class Preset(_Node):
    """How a program is called as an agent, and what its output means."""

    about: str = ""
    install: str = ""
    program: Text
    argv: Groups
    resume: Groups | None = None
    prompt: str = "{prompt}"
    keys: list[Text] = Field(default_factory=list)
    env: dict[str, Content] = Field(default_factory=dict)
    files: dict[str, Content] = Field(default_factory=dict)
    tools: dict[str, list[Text]] = Field(default_factory=dict)
    scopes: dict[Scope, Groups] = Field(default_factory=dict)
    promises: list[Scope] = Field(default_factory=list)
    output: Output = Field(default_factory=Output)
    usage: Usage | None = None
    faults: Faults = Field(default_factory=Faults)
    progress: list[News] = Field(default_factory=list)

    def names(self) -> frozenset[str]:
        """What the preset puts in somewhere."""
        return frozenset(name for _, text in self._templates() for name in placeholders.named(text))

    @model_validator(mode="after")
    def _sound(self) -> Self:
        for key, text in self._templates():
            wrong = placeholders.fault(text, self.files, prompt=key == "prompt")
            if wrong is not None:
                raise ValueError(f"{key}: {wrong}")
        if placeholders.PROMPT not in placeholders.named(self.prompt):
            raise ValueError("prompt: it has no '{prompt}' in it")
        wrong_name = next((name for name in self.files if not _FILE.fullmatch(name)), None)
        if wrong_name is not None:
            raise ValueError(f"files: '{wrong_name}' is no name of a file: expected one like 'settings.json'")
        return self

    def _templates(self) -> Iterator[tuple[str, str]]:
        """The texts with placeholders, each with its key."""
        yield "prompt", self.prompt
        yield from _texts("argv", [part for part in self.argv if part != [placeholders.SCOPE]])
        yield from _texts("resume", [part for part in self.resume or () if part != [placeholders.SCOPE]])
        yield from _texts("scopes", self.scopes)
        yield from _texts("env", self.env)
        yield from _texts("files", self.files)


_FILE: Final = re.compile(r"[a-z][a-z0-9_-]*\.[a-z0-9]+")


def _texts(key: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _texts(f"{key}.{number}", part)
    elif isinstance(value, dict):
        for name, part in value.items():
            yield key, name
            yield from _texts(f"{key}.{name}", part)


def read_file(file: Path) -> Preset:
    """The preset in a file. Raises `AgentError`, with all that is wrong in it."""
    try:
        return Preset.model_validate(_parsed(file))
    except ValidationError as error:
        raise AgentError("\n".join(f"{file}: {_fault(details)}" for details in error.errors())) from error


def _parsed(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise AgentError(f"cannot read the preset '{file}': {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise AgentError(f"{file}: the preset is no UTF-8: {error.reason} at byte {error.start}") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        message = str(error)
        raise AgentError(f"{file}: {message[:1].lower()}{message[1:]}") from error


_EXPECTED: Final = {
    "string_type": "a text",
    "string_too_short": "a text that is not empty",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
}


def _fault(details: ErrorDetails) -> str:
    """One fault in words: where it is, what was found, what was expected."""
    loc = details["loc"][:-1] if details["type"] == "extra_forbidden" else details["loc"]
    place = ".".join(str(part) for part in loc if part != "[key]")
    message = _words(details)
    return f"{place}: {message}" if place else message


def _words(details: ErrorDetails) -> str:
    kind, message = details["type"], details["msg"]
    if kind == "value_error":
        return message.removeprefix("Value error, ")
    if kind == "missing":
        return "it is missing"
    if kind == "extra_forbidden":
        return _unknown(details)
    expected = _EXPECTED.get(kind) or message.removeprefix("Input should be ")
    return f"found {_shown(details['input'])}, expected {expected}"


_SHAPES: Final[dict[str, type[_Node]]] = {
    "": Preset,
    "output": Output,
    "usage": Usage,
    "faults": Faults,
    "progress": News,
}


def _unknown(details: ErrorDetails) -> str:
    names = [str(part) for part in details["loc"] if isinstance(part, str)]
    shape = _SHAPES.get("".join(names[:-1]), Pick)
    known = [field.alias or name for name, field in shape.model_fields.items()]
    guess = suggestion(names[-1], known) or f"there are {', '.join(known)}"
    return f"unknown key '{names[-1]}': {guess}"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=partial(str))
    return text if len(text) <= 60 else f"{text[:59]}…"
