"""What a JSON socket needs of an answer, as a JSON Schema: for models that are held to one, and for a tool.

A strict schema keeps to what providers hold their models to: every object has its fields spelled out, all
of them needed, one that may be missing is `null`. It cannot say that a field may hold anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from materiac.runtime.contract import Contract

Json = dict[str, Any]

_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
"""The names of fields that every provider takes."""


class NoSchemaError(Exception):
    """What a socket needs cannot be said in a schema. The message says why."""


def schema_of(contract: Contract, *, strict: bool = True) -> Json:
    """The schema of an answer that keeps the contract. Raises `NoSchemaError`.

    Whatever the schema allows, the contract has the last word.
    """
    if strict and contract.keeps_all:
        raise NoSchemaError("the whole object is assigned, whatever fields it has")
    needed = {name: _field(name, contract, strict) for name in contract.required}
    optional = {name: _field(name, contract, strict) for name in _optional(contract)}
    for name in (*needed, *optional):
        if not _NAME.fullmatch(name):
            raise NoSchemaError(f"not every provider takes a field that is called '{name}'")
    if strict:
        needed |= {name: {**schema, "type": [schema["type"], "null"]} for name, schema in optional.items()}
        optional = {}
    return {
        "type": "object",
        "properties": {**needed, **optional},
        "required": list(needed),
        "additionalProperties": contract.keeps_all,
    }


def without_absent(answer: Json, contract: Contract) -> Json:
    """An answer without the fields that are `null` for want of another way to leave them out."""
    absent = [name for name in _optional(contract) if name in _KNOWN and answer.get(name, ...) is None]
    return {name: value for name, value in answer.items() if name not in absent}


def _optional(contract: Contract) -> list[str]:
    """The fields that may be there: what `assign` reads where it came, and the reason of a verdict."""
    reads = sorted(contract.reads)
    reason = ["context"] if contract.needs_verdict or not contract.required else []
    return [name for name in dict.fromkeys([*reads, *reason]) if name not in contract.required]


def _object(properties: Json) -> Json:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(items: Json) -> Json:
    return {"type": "array", "items": items}


_STRING: Final[Json] = {"type": "string"}
_INTEGER: Final[Json] = {"type": "integer"}
_KNOWN: Final[dict[str, Json]] = {
    "satisfied": {"type": "boolean", "description": "the verdict"},
    "workItems": _list(_object({"title": _STRING, "context": _STRING})),
    "context": {"type": "string", "description": "reasons and facts for those who come later"},
    "text": {"type": "string", "description": "what a person is shown"},
}
_SCHEDULE: Final = _object(
    {
        "version": {"type": "integer", "enum": [1]},
        "streams": _list(_object({"name": _STRING, "workItemIndexes": _list(_INTEGER)})),
    }
)


def _field(name: str, contract: Contract, strict: bool) -> Json:
    if name in _KNOWN:
        return _KNOWN[name]
    if name == "parallelSchedule" and contract.parallel:
        return _SCHEDULE
    if strict:
        raise NoSchemaError(f"'{name}' may be any value")
    return _below([segments[1:] for segments in contract.paths if segments[0] == name])


def _below(paths: Iterable[tuple[str, ...]]) -> Json:
    """Any value that has something at these paths. An index may lead into a list as well as an object."""
    deep = [segments for segments in paths if segments]
    names = dict.fromkeys(segments[0] for segments in deep)
    if not names or any(name.isdecimal() or not _NAME.fullmatch(name) for name in names):
        return {}
    fields = {name: _below([segments[1:] for segments in deep if segments[0] == name]) for name in names}
    return {**_object(fields), "additionalProperties": True}
