"""Scenarios are the same in JSON and in the language of our own, alone, in lists, and beside loadouts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from documents import FILES
from hypothesis import HealthCheck, given, settings
from scenarios import ALONE, SUITES
from spellings import read, same

from materiac import formatting, languages
from materiac.pipeline import Text, compile_loadout
from materiac.resources import folder
from materiac.source import Language

ROUNDS = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
SHIPPED = sorted(folder("loadouts").rglob("*.scenario.json"))


@ROUNDS
@given(SUITES)
def test_lists_of_scenarios(data: dict[str, Any]) -> None:
    text = formatting.written(data, "dsl")
    assert same(read(text), data), text
    assert formatting.formatted(text, "dsl") == text
    assert read(text.replace("\n", "\r\n")) == read(text)


@ROUNDS
@given(ALONE)
def test_a_scenario_alone(data: dict[str, Any]) -> None:
    text = formatting.converted(data, "dsl")
    assert same(read(text), {"scenarios": [data]}), text
    assert same(json.loads(formatting.converted(read(text), "json")), data)


@ROUNDS
@given(ALONE)
def test_a_scenario_alone_is_no_list_of_one(data: dict[str, Any]) -> None:
    for value in (data, {"scenarios": [data]}):
        assert same(json.loads(there_and_back(value)), value)


def there_and_back(data: dict[str, Any]) -> str:
    """JSON to the language of our own, twice, through its layout, and back, by what the texts alone say."""
    text = convert("x.json", json.dumps(data), "dsl")
    again = convert("x.materia", text, "dsl")
    return convert("x.materia", formatting.formatted(again, "dsl"), "json")


def convert(name: str, text: str, language: Language) -> str:
    document, found = languages.document(name, text.encode(), None)
    assert document is not None, (found, text)
    return formatting.converted(document.data, language, listed=formatting.has_list(document))


@ROUNDS
@given(FILES, SUITES)
def test_beside_loadouts(loadouts: dict[str, Any], suite: dict[str, Any]) -> None:
    data = {"materia": {}, **loadouts, **suite}
    assert same(read(formatting.converted(data, "dsl")), data)
    assert same(json.loads(formatting.converted(data, "json")), data)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name.partition(".")[0])
def test_what_ships(path: Path) -> None:
    data = json.loads(path.read_text(encoding="utf-8"))
    text = formatting.converted(data, "dsl")
    assert json.loads(formatting.converted(read(text), "json")) == data
    assert "@" not in text, "what ships needs no attributes"


def test_a_list_of_what_has_no_name_is_kept() -> None:
    odd: list[dict[str, Any]] = [
        {"scenarios": []},
        {"scenarios": [{"nam": "x"}]},
        {"scenarios": 5},
        {"loadout": 5},
    ]
    for data in odd:
        assert read(formatting.converted(data, "dsl")) == data
        assert json.loads(formatting.converted(data, "json")) == data


def test_the_program_is_the_same_without_them() -> None:
    path = folder("loadouts") / "templates" / "review-loop"
    scenarios = json.loads(path.with_suffix(".scenario.json").read_text(encoding="utf-8"))
    data = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    digests = set()
    for language in ("json", "dsl"):
        for written in (data, {**data, **scenarios}):
            raw = formatting.written(written, "dsl" if language == "dsl" else "json").encode()
            compiled = compile_loadout([Text("x", raw)])
            assert compiled.image is not None, compiled.findings
            assert compiled.resolved.keys() == data.keys()
            digests.add(compiled.image.program.digest())
    assert len(digests) == 1


@pytest.mark.parametrize("key", ["", ".", "a.b", "a..b", "#", "größe", "é b"])
def test_any_key_of_the_state_is_kept(key: str) -> None:
    state = {"b": 2, key: 1}
    data = {"scenarios": [{"name": "x", "state": state, "expect": {"state": state}}] * 2}
    assert read(formatting.converted(data, "dsl")) == data
