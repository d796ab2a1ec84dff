"""Scenarios that are made: they come to everything, and notice when a loadout changes."""

from __future__ import annotations

import copy
import itertools
import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from samples import FEATURES, SHIPPED, loadout, socket, working

from materiac.pipeline import Text, compile_loadout
from materiac.program import END, Image
from materiac.scenario.elements import elements, taken
from materiac.scenario.generate import Generated, generate
from materiac.scenario.model import Scenario
from materiac.scenario.play import Played, play

Json = dict[str, Any]

BELOW = [Text(f"bundled:{file.name}", file.read_bytes(), shipped=True) for file in SHIPPED]
OK = sorted((Path(__file__).parents[1] / "corpus" / "ok").glob("*.json"))
FILES = [*SHIPPED, *OK]
"""Loadouts of which everything can be come to."""


def compiled(config: Json) -> Image | None:
    return compile_loadout([*BELOW, Text("loadout.json", json.dumps(config).encode())]).image


def data_of(file: Path) -> Json:
    data: Json = json.loads(file.read_bytes())
    return data


@cache
def made_for(file: Path) -> tuple[Image, Generated]:
    image = compiled(data_of(file))
    assert image is not None
    return image, generate(image, os.environ)


def replay(image: Image, scenarios: list[Json]) -> Iterator[Played]:
    return (play(Scenario.model_validate(data), image, os.environ) for data in scenarios)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_everything_is_covered_and_comes_out_the_same_again(file: Path) -> None:
    image, made = made_for(file)
    assert made.missed == []
    assert not made.cut
    outcomes = list(replay(image, made.scenarios))
    assert [outcome.misfits for outcome in outcomes] == [()] * len(outcomes)
    covered = {taken(image.program, record) for outcome in outcomes for record in outcome.records}
    assert {element.key for element in elements(image.program)} <= covered


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_the_shipped_scenarios_are_those_that_are_made(file: Path) -> None:
    shipped = data_of(file.parent / "scenarios" / f"{file.stem}.scenario.json")
    assert shipped["scenarios"] == made_for(file)[1].scenarios, "run `materiac test --generate` again"


def changes(config: Json) -> Iterator[tuple[str, Json]]:
    """A loadout file with one edge or exit changed."""
    (name, spec), *_ = config["loadouts"].items()
    for id_, index in [
        (id_, index)
        for id_, written in spec["sockets"].items()
        for index in range(len(written.get("edges", ())))
    ]:
        edge = spec["sockets"][id_]["edges"][index]
        for change in edge_changes(edge, spec["sockets"]):
            changed = copy.deepcopy(config)
            edges = changed["loadouts"][name]["sockets"][id_]["edges"]
            edges[index : index + 1] = change
            yield f"{id_}.{index}: {edge} → {change}", changed
    for loop, written in spec.get("loops", {}).items():
        for index in range(len(written.get("exits", ()))):
            changed = copy.deepcopy(config)
            changed["loadouts"][name]["loops"][loop]["exits"][index]["targetSocketId"] = END
            yield f"{loop}.{index}", changed


def edge_changes(edge: Json, sockets: Json) -> Iterator[list[Json]]:
    yield []
    others = [other for other in (END, *sockets) if other != edge["to"]]
    yield from ([{**edge, "to": other}] for other in others[:2])
    if "maxTraversals" in edge:
        limit = edge["maxTraversals"]
        yield from ([{**edge, "maxTraversals": other}] for other in (limit - 1, limit + 1) if other)
        yield [{key: value for key, value in edge.items() if key != "maxTraversals"}]
    if "when" in edge:
        yield [{**edge, "when": "always"}]


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_a_changed_edge_is_noticed(file: Path) -> None:
    """A loadout that does not compile any more is noticed too."""
    _, made = made_for(file)
    for change, config in changes(data_of(file)):
        image = compiled(config)
        if image is not None:
            assert any(outcome.misfits for outcome in replay(image, made.scenarios)), change


def test_nothing_is_superfluous() -> None:
    for file in SHIPPED:
        image, made = made_for(file)
        outcomes = list(replay(image, made.scenarios))
        found = [{taken(image.program, record) for record in outcome.records} for outcome in outcomes]
        for alone, others in ((part, found[:i] + found[i + 1 :]) for i, part in enumerate(found)):
            assert alone - set(itertools.chain.from_iterable(others))


def made(config: Json) -> Generated:
    image = compiled(config)
    assert image is not None
    return generate(image, os.environ)


@pytest.mark.parametrize("name", ["hello", "work", "exits", "foreach", "early"])
def test_every_form_of_loop(name: str) -> None:
    assert made(FEATURES[name]).missed == []


@pytest.mark.parametrize("items", ["state.workItems", "state.files", "state.found.files"])
def test_lists_that_nobody_assigns(items: str) -> None:
    each = socket(
        foreach={"items": items}, advance={"cursor": "eachIndex", "items": items}, edges=[{"to": "each"}]
    )
    sockets = {"seed": {"materia": "Seed", "edges": [{"to": "each"}]}, "each": each}
    seed = {"command": ["false"], "parse": "json"}
    assert made(loadout(sockets, materia={"Seed": seed})).missed == []


def test_streams() -> None:
    materia = {
        "Planner": {"prompt": "Plan.", "generator": True, "parallel": True},
        "Agent": {"prompt": "Do it.", "parallelSafe": True},
    }
    found = made(working(materia=materia))
    assert found.missed == []
    assert ["plan", "tell"] in [part["expect"]["path"] for part in found.scenarios]
    assert {part["expect"]["failure"] for part in found.scenarios if "failure" in part["expect"]} <= {
        "stream",
        "edge-limit",
    }


def test_the_same_loadout_gives_the_same_scenarios() -> None:
    assert made(working()).scenarios == made(working()).scenarios


def test_what_cannot_be_come_to_is_named() -> None:
    config = loadout({"a": socket(), "b": socket()})
    assert [element.words for element in made(config).missed] == [
        "socket 'b'",
        "'b' → 'end', where no edge holds",
    ]


def test_the_stall_guard_is_known() -> None:
    """With no cycle allowed, the second round of `b` is no more."""
    judged = socket(
        parse="json", edges=[{"when": "satisfied", "to": "c"}, {"when": "not_satisfied", "to": "a"}]
    )
    sockets = {"a": socket(edges=[{"to": "b"}]), "b": judged, "c": socket()}
    config = loadout(sockets, materia={})
    config["limits"] = {"maxNoAdvanceCycles": 0}
    found = made(config)
    assert found.missed == []
    kinds = [part["expect"].get("failure") for part in found.scenarios]
    assert sorted(kinds, key=str) == [None, "stalled"]


def test_the_limit_of_a_far_edge_is_found_with_its_count_alone() -> None:
    """Ten edges with a limit of 9 make more places than can be looked at; one by one, they do not."""
    ring = {
        f"s{i}": socket(
            parse="json",
            edges=[
                {"when": "not_satisfied", "to": f"s{i}", "maxTraversals": 9},
                {"when": "satisfied", "to": f"s{i + 1}" if i < 9 else END},
            ],
        )
        for i in range(10)
    }
    found = made(loadout(ring))
    assert (found.missed, found.cut) == ([], False)


def test_a_search_that_hits_its_bound_says_so() -> None:
    image = compiled(working())
    assert image is not None
    assert generate(image, os.environ, most=2).cut


def test_rework_is_expected_to_be_told() -> None:
    found = made(working()).scenarios
    told = [key for part in found for key in part["expect"].get("prompts", {})]
    assert told == ["build#2"]


def test_a_person_and_a_repair_are_part_of_it() -> None:
    planning = next(file for file in SHIPPED if file.stem == "planning-consult")
    first = made_for(planning)[1].scenarios[0]
    assert first["person"] == [None]
    assert first["agent"]["sockets"]["plan"][:2] == ["ok", "I have to think about this."]
