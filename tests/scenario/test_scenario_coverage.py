"""What is counted as covered, where it stands, and how it is told."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from samples import FEATURES, answers, compiled, loadout, order, socket, working

from materiac.pipeline import Compiled, Text, compile_loadout
from materiac.runtime.run import run
from materiac.scenario.coverage import Coverage
from materiac.scenario.elements import elements
from materiac.scenario.loadouts import Loadouts
from materiac.scenario.read import read
from materiac.scenario.suite import judge

ITEM = {"workItems": [{"title": "t", "context": "c"}]}

GUARDED = socket(parse="json", edges=[{"when": "satisfied", "to": "b"}])
ELEMENTS: dict[str, tuple[Any, list[str]]] = {
    "one socket": (loadout({"a": socket()}), ["socket 'a'", "'a' → 'end', where no edge holds"]),
    "a verdict without an edge": (
        loadout({"a": GUARDED, "b": socket()}),
        [
            "socket 'a'",
            "edge 'a' → 'b' if satisfied",
            "'a' → 'end', where no edge holds",
            "repair turn of 'a'",
            "socket 'b'",
            "'b' → 'end', where no edge holds",
        ],
    ),
    "a loop": (
        working(),
        [
            "socket 'plan'",
            "edge 'plan' → 'build'",
            "repair turn of 'plan'",
            "socket 'build'",
            "edge 'build' → 'check'",
            "socket 'check'",
            "edge 'check' → 'build' if satisfied",
            "edge 'check' → 'build' if not_satisfied",
            "exit 'check' → 'tell', list used up",
            "limit of edge 'check' → 'build' if not_satisfied",
            "repair turn of 'check'",
            "socket 'tell'",
            "'tell' → 'end', where no edge holds",
            "loop 'work' found empty → 'tell'",
        ],
    ),
    "foreach": (
        FEATURES["foreach"],
        [
            "socket 'seed'",
            "edge 'seed' → 'each'",
            "socket 'each'",
            "edge 'each' → 'each'",
            "done 'each' → 'tell', list used up",
            "socket 'tell'",
            "'tell' → 'end', where no edge holds",
            "loop 'foreach:each' found empty → 'tell'",
        ],
    ),
}


@pytest.mark.parametrize(("config", "words"), ELEMENTS.values(), ids=ELEMENTS)
def test_what_there_is_to_cover(config: Any, words: list[str]) -> None:
    assert [element.words for element in elements(compiled(config).program)] == words


def alone(file: Path | None) -> list[Text]:
    """A file without layers below it."""
    return [Text(str(file), file.read_bytes())] if file is not None else []


def judged(folder: Path, config: Any, *scenarios: Any) -> Coverage:
    text = json.dumps(config, indent=1)
    (folder / "loadout.json").write_text(text)
    data = {"loadout": "loadout.json", "scenarios": [{"name": "n", **part} for part in scenarios]}
    placed, findings = read(str(folder / "x.scenario.json"), json.dumps(data).encode())
    assert findings == []
    coverage, loadouts = Coverage(), Loadouts(alone)
    for part in placed:
        verdict = judge(part, loadouts, os.environ)
        assert verdict.compiled is not None
        assert verdict.played is not None
        coverage.add(verdict.compiled, verdict.played.records)
    return coverage


def missed(coverage: Coverage) -> dict[str, str]:
    """What is not covered, with the text that stands there."""
    (covered,) = coverage.of.values()
    found = {}
    for element in covered.missed:
        place = covered.place(element)
        assert place is not None
        found[element.words] = place.source.text[place.span.start : place.span.end]
    return found


def test_what_scenarios_leave_out_is_found_in_the_loadout(tmp_path: Path) -> None:
    happy = {"agent": {"sockets": {"plan": {"json": ITEM}, "check": {"json": {"satisfied": True}}}}}
    places = missed(judged(tmp_path, working(), happy))
    assert list(places) == [
        "repair turn of 'plan'",
        "edge 'check' → 'build' if satisfied",
        "edge 'check' → 'build' if not_satisfied",
        "limit of edge 'check' → 'build' if not_satisfied",
        "repair turn of 'check'",
        "loop 'work' found empty → 'tell'",
    ]
    assert json.loads(places["edge 'check' → 'build' if satisfied"]) == {"when": "satisfied", "to": "build"}
    assert places["limit of edge 'check' → 'build' if not_satisfied"] == "2"
    assert "consumes" in json.loads(places["loop 'work' found empty → 'tell'"])


def test_an_exit_is_found_in_the_loadout(tmp_path: Path) -> None:
    empty: Any = {"agent": {"sockets": {"plan": {"json": {"workItems": []}}}}}
    places = missed(judged(tmp_path, working(), empty))
    assert json.loads(places["exit 'check' → 'tell', list used up"])["targetSocketId"] == "tell"


def test_scenarios_add_up(tmp_path: Path) -> None:
    over = {"agent": {"sockets": {"plan": {"json": ITEM}, "check": {"json": {"satisfied": False}}}}}
    slip = {"agent": {"sockets": {"plan": ["hm", {"json": {"workItems": []}}]}}}
    left = missed(judged(tmp_path, working(), over, slip))
    assert list(left) == [
        "edge 'check' → 'build' if satisfied",
        "exit 'check' → 'tell', list used up",
        "repair turn of 'check'",
    ]


def casts(folder: Path, config: Any) -> None:
    agent = answers(plan=ITEM, check=[{"satisfied": False}, {"satisfied": True}])
    run(order(compiled(config), folder, agent))


def of_file(config: Any) -> Compiled:
    return compile_loadout([Text("loadout.json", json.dumps(config).encode())])


def test_casts_count_by_their_journals(tmp_path: Path) -> None:
    casts(tmp_path, working())
    coverage = Coverage()
    coverage.add(of_file(working()), None)
    coverage.add_casts(tmp_path / "casts", Loadouts(alone))
    (covered,) = coverage.of.values()
    assert covered.casts == 1
    assert covered.counts["edge", "check", "1"] == 1
    assert covered.counts["exit", "check", "always"] == 1
    assert coverage.passed_over == 0


def test_casts_of_another_version_are_passed_over(tmp_path: Path) -> None:
    casts(tmp_path, working(limits={"maxNoAdvanceCycles": 9}))
    (tmp_path / "casts" / "torn").mkdir()
    (tmp_path / "casts" / "torn" / "events.jsonl").write_text("no journal\n")
    coverage = Coverage()
    coverage.add(of_file(working()), None)
    coverage.add_casts(tmp_path / "casts", Loadouts(alone))
    assert coverage.passed_over == 2
    assert list(coverage.lines())[-1].endswith(": 2")


def test_casts_of_a_loadout_of_the_layers_need_no_scenario(tmp_path: Path) -> None:
    casts(tmp_path, working())
    coverage = Coverage()
    coverage.add_casts(
        tmp_path / "casts", Loadouts(lambda _: [Text("loadout.json", json.dumps(working()).encode())])
    )
    assert [covered.program.name for covered in coverage.of.values()] == ["L"]


def test_the_report(tmp_path: Path) -> None:
    coverage = judged(tmp_path, loadout({"a": GUARDED, "b": socket()}), {"agent": {"sockets": {"a": "no"}}})
    (covered,) = coverage.of.values()
    first, *rest = coverage.lines()
    assert first == f"L ({tmp_path / 'loadout.json'}): 2 of 6 covered, 33.3 %"
    assert rest[0].endswith(":10:7: not covered: edge 'a' → 'b' if satisfied")
    data = coverage.as_data()["loadouts"][0]
    assert (data["hash"], data["percent"]) == (covered.digest, 33.33)
    assert data["elements"][1] == {
        "kind": "edge",
        "of": "a",
        "to": "b",
        "when": "satisfied",
        "index": 0,
        "count": 0,
        "file": str(tmp_path / "loadout.json"),
        "line": 10,
        "column": 7,
    }
