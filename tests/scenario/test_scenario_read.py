"""Scenario files: what may be in them, and where it is said what is wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest

from materiac.scenario.read import Placed, read


def found(data: Any) -> list[tuple[str, str, str | None]]:
    """The place of each finding as the text that is marked, its message, its help."""
    text = data if isinstance(data, str) else json.dumps(data)
    findings = read("x.scenario.json", text.encode())[1]
    return [
        (text[part.place.span.start : part.place.span.end], part.finding.message, part.help)
        for part in findings
        if part.place is not None
    ]


def scenario(**rest: Any) -> dict[str, Any]:
    return {"name": "n", **rest}


KINDS = (
    "'output', 'output-limit', 'edge-limit', 'visit-limit', 'stalled', 'budget', 'utility-start', "
    "'utility-exit', 'utility-timeout', 'agent', 'stream' or 'property'"
)
PLACES: dict[str, tuple[Any, tuple[str, str, str | None]]] = {
    "no name": ({}, ("{}", "the scenario has no 'name'", None)),
    "blank name": (
        {"name": ""},
        ('""', "found the string \"\" for 'name', expected a string that is not empty", None),
    ),
    "a list": ([], ("[]", "found an empty list, expected an object", None)),
    "unknown key": (
        scenario(expct={}),
        ('"expct"', "unknown key 'expct'", "did you mean 'expect'?"),
    ),
    "unknown key around scenarios": (
        {"scenarios": [scenario()], "loadot": "x.json"},
        ('"loadot"', "unknown key 'loadot'", "did you mean 'loadout'?"),
    ),
    "unknown expectation": (
        scenario(expect={"pathHas": ["a"], "vists": {}}),
        ('"vists"', "unknown key 'vists'", "did you mean 'visits'?"),
    ),
    "unknown key of an answer": (
        scenario(agent={"sockets": {"a": [{"text": "x"}, {"jsn": {}}]}}),
        ('"jsn"', "unknown key 'jsn'", "did you mean 'json'?"),
    ),
    "unknown key of an answer by item": (
        scenario(agent={"sockets": {"a": {"WI-1": {"txt": "x"}}}}),
        ('"txt"', "unknown key 'txt'", "did you mean 'text'?"),
    ),
    "an answer with nothing in it": (
        scenario(utilities={"u": {"delayMs": 1}}),
        ('{"delayMs": 1}', "an answer has one of 'text', 'json' and 'error'", None),
    ),
    "unknown kind": (
        scenario(expect={"failure": "oops"}),
        ('"oops"', f"found the string \"oops\" for 'failure', expected {KINDS}", None),
    ),
    "unknown status": (
        scenario(expect={"status": "done"}),
        (
            '"done"',
            "found the string \"done\" for 'status', expected 'complete', 'failed' or 'waiting'",
            None,
        ),
    ),
    "a prompt without a visit": (
        scenario(expect={"prompts": {"build": {"has": "x"}}}),
        ('{"has": "x"}', "found 'build', expected a socket and a visit, as in 'build#2'", None),
    ),
    "a file outside": (
        scenario(files={"../x": ""}),
        ('""', "'../x' is no path below the working folder", None),
    ),
    "no text": (
        scenario(expect={"files": {"x": {"has": [1]}}}),
        ("1", "found 1, expected a string", None),
    ),
    "negative": (
        scenario(expect={"visits": {"a": -1}}),
        ("-1", "found -1 for 'a', expected a number of at least 0", None),
    ),
    "no scenarios": (
        {"scenarios": []},
        ("[]", "found an empty list for 'scenarios', expected at least one entry", None),
    ),
    "scenarios that are no list": (
        {"scenarios": 3},
        ("3", "found 3 for 'scenarios', expected a list", None),
    ),
    "no JSON": ("{", ("", "the text ends inside an object that begins at 1:1", None)),
    "a repeated key": (
        '{"name": "a", "name": "b"}',
        ('"name"', "the key 'name' is there twice in one object", None),
    ),
}


@pytest.mark.parametrize(("data", "expected"), PLACES.values(), ids=PLACES)
def test_what_is_wrong_is_said_at_its_place(data: Any, expected: tuple[str, str, str | None]) -> None:
    faults = found(data)
    if isinstance(data, str):
        assert len(faults) == 1
    else:
        assert faults == [expected]


def one(data: Any) -> Placed:
    (placed,), findings = read("folder/x.scenario.json", json.dumps(data).encode())
    assert findings == []
    return placed


@pytest.mark.parametrize(
    ("written", "file", "name"),
    [
        ("a.json", "a.json", None),
        ("sub/a", "sub/a", None),
        ("a.materia", "a.materia", None),
        ("Full-Auto", None, "Full-Auto"),
        ({"file": "a.json", "name": "B"}, "a.json", "B"),
    ],
)
def test_a_loadout_in_a_word(written: Any, file: str | None, name: str | None) -> None:
    target = one(scenario(loadout=written)).target
    assert (target.file, target.name) == (file, name)


def test_scenarios_of_a_file_share_its_loadout_unless_they_have_their_own() -> None:
    data = {"loadout": "a.json", "scenarios": [scenario(), scenario(loadout="b.json")]}
    placed, findings = read("x.scenario.json", json.dumps(data).encode())
    assert findings == []
    assert [part.target.file for part in placed] == ["a.json", "b.json"]


@pytest.mark.parametrize(
    ("expect", "outcome"),
    [
        ({}, "complete"),
        ({"failure": "stalled"}, "failed"),
        ({"status": "waiting"}, "waiting"),
    ],
)
def test_the_status_that_is_expected(expect: Any, outcome: str) -> None:
    assert one(scenario(expect=expect)).scenario.expect.outcome == outcome


def test_a_place_passes_over_what_shorthands_leave_out() -> None:
    placed = one(scenario(expect={"failure": "stalled", "prompts": {"a#1": {"has": "word"}}}))
    text = placed.document.source.text
    for loc, marked in ((("failure", "kind"), '"stalled"'), (("prompts", "a#1", "has", 0), '"word"')):
        span = placed.place("expect", *loc).span
        assert text[span.start : span.end] == marked
