"""The shape of a scenario: who answers what, and what must come of the cast."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from materiac.agents.scripted import Answers, Script

Status = Literal["complete", "failed", "waiting"]
Kind = Literal[
    "output",
    "output-limit",
    "edge-limit",
    "visit-limit",
    "stalled",
    "budget",
    "utility-start",
    "utility-exit",
    "utility-timeout",
    "agent",
    "stream",
    "property",
]
REQUEST: Final = "a request"
"""What a scenario without a request asks for."""

_PROMPT: Final = re.compile(r"(.+)#([1-9]\d*)", re.DOTALL)


class Part(BaseModel):
    """An object of a scenario file."""

    model_config = ConfigDict(
        frozen=True, strict=True, extra="forbid", alias_generator=to_camel, defer_build=True
    )


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _as_target(value: Any) -> Any:
    """A loadout in a word: a file if it looks like one, else a name."""
    if not isinstance(value, str):
        return value
    return {"file" if is_file(value) else "name": value}


def is_file(word: str) -> bool:
    """Whether a word names the file of a loadout, and not a loadout."""
    return "/" in word or PurePosixPath(word).suffix in (".json", ".materia")


def _as_failure(value: Any) -> Any:
    return {"kind": value} if isinstance(value, str) else value


def _below(name: str) -> str:
    path = PurePosixPath(name)
    if not path.parts or path.is_absolute() or ".." in path.parts:
        raise ValueError(f"'{name}' is no path below the working folder")
    return name


def _prompt(name: str) -> str:
    if not _PROMPT.fullmatch(name):
        raise ValueError(f"found '{name}', expected a socket and a visit, as in 'build#2'")
    return name


def prompt_of(name: str) -> tuple[str, int]:
    """The socket and the visit that a key of `prompts` names."""
    socket, _, visit = name.rpartition("#")
    return socket, int(visit)


Name = Annotated[str, Field(min_length=1)]
Amount = Annotated[int, Field(ge=0)]
Texts = Annotated[list[Name], BeforeValidator(_as_list)]
FileName = Annotated[str, AfterValidator(_below)]


class Target(Part):
    """Which loadout: that of a file, that of a name, or both."""

    file: Name | None = None
    name: Name | None = None


class Wanted(Part):
    """Texts that must be in a text, and texts that must not."""

    has: Texts = Field(default_factory=list)
    lacks: Texts = Field(default_factory=list)


class Failure(Part):
    """How a cast must fail."""

    kind: Kind | None = None
    has: Texts = Field(default_factory=list)


class Expect(Part):
    """What must come of a cast; what is not named may be anything, but for the status."""

    status: Status | None = None
    failure: Annotated[Failure, BeforeValidator(_as_failure)] | None = None
    path: list[Name] | None = None
    path_has: list[Name] | None = None
    items: list[Name | None] | None = None
    visits: dict[str, Amount] | None = None
    state: dict[str, Any] | None = None
    prompts: dict[Annotated[str, AfterValidator(_prompt)], Wanted] = Field(default_factory=dict)
    files: dict[FileName, Wanted | None] = Field(default_factory=dict)
    turns: Amount | None = None

    @property
    def outcome(self) -> str:
        """The status that is expected, said or not."""
        return self.status or ("complete" if self.failure is None else "failed")


class Scenario(Part):
    """One cast and its outcome."""

    json_schema: Any = Field(None, alias="$schema")
    name: Name
    about: str | None = None
    loadout: Annotated[Target, BeforeValidator(_as_target)] | None = None
    request: str = REQUEST
    state: dict[str, Any] = Field(default_factory=dict)
    agent: Script = Field(default_factory=Script)
    utilities: dict[str, Answers] = Field(default_factory=dict)
    files: dict[FileName, str] = Field(default_factory=dict)
    person: list[str | None] | None = None
    expect: Expect = Field(default_factory=Expect)


class Suite(Part):
    """What may stand around several scenarios; a scenario's own loadout goes before the one here."""

    json_schema: Any = Field(None, alias="$schema")
    about: str | None = None
    loadout: Annotated[Target, BeforeValidator(_as_target)] | None = None
    scenarios: list[Any]
