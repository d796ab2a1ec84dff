"""What a JSON socket needs of an answer, in words before it is asked and as a check afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from materiac import names, path
from materiac.program import Program, Socket
from materiac.runtime.handoff import excerpt, kind_of

Json = dict[str, Any]

MAX_PROBLEMS: Final = 20
SEVERITIES: Final = ("debug", "info", "warning", "error", "critical")

_KNOWN: Final[dict[str, tuple[type, str]]] = {
    "workItems": (list, "a list"),
    "satisfied": (bool, "true or false"),
    "context": (str, "a string"),
    "text": (str, "a string"),
}
_SCHEDULE: Final = "parallelSchedule"
_GUARDED_STATE: Final = ("workItems", "satisfied", "item")
_EVENT_TEXTS: Final = ("message", "source")
_EVENT_KEYS: Final = ("type", "severity", "message", "payload", "source")


@dataclass(frozen=True, slots=True)
class Contract:
    """What one socket needs. `paths` are the `$.path`s that `assign` reads, `reads` the fields that
    `assign` reads in any spelling; with `keeps_all` it reads the whole object."""

    needs_verdict: bool
    needs_work_items: bool
    paths: tuple[tuple[str, ...], ...]
    reads: frozenset[str]
    keeps_all: bool
    is_generator: bool
    parallel: bool
    utility: bool

    @property
    def asks_text(self) -> bool:
        return any(segments[0] == "text" for segments in self.paths)

    @property
    def asks_context(self) -> bool:
        return any(segments[0] == "context" for segments in self.paths)

    @property
    def strict_items(self) -> bool:
        """Whether every work item has to be a title and a context and nothing else."""
        return self.is_generator or not self.utility

    @property
    def required(self) -> tuple[str, ...]:
        """The fields that have to be there, each once."""
        asked = (
            ("satisfied", self.needs_verdict),
            ("workItems", self.needs_work_items),
            (_SCHEDULE, self.parallel),
        )
        fields = [name for name, needed in asked if needed]
        return tuple(dict.fromkeys([*fields, *(segments[0] for segments in self.paths)]))


@dataclass(frozen=True, slots=True)
class Accepted:
    """An answer that keeps the contract.

    `output` is the whole object without `event`; `fields` are the known fields that came; `shown` is
    what later prompts may show of it. `dropped` and `dropped_state` are names that reach nothing.
    """

    output: Json
    fields: Json
    shown: Json
    dropped: tuple[str, ...] = ()
    events: list[Json] = field(default_factory=list)
    state: Json | None = None
    dropped_state: tuple[str, ...] = ()


def contract_of(program: Program, socket: Socket) -> Contract:
    """The contract of a socket that reads JSON."""
    materia = program.materia[socket.materia]
    sources = [path.parse_source(source) for _, source in socket.assign]
    read = [source.segments for source in sources if source.root in (path.OUTPUT, "lastJson")]
    paths = dict.fromkeys(source.segments for source in sources if source.root == path.OUTPUT)
    guards = [edge.when for edge in socket.edges] + ([socket.advance.when] if socket.advance else [])
    return Contract(
        needs_verdict=any(when != "always" for when in guards),
        needs_work_items=materia.generator or any(segments[:1] == ("workItems",) for segments in paths),
        paths=tuple(segments for segments in paths if segments),
        reads=frozenset(segments[0] for segments in read if segments),
        keeps_all=() in read,
        is_generator=materia.generator,
        parallel=materia.generator and materia.parallel,
        utility=materia.utility is not None,
    )


def check(answer: Json, contract: Contract) -> tuple[Accepted | None, list[str]]:
    """Hold an answer against a contract: what is accepted of it, or all that is wrong with it."""
    output = {name: value for name, value in answer.items() if name != "event"}
    problems = _bounded(_problems(answer, output, contract))
    return (None, problems) if problems else (_accepted(answer, output, contract), [])


def needs(contract: Contract) -> list[str]:
    """The needed fields and their types, a line each, as a prompt asks for them."""
    lines = [f'"{name}": {_asked(name, contract)}' for name in contract.required if _whole(name, contract)]
    deep = (".".join(segments) for segments in contract.paths if len(segments) > 1)
    return lines + [f'"{dotted}", a path of names and list indexes: any value' for dotted in deep]


def _whole(name: str, contract: Contract) -> bool:
    """Whether a field is needed for itself, and not only for something below it."""
    return name in _KNOWN or name == _SCHEDULE or (name,) in contract.paths


def _asked(name: str, contract: Contract) -> str:
    if name == "workItems" and contract.strict_items:
        return 'a list of objects {"title": string, "context": string}, neither blank, without other keys'
    if name == _SCHEDULE and contract.parallel:
        return (
            'an object {"version": 1, "streams": [{"name": string, "workItemIndexes": [whole numbers]}]}; '
            "indexes count from 0, every work item is in exactly one stream, no stream is empty, and the "
            "names are distinct, made of letters, digits, '.', '_', '-' and inner spaces"
        )
    return _KNOWN[name][1] if name in _KNOWN else "any value"


def _bounded(problems: Iterator[str]) -> list[str]:
    found = list(problems)
    more = len(found) - MAX_PROBLEMS
    return [*found[:MAX_PROBLEMS], f"and {more} more"] if more > 0 else found


def _problems(answer: Json, output: Json, contract: Contract) -> Iterator[str]:
    for name in contract.required:
        if name not in output:
            yield f"'{name}' is missing, expected {_asked(name, contract)}"
    yield from _wrong_types(output, contract)
    for segments in contract.paths:
        if segments[0] in output and path.read(output, segments) is path.MISSING:
            yield f"'{'.'.join(segments)}' is missing"
    items = output.get("workItems")
    if contract.strict_items and isinstance(items, list):
        yield from _item_problems(items)
    if contract.parallel and _SCHEDULE in output and isinstance(items, list):
        yield from _schedule_problems(output[_SCHEDULE], len(items))
    if "event" in answer:
        yield from _event_problems(answer["event"])


def _wrong_types(output: Json, contract: Contract) -> Iterator[str]:
    for name, (kind, expected) in _KNOWN.items():
        if name in output and not isinstance(output[name], kind):
            yield _found(name, output[name], expected)
    if contract.utility and not isinstance(output.get("state", {}), dict):
        yield _found("state", output["state"], "an object")


def _found(where: str, value: Any, expected: str) -> str:
    described = f'the string "{excerpt(value, 40)}"' if isinstance(value, str) else kind_of(value)
    return f"'{where}' is {described}, expected {expected}"


def _item_problems(items: list[Any]) -> Iterator[str]:
    for index, item in enumerate(items):
        where = f"workItems[{index}]"
        if not isinstance(item, dict):
            yield _found(where, item, "an object with 'title' and 'context'")
            continue
        for key in ("title", "context"):
            yield from _text_problems(where, item, key)
        yield from _unknown_keys(where, item, ("title", "context"))


def _text_problems(where: str, item: Json, key: str) -> Iterator[str]:
    if key not in item:
        yield f"'{where}.{key}' is missing, expected a string"
    elif not isinstance(item[key], str):
        yield _found(f"{where}.{key}", item[key], "a string")
    elif not item[key].strip():
        yield f"'{where}.{key}' is blank, expected words"


def _unknown_keys(where: str, part: Json, known: tuple[str, ...]) -> Iterator[str]:
    for key in part:
        if key not in known:
            allowed = ", ".join(f"'{name}'" for name in known)
            yield f"'{where}' has the key '{excerpt(key, 60)}', expected no other than {allowed}"


def _schedule_problems(schedule: Any, count: int) -> Iterator[str]:
    if not isinstance(schedule, dict):
        yield _found(_SCHEDULE, schedule, "an object")
        return
    version, streams = schedule.get("version"), schedule.get("streams")
    if isinstance(version, bool) or version != 1:
        yield f"'{_SCHEDULE}.version' is not 1"
    if not isinstance(streams, list):
        yield f"'{_SCHEDULE}.streams' is not a list"
        return
    taken: set[int] = set()
    seen: set[str] = set()
    for index, stream in enumerate(streams):
        where = f"{_SCHEDULE}.streams[{index}]"
        if isinstance(stream, dict):
            yield from _name_problems(where, stream.get("name"), seen)
            yield from _index_problems(where, stream.get("workItemIndexes"), count, taken)
        else:
            yield _found(where, stream, "an object with 'name' and 'workItemIndexes'")
    yield from (f"work item {index} is in no stream" for index in range(count) if index not in taken)


def _name_problems(where: str, name: Any, seen: set[str]) -> Iterator[str]:
    if not isinstance(name, str):
        yield f"'{where}.name' is missing or no string"
    elif fault := names.fault(name, spaces=True):
        yield f"'{where}.name' {fault}"
    elif name in seen:
        yield f"'{where}.name' is '{name}', the name of an earlier stream"
    else:
        seen.add(name)


def _index_problems(where: str, indexes: Any, count: int, taken: set[int]) -> Iterator[str]:
    if not isinstance(indexes, list) or not indexes:
        yield f"'{where}.workItemIndexes' is no list with an index in it"
        return
    for index in indexes:
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < count:
            yield f"'{where}.workItemIndexes' has an entry that is no index of the {count} work items"
        elif index in taken:
            yield f"work item {index} is in more than one place of the streams"
        else:
            taken.add(index)


def _event_problems(events: Any) -> Iterator[str]:
    if not isinstance(events, list):
        yield _found("event", events, "a list")
        return
    for index, event in enumerate(events):
        where = f"event[{index}]"
        if isinstance(event, dict):
            yield from _entry_problems(where, event)
        else:
            yield _found(where, event, "an object with 'type'")


def _entry_problems(where: str, event: Json) -> Iterator[str]:
    kind = event.get("type")
    if not isinstance(kind, str) or not all(part.strip() for part in kind.split(".")):
        yield f"'{where}.type' is not a name of parts with dots between, as in 'status.progress'"
    if "severity" in event and event["severity"] not in SEVERITIES:
        yield _found(f"{where}.severity", event["severity"], f"one of {', '.join(SEVERITIES)}")
    for key in _EVENT_TEXTS:
        if key in event and not isinstance(event[key], str):
            yield _found(f"{where}.{key}", event[key], "a string")
    yield from _unknown_keys(where, event, _EVENT_KEYS)


def _accepted(answer: Json, output: Json, contract: Contract) -> Accepted:
    patch = output.get("state") if contract.utility else None
    dropped = tuple(name for name in output if not _kept(name, contract))
    hidden = {*dropped} | _unshown(contract)
    return Accepted(
        output=output,
        fields={name: output[name] for name in _KNOWN if name in output},
        shown={name: value for name, value in output.items() if name not in hidden},
        dropped=dropped,
        events=answer.get("event", []),
        state=patch and {key: value for key, value in patch.items() if key not in _GUARDED_STATE},
        dropped_state=tuple(key for key in _GUARDED_STATE if key in (patch or ())),
    )


def _kept(name: str, contract: Contract) -> bool:
    known = (
        name in _KNOWN or (name == _SCHEDULE and contract.parallel) or (name == "state" and contract.utility)
    )
    return known or contract.keeps_all or name in contract.reads


def _unshown(contract: Contract) -> set[str]:
    """Kept and not for prompts: text that nobody assigned, and a patch, which is seen in the state."""
    text = set() if contract.keeps_all or "text" in contract.reads else {"text"}
    return text | ({"state"} if contract.utility else set())
