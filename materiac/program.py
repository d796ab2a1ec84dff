"""The compiled form of a loadout: what runs, what is drawn, what bounds are computed from.

Frozen, made of plain values, and whole: every default is filled in, every name leads somewhere.
`to_data` and `from_data` are its JSON, `digest` is the hash of its meaning.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from materiac.path import parse_source, parse_target
from materiac.properties import parse

FORMAT: Final = 1
END: Final = "end"
FAN_IN: Final = "parallelFanIn"
"""The key of the state that holds what came of streams."""
_LISTED: Final = ("sockets", "materia", "loops", "regions")

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Edge:
    """One way out of a socket. `when` is always, satisfied or not_satisfied."""

    when: str
    to: str
    max_traversals: int | None = None


@dataclass(frozen=True, slots=True)
class Exit:
    """One way out of a loop whose list is used up after a visit of `source`."""

    id: str
    source: str
    condition: str
    to: str


@dataclass(frozen=True, slots=True)
class Advance:
    """Steps the cursor of the loop that the socket is in. `done` is the socket's own way out."""

    when: str = "always"
    done: str | None = None


@dataclass(frozen=True, slots=True)
class Loop:
    """Sockets that work on the items of a list, one after the other, under one cursor.

    `empty` is where control goes when there is no item; a lone socket with `foreach` is a loop too,
    of one member, with `foreach:<socket>` as its id.
    """

    id: str
    sockets: tuple[str, ...]
    items: str
    alias: str
    cursor: str
    done: str
    empty: str
    exits: tuple[Exit, ...] = ()
    source: str | None = None
    max_concurrency: int | None = None
    foreach: bool = False


@dataclass(frozen=True, slots=True)
class Region:
    """What runs once for each stream of a parallel generator: sockets before its loop, and the loop.

    `prelude` are those sockets in order, the loop is entered at `door`; `after` is where control goes
    when all streams are done.
    """

    generator: str
    prelude: tuple[str, ...]
    loop: str
    door: str
    after: str
    max_concurrency: int

    @property
    def entry(self) -> str:
        """The first socket of a stream."""
        return self.prelude[0] if self.prelude else self.door

    def sockets(self, program: Program) -> tuple[str, ...]:
        """All that runs in a stream."""
        return (*self.prelude, *program.loops[self.loop].sockets)


@dataclass(frozen=True, slots=True)
class Agent:
    """What an agent is asked with. `scope` is none, readOnly, coding or custom; `tools` spells it out.

    `env` are the names of the secret variables that its program may see.
    """

    prompt: str
    scope: str = "none"
    tools: tuple[str, ...] = ()
    model: str | None = None
    thinking: str | None = None
    multi_turn: bool = False
    handoff: str = "text"
    env: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Utility:
    """What a utility runs: an argv, or a built-in by name, or a name that no built-in has yet."""

    command: tuple[str, ...] = ()
    builtin: str | None = None
    missing: str | None = None
    params: Json | None = None
    timeout_ms: int = 30_000
    idempotent: bool = False


@dataclass(frozen=True, slots=True)
class Materia:
    """A behaviour. Exactly one of `agent` and `utility` is set."""

    name: str
    label: str
    agent: Agent | None = None
    utility: Utility | None = None
    generator: bool = False
    parallel: bool = False
    parallel_safe: bool = False
    cost: Json | None = None


@dataclass(frozen=True, slots=True)
class Socket:
    """A place in the graph. `assign` is merged and ordered; `loop` is the loop it iterates in."""

    id: str
    materia: str
    parse: str
    assign: tuple[tuple[str, str], ...] = ()
    edges: tuple[Edge, ...] = ()
    loop: str | None = None
    advance: Advance | None = None
    max_visits: int | None = None
    max_output_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Budget:
    """What a cast may spend. Tokens are input and output together, cost is in US dollars."""

    max_tokens: int | None = None
    max_cost_usd: float | None = None
    warn_at_percent: float = 75
    stop_at_limit: bool = True


@dataclass(frozen=True, slots=True)
class Program:
    """One loadout, compiled. `state_keys` are the keys that some socket is known to write.

    `regions` are by their generators.
    """

    name: str
    entry: str
    sockets: Mapping[str, Socket]
    materia: Mapping[str, Materia]
    loops: Mapping[str, Loop] = field(default_factory=dict)
    budget: Budget = Budget()
    max_no_advance_cycles: int = 3
    max_concurrency: int = 1
    state_keys: tuple[str, ...] = ()
    properties: tuple[Json, ...] = ()
    regions: Mapping[str, Region] = field(default_factory=dict)

    def digest(self) -> str:
        """SHA-256 of the meaning, in hex: the same for moved keys, layout and white space."""
        data = to_data(self)
        data["state_keys"].sort()
        for socket in data["sockets"]:
            socket["assign"] = settled(socket["assign"])
        for key in _LISTED:
            data[key].sort(key=lambda part: str(part.get("id", part.get("name", part.get("generator")))))
        return _hashed(data)


def settled(assign: list[list[str]]) -> list[list[str]]:
    """Assignments in an order that all orders with the same meaning have in common.

    Each is as deep as the chain of those before it that it depends on (Foata's normal form).
    """
    targets = [parse_target(target) for target, _ in assign]
    reads = [_read_state(source) for _, source in assign]

    def tied(i: int, j: int) -> bool:
        pairs = (targets[i], targets[j]), (targets[i], reads[j]), (reads[i], targets[j])
        return any(a is not None and b is not None and _overlap(a, b) for a, b in pairs)

    depths: list[int] = []
    for i in range(len(assign)):
        depths.append(1 + max((depths[j] for j in range(i) if tied(i, j)), default=0))
    return [pair for _, pair in sorted(zip(depths, assign, strict=True))]


def _read_state(source: str) -> tuple[str, ...] | None:
    """What of the state a source reads; None where it reads something else."""
    path = parse_source(source)
    return path.segments if path.root == "state" else None


def _overlap(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return all(a == b for a, b in zip(one, other, strict=False))


@dataclass(frozen=True, slots=True)
class Limits:
    """What no cast may go over, whatever it is: sizes in bytes, and the entries of a list of work items."""

    max_answer_bytes: int = 64 * 1024**2
    max_prompt_bytes: int = 16 * 1024**2
    max_items: int = 100_000
    max_journal_bytes: int = 4 * 1024**3


@dataclass(frozen=True, slots=True)
class Agents:
    """Who answers, each as `--agent` names it. `scopes` are by tool scope, `materia` by the name of one."""

    default: str | None = None
    scopes: Mapping[str, str] = field(default_factory=dict)
    materia: Mapping[str, str] = field(default_factory=dict)

    def of(self, materia: str, scope: str) -> str | None:
        """Who answers for a materia with a tool scope; None where nothing says so."""
        return self.materia.get(materia) or self.scopes.get(scope) or self.default


@dataclass(frozen=True, slots=True)
class Recovery:
    """How hard a turn that failed is tried again.

    It is asked up to `attempts` times in all, with pauses that grow from the first to the longest, until
    the deadline; a tool that ran out of time is let run out of it `tool_timeouts` times.
    """

    attempts: int = 5
    first_pause_ms: int = 1_000
    longest_pause_ms: int = 60_000
    deadline_ms: int = 1_800_000
    tool_timeouts: int = 3


@dataclass(frozen=True, slots=True)
class Settings:
    """What surrounds a program and is no part of its meaning: where, by whom, seen by whom."""

    artifact_dir: str = ".materia/casts"
    agents: Agents = Agents()
    recovery: Recovery = Recovery()
    eventing: Json = field(default_factory=dict)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    colors: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = Limits()


@dataclass(frozen=True, slots=True)
class Image:
    """A program with its settings: what `machine.json` holds."""

    program: Program
    settings: Settings = Settings()


def to_data(program: Program) -> Json:
    """The program as JSON values; sockets, materia, loops and regions are lists, in written order."""
    data = dataclasses.asdict(program)
    for key in _LISTED:
        data[key] = list(data[key].values())
    plain: Json = json.loads(json.dumps(data))
    return plain


def image_data(image: Image) -> Json:
    """What `machine.json` holds, as JSON values.

    `hash` is that of the program, which settings have no part in; `settingsHash` is theirs.
    """
    settings = json.loads(json.dumps(dataclasses.asdict(image.settings)))
    return {
        "format": FORMAT,
        "hash": image.program.digest(),
        "settingsHash": _hashed(settings),
        "program": to_data(image.program),
        "settings": settings,
    }


def _hashed(data: Json) -> str:
    text = json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class ImageError(ValueError):
    """A `machine.json` that is none, or is of another format, or was changed by hand."""


def image_from_data(data: Any, *, checked: bool = True) -> Image:
    """The inverse of `image_data`; its hashes have to fit if it is `checked`. Raises `ImageError`."""
    if not isinstance(data, dict) or "program" not in data or "format" not in data:
        raise ImageError("it is no compiled machine")
    if data["format"] != FORMAT:
        raise ImageError(f"it has format {data['format']!r}, this version reads format {FORMAT}")
    try:
        image = Image(from_data(data["program"]), _settings(data["settings"]))
        hashes = image.program.digest(), _hashed(data["settings"])
        for part in image.program.properties:
            parse(part)
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise ImageError(f"a part of it is missing or of the wrong kind: {error}") from error
    if checked and hashes != (data.get("hash"), data.get("settingsHash")):
        raise ImageError("its hash does not fit its content: compile the loadout again")
    return image


def from_data(data: Json) -> Program:
    """The inverse of `to_data`."""
    sockets = [_socket(part) for part in data["sockets"]]
    materia = [_materia(part) for part in data["materia"]]
    loops = [_loop(part) for part in data["loops"]]
    regions = [Region(**{**part, "prelude": tuple(part["prelude"])}) for part in data["regions"]]
    rest = {k: v for k, v in data.items() if k not in (*_LISTED, "budget")}
    rest["state_keys"] = tuple(rest["state_keys"])
    rest["properties"] = tuple(rest["properties"])
    return Program(
        **rest,
        sockets={part.id: part for part in sockets},
        materia={part.name: part for part in materia},
        loops={part.id: part for part in loops},
        regions={part.generator: part for part in regions},
        budget=Budget(**data["budget"]),
    )


def _socket(data: Json) -> Socket:
    advance = data["advance"]
    return Socket(
        **{
            **data,
            "assign": tuple((target, source) for target, source in data["assign"]),
            "edges": tuple(Edge(**edge) for edge in data["edges"]),
            "advance": None if advance is None else Advance(**advance),
        }
    )


def _materia(data: Json) -> Materia:
    agent, utility = data["agent"], data["utility"]
    if agent is not None:
        agent = Agent(**{**agent, "tools": tuple(agent["tools"]), "env": tuple(agent["env"])})
    if utility is not None:
        utility = Utility(**{**utility, "command": tuple(utility["command"])})
    return Materia(**{**data, "agent": agent, "utility": utility})


def _loop(data: Json) -> Loop:
    exits = tuple(Exit(**part) for part in data["exits"])
    return Loop(**{**data, "sockets": tuple(data["sockets"]), "exits": exits})


def _settings(data: Json) -> Settings:
    settings = Settings(
        **{
            **data,
            "groups": {name: tuple(sockets) for name, sockets in data.get("groups", {}).items()},
            "agents": _agents(data["agents"]),
            "recovery": Recovery(**data["recovery"]),
            "limits": Limits(**data["limits"]),
        }
    )
    for name in ("eventing", "colors"):
        if not isinstance(getattr(settings, name), dict):
            raise TypeError(f"'{name}' is no object")
    _refuse_other_than_counts("limits", settings.limits, 1)
    _refuse_other_than_counts("recovery", settings.recovery, 0)
    if not isinstance(settings.artifact_dir, str):
        raise TypeError("'artifact_dir' is no string")
    return settings


def _agents(data: Json) -> Agents:
    agents = Agents(**data)
    specs = [*agents.scopes.values(), *agents.materia.values()]
    if agents.default is not None:
        specs.append(agents.default)
    if not all(isinstance(spec, str) for spec in specs):
        raise TypeError("'agents' has something else than strings")
    return agents


def _refuse_other_than_counts(name: str, part: Limits | Recovery, least: int) -> None:
    if not all(type(number) is int and number >= least for number in dataclasses.astuple(part)):
        raise TypeError(f"'{name}' has something else than whole numbers of at least {least}")
