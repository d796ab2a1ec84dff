"""The JSON schema of a loadout file, for editors: `python -m materiac.schema > docs/loadout.schema.json`.

It describes one file as it is written, so it asks for nothing that a layer below may bring along, and it
knows the early forms, marked as deprecated.
"""

from __future__ import annotations

import json
import re
import sys
from itertools import chain
from typing import Any, Final

from materiac.model import EDITOR_KEYS, Config
from materiac.names import END, MAX_LENGTH
from materiac.normalize import EARLY_KEYS, UNUSED_KEYS, UNUSED_LIMITS
from materiac.properties import FORMS

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

_EDITOR_KEYS: Final = sorted(EDITOR_KEYS)
_ASCII_BUT_NAMES: Final = r"\u0000-{last}/:-@\[-^`\{{-\u007f"
_DEPRECATED: Final = {"deprecated": True}

Schema = dict[str, Any]


def loadout_schema() -> Schema:
    """The schema of a whole file, in JSON Schema 2020-12."""
    schema = Config.model_json_schema(by_alias=True)
    parts: dict[str, Schema] = schema["$defs"]
    for part in (schema, *parts.values()):
        _shorten(part)
    _allow_overlays(schema, parts)
    _name_patterns(schema, parts)
    _forms(parts["Property"])
    _early_forms(schema, parts)
    _scenarios(schema)
    return {"$schema": DIALECT, **schema, "title": "Loadout file"}


def _shorten(part: Schema) -> None:
    """Leave out titles that repeat a key, defaults that say nothing, and each single key of editors."""
    part.pop("title", None)
    for key, value in list(part["properties"].items()):
        value.pop("title", None)
        if value.get("default", ...) is None:
            del value["default"]
        if key in _EDITOR_KEYS and not value:
            del part["properties"][key]
    part["patternProperties"] = {f"^({'|'.join(map(re.escape, _EDITOR_KEYS))})$": True}


def _allow_overlays(schema: Schema, parts: dict[str, Schema]) -> None:
    """A file may give a few fields of what a lower layer has, and `null` to take one away."""
    del parts["AgentMateria"]["required"], parts["Loadout"]["required"]
    schema["properties"]["materia"]["additionalProperties"]["anyOf"].append({"type": "null"})
    for kind in ("AgentMateria", "UtilityMateria"):
        fields = parts[kind]["properties"]
        parts[kind]["properties"] = {key: _or_null(value) for key, value in fields.items()}


def _or_null(value: Schema) -> Schema:
    if {"type": "null"} in value.get("anyOf", ()) or not value.keys() - {"default", "description"}:
        return value
    return {"anyOf": [value, {"type": "null"}]}


def _name_patterns(schema: Schema, parts: dict[str, Schema]) -> None:
    schema["properties"]["loadouts"]["propertyNames"] = _name(spaces=True)
    schema["properties"]["materia"]["propertyNames"] = _name(spaces=True)
    parts["Loadout"]["properties"]["sockets"]["propertyNames"] = _name(spaces=False)


def _name(*, spaces: bool) -> Schema:
    """Exact for ASCII; of other scripts every character is let through."""
    wrong = _ASCII_BUT_NAMES.format(last=r"\u001f!-," if spaces else ",")
    ends = "(?! )(?!.* $)" if spaces else ""
    whole = r"$(?!\n)"  # some engines let `$` match before a last line break
    return {"maxLength": MAX_LENGTH, "pattern": rf"^(?!{END}$)(?!\.){ends}[^{wrong}]+{whole}"}


def _forms(part: Schema) -> None:
    """A property has all keys of one form and none of another."""
    for key in chain.from_iterable(FORMS):
        part["properties"][key] = next(v for v in part["properties"][key]["anyOf"] if v["type"] != "null")
    part["oneOf"] = [
        {
            "required": [*form],
            "properties": {key: False for key in chain.from_iterable(FORMS) if key not in form},
        }
        for form in FORMS
    ]


def _early_forms(schema: Schema, parts: dict[str, Schema]) -> None:
    unused = dict.fromkeys(UNUSED_KEYS, _DEPRECATED)
    for part in (schema, *(parts[name] for name in ("Loadout", "Socket", "AgentMateria", "UtilityMateria"))):
        part["properties"] |= unused
    schema["properties"] |= {
        "pipeline": {"$ref": "#/$defs/Loadout", **_DEPRECATED},
        "roles": {"type": "object", **_DEPRECATED},
    }
    parts["Limits"]["properties"] |= dict.fromkeys(UNUSED_LIMITS, _DEPRECATED)
    parts["Loop"]["properties"]["exit"] |= _DEPRECATED
    for kind in ("AgentMateria", "UtilityMateria"):
        parts[kind]["properties"] |= {
            "generates": {"type": "null", **_DEPRECATED},
            "parallelPlanner": {"type": "boolean", **_DEPRECATED},
        }
    socket = parts["Socket"]
    del socket["required"]
    socket["properties"] |= dict.fromkeys((*EARLY_KEYS, "type"), _DEPRECATED)
    socket["anyOf"] = [{"required": [key]} for key in ("materia", *EARLY_KEYS)]


def _scenarios(schema: Schema) -> None:
    """What a file says of scenarios beside its loadouts: only where it has some."""
    target = {"type": "object", "properties": {"file": {"type": "string"}, "name": {"type": "string"}}}
    schema["properties"] |= {
        "scenarios": {"type": "array", "items": {"type": "object", "required": ["name"]}},
        "about": {"type": "string"},
        "loadout": {"anyOf": [{"type": "string"}, target]},
    }
    schema["dependentRequired"] = {"about": ["scenarios"], "loadout": ["scenarios"]}


def text() -> str:
    """The schema as it stands in the file."""
    return json.dumps(loadout_schema(), ensure_ascii=False, indent=2) + "\n"


if __name__ == "__main__":
    sys.stdout.write(text())
