"""What pydantic found, in our words: one error of a model, one finding."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from types import NoneType
from typing import Annotated, Any, Final, Literal, NamedTuple, get_args, get_origin

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from materiac import fixes
from materiac.diagnostic import Bilingual, Finding, Fix, Replacement, Severity
from materiac.model import (
    EDITOR_KEYS,
    AgentMateria,
    Config,
    Edge,
    Exit,
    Frame,
    Loadout,
    Loop,
    Marked,
    Node,
    Socket,
    SocketLimits,
    UtilityMateria,
)
from materiac.names import is_slip, suggestion
from materiac.properties import FORMS
from materiac.shipped import SCOPES
from materiac.source import KEY, Pointer

LIMITS: Final = frozenset(
    {
        "maxTraversals",
        "maxVisits",
        "maxOutputBytes",
        "maxNoAdvanceCycles",
        "maxAnswerBytes",
        "maxPromptBytes",
        "maxItems",
        "maxJournalBytes",
        "maxTokens",
        "maxCostUsd",
        "warnAtPercent",
        "timeoutMs",
        "maxConcurrency",
        "heartbeatIntervalMs",
        "retries",
        "firstPauseMs",
        "queue",
        "attempts",
        "longestPauseMs",
        "deadlineMs",
        "toolTimeouts",
    }
)

_NAMED: Final[Mapping[Any, str]] = {
    Loadout: "loadout",
    Socket: "socket",
    Loop: "loop",
    AgentMateria: "materia",
    UtilityMateria: "materia",
}
_INNER: Final[Mapping[Any, str]] = {Edge: "edge", Exit: "exit"}
_ELSEWHERE: Final[Mapping[type[Node], str]] = {
    Edge: "on edges",
    SocketLimits: "in the 'limits' of a socket",
    Socket: "on sockets",
    AgentMateria: "in materia",
    UtilityMateria: "in materia",
    Loop: "on loops",
    Exit: "on exits of loops",
    Loadout: "on loadouts",
    Config: "in the file itself",
}
_EXPECTED: Final = {
    "string_type": "a string",
    "string_unicode": "a string of Unicode characters",
    "string_too_short": "a string that is not empty",
    "string_pattern_mismatch": "a string that is not blank",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "too_short": "at least one entry",
}
_TOOLS: Final = f"""{", ".join(f"'{scope}'" for scope in SCOPES)} or an object of type 'custom'"""
_ENV: Final = Bilingual('write "params": {"env": […]}', "write 'params { \"env\": […] }'")
_FORMS: Final = "write " + ", or ".join(
    " and ".join((", ".join(f"'{key}'" for key in form[:-1]), f"'{form[-1]}'")) for form in FORMS
)
_SHOWN = 40


Loc = tuple[str | int, ...]


class Misfit(NamedTuple):
    """One fault of a part, and the way within the part to what has to go for the rest to be sound."""

    finding: Finding
    culprit: Loc


def misfits(model: type[Node], error: ValidationError, at: Pointer, part: Any = None) -> list[Misfit]:
    """Every fault that a model found in the part at a pointer; no key is guessed that the part has there."""
    details = error.errors(include_url=False)
    places = [(detail, loc) for detail in details for loc in _locations(model, detail)]
    return [_misfit(model, detail, loc, at, part) for detail, loc in places]


def _locations(model: type[Node], detail: ErrorDetails) -> Iterator[Loc]:
    """The way to the fault. `tools` is a union, for which pydantic reports on each branch: one counts."""
    loc = detail["loc"]
    if model is not AgentMateria or loc[:1] != ("tools",):
        yield loc
    elif str(loc[1]).startswith("literal"):
        if not isinstance(detail["input"], dict):
            yield loc[:1]
    elif len(loc) > 2:
        yield ("tools", *loc[2:])


def _misfit(model: type[Node], detail: ErrorDetails, loc: Loc, at: Pointer, part: Any) -> Misfit:
    if detail["type"] == "extra_forbidden":
        return Misfit(_unknown_key(model, loc, at, _keys_there(part, loc[:-1])), loc)
    if detail["type"] == "missing":
        words = f"{_name(model, loc[:-1], at)} has no '{loc[-1]}'"
        return Misfit(_error("invalid-value", words, (*at, *loc[:-1])), loc[:-1])
    if detail["type"] == "property":
        return Misfit(_no_property(detail, (*at, *loc)), loc)
    if model is UtilityMateria and loc == ("command",) and isinstance(detail["input"], str):
        return Misfit(_shell_string(detail["input"], (*at, *loc)), loc)
    return Misfit(_wrong_value(model, detail, loc, at), loc)


def _no_property(detail: ErrorDetails, at: Pointer) -> Finding:
    key = detail.get("ctx", {}).get("key")
    place = at if key is None else (*at, key)
    advice = _FORMS if key is None else None
    return _error("invalid-value", f"this is no property: {detail['msg']}", place, advice)


def _error(
    rule: str, message: str, at: Pointer, advice: str | Bilingual | None = None, fix: Fix | None = None
) -> Finding:
    return Finding(rule, Severity.ERROR, message, at, help=advice, fix=fix)


def _keys_there(part: Any, loc: Loc) -> Collection[str]:
    """The keys of the object at a place of a part."""
    for step in loc:
        within = isinstance(part, dict) and step in part
        part = part[step] if within or (isinstance(part, list) and isinstance(step, int)) else None
    return part.keys() if isinstance(part, dict) else frozenset()


def _unknown_key(model: type[Node], loc: Loc, at: Pointer, there: Collection[str]) -> Finding:
    key, pointer = str(loc[-1]), (*at, *loc, KEY)
    parent = _annotation(model, loc[:-1])
    for kind, other, kinds in (("utility", AgentMateria, "agents"), ("agent", UtilityMateria, "utilities")):
        if parent is not other and parent in (AgentMateria, UtilityMateria) and key in _keys(other):
            article = "a" if kind == "utility" else "an"
            words = f"'{key}' belongs to {kinds}, and '{at[-1]}' is {article} {kind}"
            return _error("unknown-key", words, pointer, _ENV if key == "env" else None)
    words = f"unknown key '{key}' in {_name(model, loc[:-1], at)}"
    parent = Config if parent is Frame else parent
    if parent in (AgentMateria, UtilityMateria):  # what is there may be of a layer below, to be written over
        there = [other for other in there if not is_slip(key, other)]
    known = [other for other in _keys(parent) if other not in there]
    if not any(is_slip(key, other) for other in known):
        again = (other for other in _keys(parent) if other in there and is_slip(key, other))
        advice = next((f"'{other}' is there already" for other in again), _elsewhere(key, parent))
        if advice is not None:
            return _error("unknown-key", words, pointer, advice)
    return _error("unknown-key", words, pointer, suggestion(key, known), fixes.renamed(key, known, pointer))


def _elsewhere(key: str, parent: type[Node]) -> str | None:
    """Where else such a key, or one that is a slip away, may stand."""
    for other, where in _ELSEWHERE.items():
        names = [] if other is parent else _keys(other)
        for name in sorted(names, key=lambda name: name != key):
            if name == key or is_slip(key, name):
                return f"'{name}' stands {where}"
    return None


def _keys(model: type[Node]) -> list[str]:
    """The keys that mean something: not those that editors leave."""
    fields = model.model_fields.items()
    aliases = (field.alias or name for name, field in fields if name not in Marked.model_fields)
    return [alias for alias in aliases if alias not in EDITOR_KEYS]


def _shell_string(command: str, pointer: Pointer) -> Finding:
    advice, fix = "write each word as an entry of a list", None
    with suppress(ValueError):
        split = shlex.split(command)
        advice = f"write {json.dumps(split, ensure_ascii=False)}"
        fix = Fix("write the command as a list", (Replacement(pointer, split),))
    words = f"found {found(command)} for 'command', expected a list: no shell runs it"
    return _error("shell-string", words, pointer, advice, fix)


def _wrong_value(model: type[Node], detail: ErrorDetails, loc: Loc, at: Pointer) -> Finding:
    value = detail["input"]
    rule = "invalid-limit" if loc and loc[-1] in LIMITS else "invalid-value"
    expected = _expected(detail, loc)
    words = f"found {found(value)} for {_name(model, loc, at)}, expected {expected}"
    pointer = (*at, *loc)
    if loc == ("tools",) and isinstance(value, list):
        return _error(rule, words, pointer, _custom_tools(value), _as_custom(value, pointer))
    if rule == "invalid-limit":
        return _error(rule, words, pointer, fix=fixes.limit(value, expected, pointer))
    if not isinstance(value, str):
        return _error(rule, words, pointer)
    legal = re.findall(r"'(\w+)'", expected)
    return _error(rule, words, pointer, suggestion(value, legal), fixes.renamed(value, legal, pointer))


def _as_custom(tools: list[Any], at: Pointer) -> Fix | None:
    if not all(isinstance(tool, str) for tool in tools):
        return None
    custom = {"type": "custom", "tools": tools}
    return Fix("write the tools as an object of type 'custom'", (Replacement(at, custom),), safe=True)


def _custom_tools(tools: list[Any]) -> Bilingual:
    plain = all(isinstance(tool, str) for tool in tools) and len(tools) <= len(SCOPES["coding"])
    written = json.dumps(tools if plain else ["…"], ensure_ascii=False)
    return Bilingual(f'write {{"type": "custom", "tools": {written}}}', f"write 'tools {written}'")


def _expected(detail: ErrorDetails, loc: Loc) -> str:
    if loc == ("type",):
        return "'agent' or 'utility'"
    if loc == ("tools",):
        return _TOOLS
    context = detail.get("ctx", {})
    if detail["type"] in ("number", "path", "expected", "literal_error"):
        return str(context["expected"])
    return _EXPECTED.get(detail["type"], detail["msg"])


def _name(model: type[Node], loc: Loc, at: Pointer) -> str:
    """What a message calls the value at a place."""
    pointer = (*at, *loc)
    annotation = _annotation(model, loc)
    if annotation in _NAMED:
        return f"{_NAMED[annotation]} '{pointer[-1]}'"
    if annotation in _INNER:
        return f"{_INNER[annotation]} of '{pointer[-3]}'"
    if not pointer:
        return "the file"
    if isinstance(pointer[-1], int):
        return f"an entry of '{pointer[-2]}'"
    inner = len(pointer) > 2 and isinstance(annotation, type) and issubclass(annotation, Node)
    return f"'{pointer[-1]}' of '{pointer[-2]}'" if inner else f"'{pointer[-1]}'"


def _annotation(model: type[Node], loc: Loc) -> Any:
    """What the model says that stands at a place; Any where it does not care."""
    at: Any = model
    for part in loc:
        at = _bare(_step(at, part))
    return at


def _step(annotation: Any, part: str | int) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, Node):
        fields = annotation.model_fields.values()
        return next((field.annotation for field in fields if field.alias == part), Any)
    return get_args(annotation)[-1] if get_origin(annotation) in (list, dict) else Any


def _bare(annotation: Any) -> Any:
    """An annotation without `Annotated` and `| None`; the last branch of another union."""
    while get_origin(annotation) not in (None, list, dict, Literal):
        annotated = get_origin(annotation) is Annotated
        options = [option for option in get_args(annotation) if option is not NoneType]
        annotation = options[0 if annotated else -1]
    return annotation


def found(value: Any) -> str:
    """A value as messages name it: scalars as they are written, without the inside of lists and objects."""
    match value:
        case str():
            short = value if len(value) <= _SHOWN else f"{value[:_SHOWN]}…"
            return f"the string {json.dumps(short, ensure_ascii=False)}"
        case list():
            return "a list" if value else "an empty list"
        case dict():
            return "an object" if value else "an empty object"
        case int() if abs(value) >= 10**_SHOWN:
            return "a number of very many digits"
    return json.dumps(value)
