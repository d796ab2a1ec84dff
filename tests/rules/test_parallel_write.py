"""Keys that streams write, and who reads them afterwards."""

from __future__ import annotations

import json
from typing import Any

import pytest
from samples import STEP, loadout, socket

from materiac import pipeline

Json = dict[str, Any]


def streams(
    *, prompt: str = "Tell.", make: Json | None = None, middle: Json | None = None, **tell: Any
) -> Json:
    """A parallel generator, a prelude, a loop of one socket, and up to two sockets after it."""
    sockets = {
        "plan": {"materia": "Streams", "edges": [{"to": "ready"}]},
        "ready": {"materia": "Safe", "edges": [{"to": "make"}]},
        "make": {"materia": "Safe", "advance": STEP, "edges": [{"to": "make"}], **(make or {})},
        "tell": {"materia": "Teller", **tell},
    }
    if middle is not None:
        sockets["middle"] = {"materia": "Plain", "edges": [{"to": "tell"}], **middle}
    target = "tell" if middle is None else "middle"
    exits = [{"from": "make", "targetSocketId": target}]
    loops = {"work": {"sockets": ["make"], "consumes": {"from": "plan"}, "exits": exits}}
    materia = {
        "Streams": {"prompt": "Plan it.", "generator": True, "parallel": True},
        "Safe": {"prompt": "Do it.", "parallelSafe": True},
        "Plain": {"prompt": "Do it."},
        "Teller": {"prompt": prompt},
    }
    return loadout(sockets, loops=loops, materia=materia)


def found(config: Json) -> list[tuple[Any, ...]]:
    parts = pipeline.check([pipeline.Text("loadout.json", json.dumps(config).encode())])
    return [tuple(part.finding.at) for part in parts if part.finding.rule == "parallel-write"]


KEEP = {"assign": {"note": "$"}}

LOST = {
    "by a prompt": streams(make=KEEP, prompt="{{state.note}}"),
    "by a bare name in a prompt": streams(make=KEEP, prompt="{{note}}"),
    "by an assignment": streams(make=KEEP, assign={"all": "state.note"}),
    "by one to the same key": streams(make=KEEP, assign={"note": "note"}),
    "a part of it": streams(make={"assign": {"note.text": "$"}}, prompt="{{state.note.text}}"),
    "by a list": streams(
        make=KEEP, foreach={"items": "state.note"}, advance={"cursor": "tellIndex", "items": "state.note"},
        edges=[{"to": "tell"}],
    ),
    "after a socket that writes another key": streams(
        make=KEEP, middle={"assign": {"other": "$"}}, prompt="{{state.note}}"
    ),
    "after a socket that writes only below it": streams(
        make=KEEP, middle={"assign": {"note.b": "$"}}, prompt="{{state.note}}"
    ),
    "after one that writes it on some ways": streams(
        make=KEEP,
        middle={"parse": "json", "edges": [{"when": "satisfied", "to": "tell"}, {"to": "own"}]},
        prompt="{{state.note}}",
    ),
}  # fmt: skip
LOST["after one that writes it on some ways"]["loadouts"]["L"]["sockets"]["own"] = socket(
    assign={"note": "$"}, edges=[{"to": "tell"}]
)

FINE = {
    "nobody reads it": streams(make=KEEP),
    "another reads another key": streams(make=KEEP, prompt="{{state.parallelFanIn}}"),
    "it is written before it is read": streams(make=KEEP, middle=KEEP, prompt="{{state.note}}"),
    "in the same visit": streams(make=KEEP, assign={"note": "lastOutput", "all": "state.note"}),
}


@pytest.mark.parametrize("config", LOST.values(), ids=LOST)
def test_what_is_lost(config: Json) -> None:
    ((*at, _key),) = found(config)
    assert at[:5] == ["loadouts", "L", "sockets", "make", "assign"]


@pytest.mark.parametrize("config", FINE.values(), ids=FINE)
def test_what_is_fine(config: Json) -> None:
    assert found(config) == []


def test_within_a_stream_it_is_there() -> None:
    config = streams(make={"assign": {"seen": "state.note"}})
    config["loadouts"]["L"]["sockets"]["ready"]["assign"] = {"note": "$"}
    assert found(config) == []


def test_an_assignment_of_the_materia_is_found_at_the_socket() -> None:
    config = streams(prompt="{{state.note}}")
    config["materia"]["Safe"] |= KEEP
    assert found(config) == [("loadouts", "L", "sockets", "ready", "materia")]


def test_a_region_that_is_come_to_again_is_no_reader_of_its_own() -> None:
    config = streams(
        make={"assign": {"seen": "state.note", "note": "$"}}, edges=[{"to": "plan", "maxTraversals": 2}]
    )
    config["loadouts"]["L"]["sockets"]["plan"]["assign"] = {"note": "$.context"}
    assert found(config) == []
