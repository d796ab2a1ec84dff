"""What an object of a file may hold, by the JSON schema: keys with their meaning, and choices of values."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from materiac.schema import loadout_schema
from materiac.source import Pointer

Schema = Mapping[str, Any]

_SINGLE: Final = ("anyOf", "oneOf", "allOf")
_IGNORED: Final = frozenset({"$schema", "x-materiac", "id"})


class Guide:
    """Walks a schema along pointers."""

    def __init__(self, root: Schema) -> None:
        self._root = root

    def keys(self, pointer: Pointer, present: Collection[str]) -> dict[str, str]:
        """The keys that the object at a pointer may have beside those that it has, with their meaning."""
        found: dict[str, str] = {}
        for schema in _fitting(self._at(pointer), present):
            for key, part in schema.get("properties", {}).items():
                if key not in present and key not in _IGNORED and not self._deprecated(part):
                    found.setdefault(key, self._meaning(part))
        return found

    def choices(self, pointer: Pointer, present: Collection[str] = ()) -> list[Any]:
        """The values that may stand at a pointer, where they are few."""
        if not pointer:
            return []
        *above, last = pointer
        values: list[Any] = []
        for owner in _fitting(self._at(tuple(above)), present):
            for schema in self._below(owner, last):
                values += self._constants(schema)
        return list(dict.fromkeys(values))

    def _at(self, pointer: Pointer) -> list[Schema]:
        found = list(self._resolved(self._root))
        for part in pointer:
            found = [below for schema in found for below in self._below(schema, part)]
        return found

    def _below(self, schema: Schema, part: object) -> Iterator[Schema]:
        if isinstance(part, int):
            inside = schema.get("items")
        else:
            inside = schema.get("properties", {}).get(part, schema.get("additionalProperties"))
        if isinstance(inside, dict):
            yield from self._resolved(inside)

    def _resolved(self, schema: Schema) -> Iterator[Schema]:
        """The alternatives that a schema comes to, without references."""
        if "$ref" in schema:
            yield from self._resolved(self._root["$defs"][schema["$ref"].rpartition("/")[2]])
            return
        several = [part for key in _SINGLE for part in schema.get(key, ()) if "required" not in part]
        for part in several:
            yield from self._resolved(part)
        if not several or "properties" in schema:
            yield schema

    def _constants(self, schema: Schema) -> list[Any]:
        if schema.get("type") == "boolean":
            return [True, False]
        return list(schema.get("enum", ())) or ([schema["const"]] if "const" in schema else [])

    def _deprecated(self, part: Any) -> bool:
        return isinstance(part, dict) and bool(part.get("deprecated"))

    def _meaning(self, part: Any) -> str:
        if not isinstance(part, dict):
            return ""
        texts = (schema.get("description", "") for schema in self._resolved(part))
        return part.get("description") or next((text for text in texts if text), "")


def _fitting(schemas: list[Schema], present: Collection[str]) -> list[Schema]:
    """The alternatives that know all keys that are there; all of them, where none does."""
    objects = [schema for schema in schemas if "properties" in schema]
    known = [schema for schema in objects if set(present) <= schema["properties"].keys() | _IGNORED]
    return known or objects


@functools.cache
def of_loadouts() -> Guide:
    """The one of loadout files."""
    return Guide(loadout_schema())


@functools.cache
def of_scenarios() -> Guide:
    """The one of a scenario."""
    from materiac.scenario.model import Scenario  # noqa: PLC0415 - few files have scenarios

    return Guide(Scenario.model_json_schema(by_alias=True))
