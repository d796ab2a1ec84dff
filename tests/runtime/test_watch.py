"""Casts that are watched: what would break a property of the loadout is not done, and not paid for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from samples import Json, answers, compiled, loadout, order, socket, working

from materiac.agents.scripted import Scripted
from materiac.program import Image
from materiac.runtime.journal import Record, read
from materiac.runtime.replay import replay
from materiac.runtime.resume import Allowed, ResumeError, Resumption, resume
from materiac.runtime.run import Result, run

YES, NO = {"satisfied": True}, {"satisfied": False}
ITEM = {"title": "Shed", "context": "Wood"}
PLAN = {"workItems": [ITEM, ITEM]}
NEVER = {"never": "ship", "before": "look"}
COMES = {"after every": "make", "comes": "look"}


def watched(config: Json, *properties: Json) -> Image:
    """The image of a file, with properties that its casts may break."""
    image = compiled(config)
    return replace(image, program=replace(image.program, properties=properties))


def chain(*ways: str) -> Json:
    """Sockets in rows: each way is `a b c`; where one has two ways on, the first is for a good verdict."""
    edges: dict[str, list[str]] = {}
    for way in ways:
        names = way.split()
        for name in names:
            edges.setdefault(name, [])
        for one, other in pairwise(names):
            edges[one].append(other)
    sockets = {id_: _socket(targets) for id_, targets in edges.items() if id_ != "end"}
    return loadout(sockets)


def _socket(targets: Sequence[str]) -> Json:
    if len(targets) < 2:
        return socket(edges=[{"to": to} for to in targets])
    guards = ("satisfied", "not_satisfied")
    return socket(
        parse="json", edges=[{"when": when, "to": to} for when, to in zip(guards, targets, strict=True)]
    )


def records(result: Result, kind: str) -> list[Record]:
    return [record for record in read(result.folder / "events.jsonl").records if record.type == kind]


BRANCHING = chain("plan make ship", "make look ship")


@pytest.mark.parametrize(
    ("config", "rule", "script", "path", "words"),
    [
        (BRANCHING, NEVER, {"make": YES}, "plan make", "a visit of 'ship' would break"),
        (
            BRANCHING,
            {"every path": ["plan", "ship"], "passes": "look"},
            {"make": YES},
            "plan make",
            "every path from 'plan' to 'ship' passes 'look'",
        ),
        (BRANCHING, COMES, {"make": YES}, "plan make ship", "the end of the cast would break"),
        (
            chain("plan make", "make ship end", "make make"),
            {"at most": 2, "of": "make", "between": ["plan", "ship"]},
            {"make": [NO, NO, YES]},
            "plan make make",
            "at most 2 of 'make' between 'plan' and 'ship'",
        ),
        (chain("plan make end"), COMES, {}, "plan make", "the end of the cast would break"),
        (working(), {"never": "end", "before": "build"}, {"plan": {"workItems": []}}, "plan tell", "the end"),
    ],
    ids=["never", "passes", "comes", "at-most", "at-an-edge-to-the-end", "past-an-empty-loop"],
)
def test_cast_stops_before_it_breaks_a_property(
    config: Json, rule: Json, script: Json, path: str, words: str, tmp_path: Path
) -> None:
    result = run(order(watched(config, rule), tmp_path, _all(config, script)))
    failure = result.cast.failure or {}
    assert (result.status, failure["kind"]) == ("failed", "property")
    assert words in failure["message"]
    assert result.cast.path == path.split()
    assert len(records(result, "socket_finished")) == len(path.split())
    assert replay(result.folder).status == "failed"


def _all(config: Json, script: Json) -> Scripted:
    return answers(**dict.fromkeys(config["loadouts"]["L"]["sockets"], "done") | script)


@pytest.mark.parametrize(
    ("limits", "kind"),
    [({"maxNoAdvanceCycles": 9}, "visit-limit"), ({"maxNoAdvanceCycles": 0}, "stalled")],
    ids=["visit-limit", "stall-guard"],
)
def test_what_a_limit_forbids_breaks_no_property(limits: Json, kind: str, tmp_path: Path) -> None:
    config = chain("plan make", "make ship end", "make make") | {"limits": limits}
    config["loadouts"]["L"]["sockets"]["make"]["limits"] = {"maxVisits": 1}
    one = {"at most": 1, "of": "make", "between": ["plan", "ship"]}
    result = run(order(watched(config, one), tmp_path, _all(config, {"make": [NO, NO]})))
    assert (result.cast.failure or {})["kind"] == kind
    assert replay(result.folder).status == "failed"


@pytest.mark.parametrize(
    ("rule", "make"),
    [(NEVER, NO), (COMES, NO), ({"at most": 1, "of": "make", "between": ["plan", "ship"]}, YES)],
    ids=str,
)
def test_cast_that_keeps_its_properties_is_left_alone(rule: Json, make: Json, tmp_path: Path) -> None:
    result = run(order(watched(BRANCHING, rule), tmp_path, _all(BRANCHING, {"make": make})))
    assert result.status == "complete"


@pytest.mark.parametrize("rule", [NEVER, COMES], ids=["before-a-socket", "before-the-end"])
def test_cast_goes_on_under_a_loadout_without_the_property(rule: Json, tmp_path: Path) -> None:
    config = BRANCHING | {"limits": {"maxNoAdvanceCycles": 0}}
    failed = run(order(watched(config, rule), tmp_path, _all(config, {"make": YES})))
    agent = _all(config, {})
    for allowed in (Allowed(), Allowed(retry=True)):
        with pytest.raises(ResumeError, match="a loadout without the property"):
            resume(Resumption(failed.folder, agent, {}, allowed=allowed))
    allowed = Allowed(retry=True, change=True)
    done = resume(Resumption(failed.folder, agent, {}, compiled(config), allowed))
    assert (done.status, done.cast.failure) == ("complete", None)
    assert done.cast.path == ["plan", "make", "ship"]
    assert replay(done.folder).status == "complete"


def test_property_that_a_cast_goes_on_with_counts_from_its_beginning(tmp_path: Path) -> None:
    config = chain("plan make", "make ship end", "make make")
    two = {"at most": 2, "of": "make", "between": ["plan", "ship"]}
    failed = run(order(watched(config, two), tmp_path, _all(config, {"make": [NO, NO]})))
    three = watched(config, two | {"at most": 3})
    allowed = Allowed(retry=True, change=True)
    again = resume(Resumption(failed.folder, _all(config, {"make": [NO, NO, NO]}), {}, three, allowed))
    assert again.cast.failure is not None
    assert again.cast.failure["kind"] == "property"
    assert again.cast.path == ["plan", "make", "make", "make"]


def parallel() -> Json:
    """`plan`, then in streams `make` and `look`, then `ship`."""
    config = working(check={"materia": "Safe"}, materia={"Safe": {"prompt": "Do.", "parallelSafe": True}})
    (spec,) = config["loadouts"].values()
    spec["sockets"]["build"]["materia"] = "Safe"
    config["materia"]["Planner"] = {**config["materia"]["Planner"], "parallel": True}
    return config


STREAMS = [{"name": "east", "workItemIndexes": [0]}, {"name": "west", "workItemIndexes": [1]}]
SCHEDULED = PLAN | {"parallelSchedule": {"version": 1, "streams": STREAMS}}


@pytest.mark.parametrize(
    ("rule", "kind", "at"),
    [
        ({"never": "check", "before": "tell"}, "stream", "check"),
        ({"at most": 1, "of": "build", "between": ["plan", "end"]}, "property", "plan"),
        ({"after every": "build", "comes": "check"}, None, None),
        ({"never": "tell", "before": "check"}, None, None),
    ],
    ids=["in-each-stream", "in-all-together", "kept-by-each", "kept-by-all"],
)
def test_streams_are_watched_alone_and_together(
    rule: Json, kind: str | None, at: str | None, tmp_path: Path
) -> None:
    config = parallel()
    agent = _all(config, {"plan": SCHEDULED, "build": ["done"] * 2, "check": [YES] * 2})
    result = run(order(watched(config, rule), tmp_path, agent))
    failure = result.cast.failure or {}
    assert failure.get("kind") == kind
    if kind == "stream":
        assert failure["socket"] == at
        assert "would break the property" in failure["message"]
        assert "tell" not in result.cast.path
    elif kind == "property":
        assert "a visit of 'tell' would break" in failure["message"]
    else:
        assert result.status == "complete"
    assert replay(result.folder).status == result.status
