"""The shape of a loadout file: what each object may hold, in pydantic.

camelCase on the wire, snake_case here. Shape only: names are looked up and graphs are walked by the
rules, on a model that is sound. Early forms are gone before a model is made (see `normalize`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from materiac import properties
from materiac.web_names import is_header, is_type_pattern, is_url, is_variable

When = Literal["always", "satisfied", "not_satisfied"]
Parse = Literal["text", "json"]
Kind = Literal["agent", "utility"]
Handoff = Literal["text", "schema", "tool"]

SOURCES: Final = ("command", "utility", "script")
"""What a utility runs is said by one of these."""


def kind_of(fields: Mapping[str, Any]) -> Kind | None:
    """The kind that a materia as written has: by its `type`, or what it runs or asks; None if neither."""
    if fields.get("type") == "agent":
        return "agent"
    runs = any(fields.get(source) is not None for source in SOURCES)
    if runs or fields.get("type") == "utility":
        return "utility"
    return "agent" if fields.get("prompt") is not None else None


def _number(expected: str, allowed: Callable[[float], bool], *, whole: bool = False) -> BeforeValidator:
    """Finite numbers that are `allowed`. JSON has one kind of number: 2.0 is the whole number 2."""

    def check(value: Any) -> Any:
        number = int(value) if isinstance(value, float) and value.is_integer() else value
        kinds = int if whole else (int, float)
        if isinstance(number, bool) or not isinstance(number, kinds) or not _fits(number, allowed):
            raise PydanticCustomError("number", "{expected}", {"expected": expected})
        return number

    return BeforeValidator(check)


def _fits(number: float, allowed: Callable[[float], bool]) -> bool:
    try:
        return math.isfinite(number) and allowed(number)
    except OverflowError:
        return False


def _no_fields() -> dict[str, Any]:
    """As `dict`, which pydantic would ask for its signature: that alone costs 2 ms at start-up."""
    return {}


def _no_items() -> list[Any]:
    """As `list`; see `_no_fields`."""
    return []


_AT_LEAST_1 = _number("a whole number of at least 1", lambda number: number >= 1, whole=True)
_AT_LEAST_0 = _number("a whole number of at least 0", lambda number: number >= 0, whole=True)
_ABOVE_0 = _number("a number above 0", lambda number: number > 0)
_NOT_BELOW_0 = _number("a number of at least 0", lambda number: number >= 0)
_PERCENT = _number("a number above 0 and at most 100", lambda number: 0 < number <= 100)

Count = Annotated[int, Field(strict=True, ge=1), _AT_LEAST_1]
CountOrZero = Annotated[int, Field(strict=True, ge=0), _AT_LEAST_0]
Amount = Annotated[float, Field(strict=True, gt=0), _ABOVE_0]
AmountOrZero = Annotated[float, Field(strict=True, ge=0), _NOT_BELOW_0]
Percent = Annotated[float, Field(strict=True, gt=0, le=100), _PERCENT]
Text = Annotated[str, Field(strict=True)]
Word = Annotated[str, Field(strict=True, min_length=1)]
Filled = Annotated[str, Field(strict=True, pattern=r"\S")]
Flag = Annotated[bool, Field(strict=True)]


def _folder(value: Any) -> Any:
    if isinstance(value, str) and "\0" in value:
        raise PydanticCustomError("path", "expected {expected}", {"expected": "a path without a NUL"})
    return value


Folder = Annotated[Word, BeforeValidator(_folder)]


def _secret(value: Any) -> Any:
    if isinstance(value, str) and ("=" in value or "\0" in value):
        expected = "the name of a variable, not its value"
        raise PydanticCustomError("path", "expected {expected}", {"expected": expected})
    return value


Secret = Annotated[Word, BeforeValidator(_secret)]
"""The name of a variable that holds a secret."""


def _refuse(expected: str) -> PydanticCustomError:
    return PydanticCustomError("expected", "expected {expected}", {"expected": expected})


def _text(expected: str, allowed: Callable[[str], bool]) -> BeforeValidator:
    """Strings that are `allowed`; what is no string is for the type to refuse."""

    def check(value: Any) -> Any:
        if isinstance(value, str) and not allowed(value):
            raise _refuse(expected)
        return value

    return BeforeValidator(check)


def _headers(value: Any) -> Any:
    if isinstance(value, dict):
        if not all(map(is_header, value)):
            raise _refuse("names of headers, other than those that HTTP sets itself")
        if not all(is_variable(variable) for variable in value.values() if isinstance(variable, str)):
            raise _refuse("the name of a variable for each header, not its value")
    return value


Url = Annotated[Word, _text("a URL that begins with 'http://' or 'https://' and names a host", is_url)]
Variable = Annotated[Word, _text("the name of a variable", is_variable)]
Headers = Annotated[dict[str, Word], BeforeValidator(_headers)]
Pattern = Annotated[
    Word,
    _text(
        "names with dots between them, '*' for any part of a name and '**' for any number of names",
        is_type_pattern,
    ),
]


def _pair(value: Any) -> Any:
    if isinstance(value, list) and len(value) != 2:
        raise _refuse("a list of two sockets")
    return value


Ends = Annotated[list[Word], Field(min_length=2, max_length=2), BeforeValidator(_pair)]
"""Where a way begins and where it ends."""


EDITOR_KEYS = frozenset(
    {
        "$schema",
        "layout",
        "socketKind",
        "empty",
        "source",
        "lockState",
        "originDefaultId",
        "color",
        "label",
        "group",
        "description",
    }
)
"""Keys that editors write on any object. They mean nothing, but for those that an object has as a field."""


class Node(BaseModel):
    """An object of a loadout file. Editors may leave their own keys on each; they mean nothing here."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        populate_by_name=False,
        validate_by_name=False,
        validate_by_alias=True,
        serialize_by_alias=True,
        defer_build=True,
    )

    x_materiac: dict[str, Any] | None = Field(None, alias="x-materiac")

    @model_validator(mode="before")
    @classmethod
    def _without_editor_keys(cls, data: Any) -> Any:
        """Drop what editors leave, where it is no field of the object: fields cost at every start."""
        if not isinstance(data, dict) or EDITOR_KEYS.isdisjoint(data):
            return data
        own = {field.alias for field in cls.model_fields.values()}
        return {key: value for key, value in data.items() if key in own or key not in EDITOR_KEYS}


class Marked(Node):
    """A node that an editor may give an `id`."""

    id: Text | None = None


class Edge(Marked):
    """One way out of a socket; the first whose condition holds is taken."""

    when: When = "always"
    to: Word
    max_traversals: Count | None = None


class Foreach(Marked):
    """A lone socket that works on the item under a cursor."""

    items: Word
    alias: Word = Field("item", alias="as")
    cursor: Word | None = None
    done: Word | None = None


class Advance(Marked):
    """Steps the cursor of the loop, or the foreach, that the socket is in."""

    cursor: Word
    items: Word
    when: When = "always"
    done: Word | None = None


class SocketLimits(Marked):
    """Limits of one socket over a whole cast."""

    max_visits: Count | None = None
    max_output_bytes: Count | None = None


class Socket(Marked):
    """A place in the graph: a materia, how its output is read, where control goes next."""

    materia: Word
    parse: Parse | None = None
    assign: dict[str, Text] = Field(default_factory=_no_fields)
    edges: list[Edge] = Field(default_factory=_no_items)
    foreach: Foreach | None = None
    advance: Advance | None = None
    limits: SocketLimits | None = None


class Consumes(Marked):
    """The generator whose work items a loop goes through."""

    source: Word = Field(alias="from")
    output: Literal["workItems"] = "workItems"
    alias: Word | None = Field(None, alias="as")
    cursor: Word | None = None


class Iterator(Marked):
    """The list that a loop goes through."""

    items: Word
    alias: Word | None = Field(None, alias="as")
    cursor: Word | None = None
    done: Word | None = None


class Exit(Marked):
    """A way out of a loop whose list is used up after a visit of `from`."""

    source: Word = Field(alias="from")
    condition: When = "always"
    target_socket_id: Word


class EarlyExit(Marked):
    """The early form of an exit, which also says when its source steps the cursor."""

    source: Word = Field(alias="from")
    when: When = "always"
    to: Word


class LoopParallel(Marked):
    """How many streams of a parallel loop run side by side."""

    max_concurrency: Count | None = None


class Loop(Marked):
    """A set of sockets; with `consumes` or `iterator` it goes through a list."""

    sockets: list[Word] = Field(min_length=1)
    consumes: Consumes | None = None
    iterator: Iterator | None = None
    exits: list[Exit] = Field(default_factory=_no_items)
    exit: EarlyExit | None = None
    parallel: LoopParallel | None = None

    @property
    def iterates(self) -> bool:
        return self.consumes is not None or self.iterator is not None


class Property(Marked):
    """What is said of every cast of a loadout, in one of four forms."""

    never: Word | None = None
    before: Word | None = None
    every_path: Ends | None = Field(None, alias="every path")
    passes: Word | None = None
    after_every: Word | None = Field(None, alias="after every")
    comes: Word | None = None
    at_most: CountOrZero | None = Field(None, alias="at most")
    of: Word | None = None
    between: Ends | None = None

    @property
    def said(self) -> dict[str, Any]:
        """The property as it is written, without what editors leave."""
        given = self.model_dump(exclude={"id", "x_materiac"}, exclude_none=True)
        form = next((form for form in properties.FORMS if form[0] in given), ())
        return {key: given[key] for key in form if key in given} | given

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        try:
            properties.parse(self.said)
        except properties.PropertyError as error:
            raise PydanticCustomError(
                "property", "{words}", {"words": str(error), "key": error.key}
            ) from error
        return self


class Loadout(Marked):
    """A graph of sockets."""

    entry: Word | None = None
    sockets: dict[str, Socket] = Field(min_length=1)
    loops: dict[str, Loop] = Field(default_factory=_no_fields)
    properties: list[Property] = Field(default_factory=_no_items)


class CustomTools(Marked):
    """Tools by name, for an agent that none of the scopes fits."""

    type: Literal["custom"]
    tools: list[Word]


class Cost(Marked):
    """What a turn of an agent costs, on average or at most."""

    input_tokens: AmountOrZero | None = None
    output_tokens: AmountOrZero | None = None
    usd: AmountOrZero | None = None


class _Materia(Marked):
    """What both kinds of materia have."""

    label: Text | None = None
    color: Any = None
    parse: Parse | None = None
    assign: dict[str, Text] = Field(default_factory=_no_fields)
    generator: Flag = False
    parallel: Flag = False
    parallel_safe: Flag = False


class AgentMateria(_Materia):
    """A behaviour that a model performs."""

    type: Literal["agent"] = "agent"
    prompt: Filled
    tools: Literal["none", "readOnly", "coding"] | CustomTools = "none"
    model: Word | None = None
    thinking: Word | None = None
    multi_turn: Flag = False
    cost: Cost | None = None
    handoff: Handoff | None = None
    env: list[Secret] = Field(default_factory=_no_items)


class Script(Marked):
    """A utility that an older implementation ships, by name."""

    kind: Literal["shippedUtility"]
    name: Word
    runtime: Any = None


class UtilityMateria(_Materia):
    """A behaviour that a program performs."""

    type: Literal["utility"] = "utility"
    command: Annotated[list[Text], Field(min_length=1)] | None = None
    utility: Word | None = None
    script: Script | None = None
    params: dict[str, Any] | None = None
    timeout_ms: Count = 30_000
    idempotent: Flag = False
    writes: list[Word] = Field(default_factory=_no_items)


Materia = AgentMateria | UtilityMateria


class Budget(Marked):
    """What a cast may spend."""

    max_tokens: Count | None = None
    max_cost_usd: Amount | None = None
    warn_at_percent: Percent = 75
    stop_at_limit: Flag = True


class Limits(Marked):
    """Limits of every cast of the file."""

    max_no_advance_cycles: CountOrZero = 3
    max_answer_bytes: Count = 64 * 1024**2
    max_prompt_bytes: Count = 16 * 1024**2
    max_items: Count = 100_000
    max_journal_bytes: Count = 4 * 1024**3


class Parallelism(Marked):
    """How many streams run side by side, where their loop does not say."""

    max_concurrency: Count = 2


class Sink(Marked):
    """A receiver of events: where it is, which it gets, in which form, and how hard that is tried."""

    type: Literal["webhook"] = "webhook"
    enabled: Flag = True
    url: Url | None = None
    url_from_env: Variable | None = None
    method: Literal["POST", "PUT"] = "POST"
    headers_from_env: Headers = Field(default_factory=_no_fields)
    body: Literal["passthrough", "mapped"] = "passthrough"
    map: dict[str, Any] | None = None
    include: list[Pattern] = Field(default_factory=_no_items)
    exclude: list[Pattern] = Field(default_factory=_no_items)
    timeout_ms: Count = 10_000
    retries: CountOrZero = 3
    first_pause_ms: Count = 1_000
    queue: Count = 1_000

    @model_validator(mode="after")
    def _agree(self) -> Self:
        places = sum(place is not None for place in (self.url, self.url_from_env))
        if places > 1 or (self.enabled and not places):
            raise _refuse("exactly one of 'url' and 'urlFromEnv' in it")
        if (self.body == "mapped") != (self.map is not None):
            raise _refuse("a 'map' in it where 'body' is 'mapped', and only there")
        return self


class Eventing(Marked):
    """Where the events of a cast are sent to."""

    enabled: Flag = False
    sinks: dict[str, Sink] = Field(default_factory=_no_fields)
    presets: list[Word] = Field(default_factory=_no_items)
    heartbeat_interval_ms: CountOrZero = 30_000


class ScopeAgents(Marked):
    """Who answers for materia with the same tools."""

    none: Word | None = None
    read_only: Word | None = None
    coding: Word | None = None
    custom: Word | None = None


class Agents(Marked):
    """Who answers: by materia, else by the tools of a materia, else by default."""

    default: Word | None = None
    scopes: ScopeAgents = Field(default_factory=ScopeAgents)
    materia: dict[str, Word] = Field(default_factory=_no_fields)
    handoff: Handoff = "text"

    def by_scope(self) -> dict[str, str]:
        """Who answers for tool scopes, those alone that the file speaks of."""
        named = {
            "none": self.scopes.none,
            "readOnly": self.scopes.read_only,
            "coding": self.scopes.coding,
            "custom": self.scopes.custom,
        }
        return {scope: spec for scope, spec in named.items() if spec is not None}


class Recovery(Marked):
    """How hard a turn that failed is tried again."""

    attempts: Count = 5
    first_pause_ms: Count = 1_000
    longest_pause_ms: Count = 60_000
    deadline_ms: Count = 1_800_000
    tool_timeouts: CountOrZero = 3


class Frame(Marked):
    """What a file says beside its loadouts and its materia."""

    artifact_dir: Folder = ".materia/casts"
    active_loadout: Word | None = None
    budget: Budget = Field(default_factory=Budget)
    limits: Limits = Field(default_factory=Limits)
    parallelism: Parallelism = Field(default_factory=Parallelism)
    agents: Agents = Field(default_factory=Agents)
    recovery: Recovery = Field(default_factory=Recovery)
    eventing: Eventing = Field(default_factory=Eventing)


class Config(Frame):
    """A whole file: the frame, what it imports, the loadouts, the materia."""

    imports: list[Word] = Field(default_factory=_no_items, alias="import")
    loadouts: dict[str, Loadout] = Field(default_factory=_no_fields)
    materia: dict[str, Materia] = Field(default_factory=_no_fields)
