from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hand_written import ID, NOON, STARTED, Told, finished, held, place, turn, used, write

from materiac.runtime.summary import Summary, since, summary

DO = place("do", 1, "WI-1")
LOOK = place("look", 2, "WI-1", stream="a")
FAILURE = {"kind": "agent", "message": "no reply", "socket": "do", "visit": 1, "item": "WI-1"}


def ended(status: str, **more: Any) -> Told:
    return ("cast_finished", {"status": status, "failure": None, "waiting": None, "stateHash": "0", **more})


def summed(folder: Path, *told: Told, now: datetime = NOON + timedelta(hours=1)) -> Summary:
    write(folder / ID, *told)
    return summary(folder / ID, now)


@pytest.mark.parametrize(
    ("told", "state"),
    [
        pytest.param([], "not begun", id="nothing"),
        pytest.param([STARTED], "interrupted", id="begun"),
        pytest.param([STARTED, ("socket_started", DO)], "interrupted", id="in a visit"),
        pytest.param([STARTED, ended("complete")], "complete", id="complete"),
        pytest.param([STARTED, ended("failed", failure=FAILURE)], "failed", id="failed"),
        pytest.param([STARTED, ended("waiting", waiting="x")], "waiting", id="waiting"),
        pytest.param([STARTED, ended("stopped")], "stopped", id="stopped"),
        pytest.param([STARTED, ended("stopped"), ("cast_resumed", {})], "interrupted", id="resumed"),
    ],
)
def test_the_state(tmp_path: Path, told: list[Told], state: str) -> None:
    assert summed(tmp_path, *told).state == state


def test_a_running_cast(tmp_path: Path) -> None:
    journal = tmp_path / ID / "events.jsonl"
    journal.parent.mkdir()
    with held(journal, ("cast_started", {**STARTED[1], "pid": "own"}), ("socket_started", DO)) as other:
        found = summary(tmp_path / ID)
        assert (found.state, found.holder is not None) == ("running", True)
        assert found.holder
        assert found.holder.pid == other.process.pid
        other.append("cast_finished", status="complete")
        assert summary(tmp_path / ID).state == "complete"


def test_what_is_told_of_a_cast(tmp_path: Path) -> None:
    found = summed(
        tmp_path,
        STARTED,
        ("socket_started", DO),
        turn(DO, usage=used(100, 20, 0.1)),
        finished(DO, to="look"),
        ("socket_started", LOOK),
        turn(LOOK, usage=used(50, 5, 0.2)),
        turn(LOOK, 2),
        ended("waiting", waiting="for a person", waitingFor="person"),
        ("cast_resumed", {"agent": "ask", "maxTokens": 900, "maxCostUsd": None, "machine": "machine-2.json"}),
        ended("failed", failure=FAILURE),
    )
    assert (found.id, found.loadout, found.request, found.agent) == (ID, "Chores", "tidy the shed", "ask")
    assert (found.began, found.last) == ("2031-05-04T12:00:00.000000Z", "2031-05-04T12:00:09.000000Z")
    assert (found.age, found.visits, found.resumes) == (3600.0, 2, 1)
    assert found.at == {**LOOK, "began": "2031-05-04T12:00:04.000000Z"}
    assert (found.failure, found.waiting, found.waiting_for) == (FAILURE, None, None)
    assert (found.usage.tokens, found.usage.cost) == (175, Decimal("0.3"))
    assert (found.usage.turns, found.usage.unknown) == (3, 1)
    assert (found.machine, found.limits) == ("machine-2.json", {"maxTokens": 900, "maxCostUsd": None})


def test_as_data(tmp_path: Path) -> None:
    data = summed(tmp_path, STARTED, ("socket_started", DO)).as_data()
    assert list(data) == [
        "castId", "state", "reason", "loadout", "request", "agent", "began", "last", "ageSeconds", "visits",
        "at", "failure", "waiting", "waitingFor", "usage", "resumes", "holder", "artifacts",
    ]  # fmt: skip
    assert (data["castId"], data["ageSeconds"], data["artifacts"]) == (ID, 3600.0, str(tmp_path / ID))
    assert data["usage"] == {
        "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "cost": 0.0, "turns": 0, "unknown": 0,
    }  # fmt: skip


def test_records_of_other_kinds_and_fields_that_are_missing(tmp_path: Path) -> None:
    found = summed(
        tmp_path,
        ("cast_started", {}),
        ("something_new", {"socket": "x", "visit": 9}),
        ("socket_started", {"socket": "do"}),
        ("turn_finished", {}),
        ("turn_finished", {"usage": {"input": 5, "new": 7}}),
        ("turn_finished", {"usage": "much"}),
        ("cast_resumed", {}),
        ("cast_finished", {"status": "complete"}),
    )
    assert (found.state, found.loadout, found.request, found.visits) == ("complete", None, None, 1)
    assert (found.usage.input, found.usage.turns, found.usage.unknown) == (5, 3, 2)


@pytest.mark.parametrize("name", [ID, "a copy of it"])
def test_a_folder_without_a_journal(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    found = summary(tmp_path / name, NOON + timedelta(minutes=2))
    assert (found.state, found.age) == ("not begun", 120.0 if name == ID else 0.0)


def test_a_broken_journal(tmp_path: Path) -> None:
    journal = write(tmp_path / ID, STARTED, ("socket_started", DO), ended("complete"))
    first, second, third = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(first + second.replace(b"do", b"xx") + third)
    found = summary(tmp_path / ID, NOON)
    assert found.state == "broken"
    assert f"line 2 of '{journal}' is broken" in str(found.reason)


def test_a_record_that_is_missing(tmp_path: Path) -> None:
    journal = write(tmp_path / ID, STARTED, ("something", {}), ("something", {}), ("something", {}))
    first, _, third, fourth = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(first + third + fourth)
    assert summary(tmp_path / ID).state == "broken"


def test_a_torn_last_line_counts_for_nothing(tmp_path: Path) -> None:
    journal = write(tmp_path / ID, STARTED, ("socket_started", DO), ended("complete"))
    journal.write_bytes(journal.read_bytes()[:-9])
    assert summary(tmp_path / ID).state == "interrupted"


def test_no_age_is_negative(tmp_path: Path) -> None:
    assert summed(tmp_path, STARTED, now=NOON - timedelta(days=3)).age == 0
    assert since("2999-01-01T00:00:00Z") == 0


@pytest.mark.parametrize("at", [None, "", "yesterday"])
def test_a_time_that_is_unknown(at: str | None) -> None:
    assert since(at, datetime.now(UTC)) == 0
