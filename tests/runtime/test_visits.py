from __future__ import annotations

from pathlib import Path

import pytest
from hand_written import STARTED, Told, edge, finished, place, turn, used, write

from materiac.runtime.journal import read
from materiac.runtime.visits import Visited, visits

DO, AGAIN = place("do", 1, "WI-1"), place("do", 2, "WI-1")
RAN: Told = ("command_finished", {**DO, "code": 0, "seconds": 0.2, "stdoutBytes": 3, "files": []})


def seen(folder: Path, *told: Told, running: bool = False) -> list[Visited]:
    return visits(read(write(folder, STARTED, *told)).records, running=running)


def listed(*names: str) -> list[dict[str, object]]:
    return [{"kind": "output", "file": name, "sha256": name, "bytes": 1} for name in names]


def test_a_visit_with_all_that_came_of_it(tmp_path: Path) -> None:
    [visit] = seen(
        tmp_path,
        ("socket_started", DO),
        turn(DO, usage=used(10, 2, 0.5), files=listed("a", "b")),
        turn(DO, 2, files=listed("c")),
        finished(DO, to="look", verdict=True, output=listed("c", "d"), files=listed("d")),
    )
    assert (visit.number, visit.place, visit.state, visit.attempt) == (
        1,
        {**DO, "stream": None},
        "finished",
        1,
    )
    assert (visit.verdict, visit.route, visit.blocked) == (True, edge("look"), None)
    assert (visit.seconds, visit.used.tokens, visit.used.unknown) == (3.0, 12, 1)
    assert [part["turn"] for part in visit.turns] == [1, 2]
    assert {part["file"]: part.get("turn") for part in visit.files} == {"a": 1, "b": 1, "c": 2, "d": None}


def test_attempts_at_an_item_are_counted(tmp_path: Path) -> None:
    other = place("do", 3, "WI-2")
    told = [("socket_started", DO), finished(DO), ("socket_started", AGAIN), ("socket_started", other)]
    assert [visit.attempt for visit in seen(tmp_path, *told)] == [1, 2, 1]


@pytest.mark.parametrize(
    ("told", "state"),
    [
        pytest.param([], "unfinished", id="nothing more"),
        pytest.param([RAN], "unfinished", id="a command"),
        pytest.param([("socket_waits", {**DO, "message": "who?"})], "waiting", id="waits"),
        pytest.param([("socket_failed", {**DO, "failure": {"kind": "agent"}})], "failed", id="failed"),
        pytest.param([finished(DO)], "finished", id="finished"),
        pytest.param(
            [("socket_waits", {**DO, "message": "who?"}), ("person_said", {**DO, "turn": 2, "file": None})],
            "unfinished",
            id="a person said",
        ),
    ],
)
def test_the_state_of_a_visit(tmp_path: Path, told: list[Told], state: str) -> None:
    [visit] = seen(tmp_path, ("socket_started", DO), *told)
    assert visit.state == state


def test_a_visit_of_a_running_cast_is_running(tmp_path: Path) -> None:
    [visit] = seen(tmp_path, ("socket_started", DO), running=True)
    assert visit.state == "running"


def test_time_stands_still_between_two_processes(tmp_path: Path) -> None:
    resumed: Told = ("cast_resumed", {"machine": "machine-2.json"})
    [visit] = seen(tmp_path, ("socket_started", DO), turn(DO), resumed, turn(DO, 2), finished(DO))
    assert visit.seconds == 3.0


def test_a_try_that_failed_keeps_its_files_under_other_names(tmp_path: Path) -> None:
    [visit, after] = seen(
        tmp_path,
        ("socket_started", DO),
        turn(DO, files=listed("do/1.md")),
        ("socket_failed", {**DO, "failure": {"kind": "agent"}, "files": []}),
        ("cast_resumed", {"machine": "machine-2.json"}),
        ("socket_restarted", {**DO, "moved": [{"from": "do/1.md", "to": "do/1.failed-1.md"}]}),
        turn(DO, files=listed("do/1.md")),
        finished(DO),
        ("socket_started", AGAIN),
    )
    assert (visit.tries, visit.state, visit.failure, visit.machine) == (2, "finished", None, "machine-2.json")
    assert [(part["file"], part.get("earlier")) for part in visit.files] == [
        ("do/1.failed-1.md", True),
        ("do/1.md", None),
    ]
    assert (len(visit.turns), after.number) == (2, 2)


def test_a_way_that_was_barred_and_taken_later(tmp_path: Path) -> None:
    told: list[Told] = [
        ("socket_started", DO),
        finished(DO, to="do", blocked="limit"),
        ("socket_failed", {**DO, "failure": {"kind": "edge-limit"}, "files": []}),
    ]
    [visit] = seen(tmp_path / "barred", *told)
    assert (visit.state, visit.blocked, visit.cleared) == ("finished", "limit", False)
    assert visit.failure == {"kind": "edge-limit"}
    [visit, _] = seen(tmp_path / "taken", *told, ("cast_resumed", {}), ("socket_started", AGAIN))
    assert visit.cleared


def test_streams_are_told_apart(tmp_path: Path) -> None:
    one, other = {**DO, "stream": "a"}, {**DO, "stream": "b"}
    found = seen(tmp_path, ("socket_started", one), ("socket_started", other), finished(other), turn(one))
    assert [(visit.place["stream"], visit.state) for visit in found] == [
        ("a", "unfinished"),
        ("b", "finished"),
    ]


def test_what_is_unknown_or_missing_does_not_matter(tmp_path: Path) -> None:
    found = seen(
        tmp_path,
        ("socket_started", {"socket": "do", "visit": 1}),
        ("something_new", {"socket": "do", "visit": 1}),
        ("turn_finished", {"socket": "do", "visit": 1, "files": [{"kind": "output"}, "a", None]}),
        ("turn_finished", {"socket": "other", "visit": 7}),
        ("socket_failed", {"socket": "do"}),
        ("socket_finished", {"socket": "do", "visit": 1}),
        ("socket_restarted", {"socket": "new", "visit": 1}),
    )
    assert [(visit.place["socket"], visit.state) for visit in found] == [
        ("do", "finished"),
        ("new", "unfinished"),
    ]
    assert found[0].as_data()["route"] is None
