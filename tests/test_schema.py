from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from materiac.names import fault
from materiac.schema import loadout_schema

ROOT = Path(__file__).parents[1]
SCHEMA = loadout_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

Fields = dict[str, Any]


def test_the_file_is_current() -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "materiac.schema"], capture_output=True, check=True, encoding="utf-8"
    ).stdout
    file = ROOT / "docs" / "loadout.schema.json"
    assert file.read_text(encoding="utf-8") == printed, (
        "write it with: python -m materiac.schema > docs/loadout.schema.json"
    )


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_what_ships_is_valid() -> None:
    files = sorted((ROOT / "loadouts").glob("*.json"))
    errors = {file.name: _errors(json.loads(file.read_text(encoding="utf-8"))) for file in files}
    assert not any(errors.values()), errors


def _errors(data: Any) -> list[str]:
    return [error.message for error in VALIDATOR.iter_errors(data)]


def of_socket(**socket: Any) -> Fields:
    return {"loadouts": {"A b": {"sockets": {"a": socket}}}}


VALID = {
    "nothing": {},
    "a socket": of_socket(materia="m", edges=[{"to": "end", "when": "satisfied", "maxTraversals": 3}]),
    "an agent": {"materia": {"m": {"prompt": "p", "tools": {"type": "custom", "tools": ["read"]}}}},
    "a utility": {"materia": {"m": {"command": ["true"], "params": {"x": 1}}}},
    "a few fields over a lower layer": {
        "materia": {"m": {"tools": "coding"}},
        "loadouts": {"L": {"entry": "a"}},
    },
    "null takes away": {"materia": {"m": None, "n": {"tools": None}}},
    "keys of editors": of_socket(materia="m", layout={"x": 1}, socketKind="entry", label="A"),
    "early forms": {
        "pipeline": {"sockets": {"a": {"type": "agent", "role": "r", "prompt": "p"}}},
        "roles": {"r": {"systemPrompt": "p"}},
        "limits": {"maxSocketVisits": 3},
        "compaction": {},
    },
}


@pytest.mark.parametrize("data", VALID.values(), ids=VALID)
def test_sound_files_are_valid(data: Any) -> None:
    assert _errors(data) == []


INVALID = {
    "a list": [],
    "an unknown key": {"wibble": 1},
    "an unknown key of a socket": of_socket(materia="m", wibble=1),
    "a socket without a materia": of_socket(edges=[]),
    "an edge without a target": of_socket(materia="m", edges=[{}]),
    "a wrong guard": of_socket(materia="m", edges=[{"to": "a", "when": "maybe"}]),
    "a limit of nothing": of_socket(materia="m", limits={"maxVisits": 0}),
    "tools as a list": {"materia": {"m": {"prompt": "p", "tools": ["read"]}}},
    "a shell line": {"materia": {"m": {"command": "npm test"}}},
    "both kinds in one": {"materia": {"m": {"command": ["true"], "prompt": "p"}}},
    "a wrong name": {"loadouts": {"L": {"sockets": {"a b": {"materia": "m"}}}}},
}


@pytest.mark.parametrize("data", INVALID.values(), ids=INVALID)
def test_faulty_files_are_not(data: Any) -> None:
    assert _errors(data)


ASCII = st.text(st.characters(max_codepoint=127), max_size=70)
NAMES = ASCII | st.sampled_from(["end", ".a", " a", "a ", "a b", "a\n"])
RULES = {
    "loadouts": (SCHEMA["properties"]["loadouts"], True),
    "materia": (SCHEMA["properties"]["materia"], True),
    "sockets": (SCHEMA["$defs"]["Loadout"]["properties"]["sockets"], False),
}


@pytest.mark.parametrize(("container", "spaces"), RULES.values(), ids=RULES)
@given(name=NAMES)
def test_names_are_those_of_the_language(container: Fields, spaces: bool, name: str) -> None:
    assert _accepts(container["propertyNames"], name) == (fault(name, spaces=spaces) is None)


def _accepts(rule: Fields, name: str) -> bool:
    return len(name) <= rule["maxLength"] and re.search(rule["pattern"], name) is not None
