from __future__ import annotations

import json
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from receiver import (
    BROKEN,
    CAST_ID,
    NEVER,
    OK,
    Answer,
    Receiver,
    brief,
    casting,
    outcomes,
    receiving,
    seconds,
    sink,
)

from materiac.environment import Mask
from materiac.eventing import Dispatcher
from materiac.runtime.journal import Record

FAILURE = {"kind": "output", "message": "no object", "socket": "plan", "visit": 1, "item": None}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as one:
        yield one


def test_what_a_cast_tells(receiver: Receiver, tmp_path: Path) -> None:
    place = {"socket": "plan", "materia": "Planner", "visit": 1, "itemKey": "WI-1", "itemLabel": "sweep"}
    with casting(tmp_path, {"hook": sink(receiver.url)}) as cast:
        started = cast.append("cast_started", castId=CAST_ID, loadout="Chores", request="tidy")
        cast.append("socket_started", **place)
        cast.append("turn_finished", **place, turn=1)
        cast.say("result.done", severity="warning", message="it is done", payload={"n": 1}, source="me")
        cast.append("socket_finished", **place, verdict=True, route={"kind": "edge", "to": "end"})
        cast.append("cast_finished", status="complete", failure=None, waiting=None)
    assert receiver.types == [
        "lifecycle.cast.started",
        "lifecycle.socket.started",
        "result.done",
        "lifecycle.socket.finished",
        "lifecycle.cast.completed",
    ]
    assert receiver.ids == [f"{CAST_ID}:{n}" for n in (1, 2, 4, 5, 6)]
    assert receiver.requests[0].body == {
        "id": f"{CAST_ID}:1",
        "type": "lifecycle.cast.started",
        "castId": CAST_ID,
        "n": 1,
        "at": started.at,
        "severity": "info",
        "payload": {"loadout": "Chores", "request": "tidy"},
    }
    said = receiver.requests[2].body
    assert {
        key: said[key] for key in ("severity", "message", "payload", "source", "socket", "visit", "n")
    } == {
        "severity": "warning",
        "message": "it is done",
        "payload": {"n": 1},
        "source": "me",
        "socket": "plan",
        "visit": 1,
        "n": 4,
    }
    assert receiver.requests[3].body["payload"] == {"verdict": True, "to": "end"}
    assert receiver.requests[3].body["itemKey"] == "WI-1"


def test_a_request_says_what_it_is(receiver: Receiver, tmp_path: Path) -> None:
    fields = {"method": "PUT", "headersFromEnv": {"Authorization": "HOOK_AUTH", "X-Team": "TEAM"}}
    with casting(tmp_path, {"hook": sink(receiver.url, **fields)}, {"HOOK_AUTH": "Bearer abc"}) as cast:
        cast.say("a.b")
    (request,) = receiver.requests
    assert (request.method, request.path) == ("PUT", "/hook")
    assert request.headers["content-type"] == "application/json"
    assert request.headers["materiac-event-id"] == f"{CAST_ID}:1"
    assert request.headers["authorization"] == "Bearer abc"
    assert "x-team" not in request.headers
    assert cast.dispatcher.notes == (
        "the sink 'hook' gets no header 'X-Team': the variable 'TEAM' is not set",
    )


def test_user_and_password_of_a_url_are_basic_authentication(receiver: Receiver, tmp_path: Path) -> None:
    url = receiver.url.replace("//", "//ann:p%40ss@")
    with casting(tmp_path, {"hook": sink(url)}) as cast:
        cast.say("a.b")
    assert receiver.requests[0].headers["authorization"] == "Basic YW5uOnBAc3M="
    assert receiver.requests[0].path == "/hook"


@pytest.mark.parametrize(
    ("status", "failure", "waiting", "type_"),
    [
        ("complete", None, None, "lifecycle.cast.completed"),
        ("failed", FAILURE, None, "lifecycle.cast.failed"),
        ("stopped", None, None, "lifecycle.cast.cancelled"),
        ("waiting", None, "say something", "lifecycle.cast.waiting"),
    ],
)
def test_the_end_of_a_cast_is_told_once(
    receiver: Receiver, tmp_path: Path, status: str, failure: Any, waiting: Any, type_: str
) -> None:
    with casting(tmp_path, {"hook": sink(receiver.url)}) as cast:
        if failure:
            cast.append("socket_failed", socket="plan", visit=1, failure=failure, files=[])
        cast.append("cast_finished", status=status, failure=failure, waiting=waiting)
    ends = [
        request.body for request in receiver.requests if request.body["type"].startswith("lifecycle.cast.")
    ]
    assert [end["type"] for end in ends] == [type_]
    assert ends[0].get("message") == (failure or {}).get("message", waiting)
    assert ends[0].get("payload") == failure


def test_nobody_passes_for_the_cast(receiver: Receiver, tmp_path: Path) -> None:
    with casting(tmp_path, {"hook": sink(receiver.url)}) as cast:
        cast.say("lifecycle.cast.completed")
        cast.say("lifecycle")
        cast.say("lifecycles.a")
    assert receiver.types == ["emitted.lifecycle.cast.completed", "emitted.lifecycle", "lifecycles.a"]


def test_patterns_and_maps_of_two_sinks(receiver: Receiver, tmp_path: Path) -> None:
    form = {"text": "{{type}} says {{message}}", "what": "{{payload.list.1}}", "lost": "{{source}}", "k": 1}
    with receiving() as other:
        sinks = {
            "ends": sink(other.url, include=["lifecycle.cast.*"], exclude=["**.started"]),
            "results": sink(receiver.url, include=["result.*"], body="mapped", map=form),
        }
        with casting(tmp_path, sinks) as cast:
            cast.append("cast_started", castId=CAST_ID)
            cast.say("result.a", message="hi", payload={"list": [1, {"deep": True}]})
            cast.say("result.a.b")
            cast.append("cast_finished", status="complete")
        assert other.types == ["lifecycle.cast.completed"]
    assert [request.body for request in receiver.requests] == [
        {"text": "result.a says hi", "what": {"deep": True}, "lost": None, "k": 1}
    ]
    assert sorted((line["sink"], line["type"]) for line in outcomes(tmp_path)) == [
        ("ends", "lifecycle.cast.completed"),
        ("results", "result.a"),
    ]


RETRIED = {
    "500s": ([Answer(500), Answer(503), OK], 3),
    "429": ([Answer(429), OK], 2),
    "429 with a time to wait": ([Answer(429, {"Retry-After": "0"}), OK], 2),
    "a connection that breaks": ([BROKEN, OK], 2),
    "no answer": ([NEVER, OK], 2),
}


@pytest.mark.parametrize(("answers", "attempts"), RETRIED.values(), ids=RETRIED)
def test_an_event_is_sent_again_in_order(tmp_path: Path, answers: list[Answer], attempts: int) -> None:
    with receiving(*answers) as receiver:
        with casting(tmp_path, {"hook": sink(receiver.url, timeoutMs=300)}) as cast:
            cast.say("a.first")
            cast.say("a.second")
        assert receiver.types == ["a.first"] * attempts + ["a.second"]
        assert receiver.ids[:attempts] == [f"{CAST_ID}:1"] * attempts
    assert brief(tmp_path) == [("a.first", "delivered", attempts), ("a.second", "delivered", 1)]
    assert outcomes(tmp_path)[0]["status"] == 204


REFUSED = {
    "a client error": (Answer(404), 1, {"status": 404, "why": "the answer was 404"}),
    "a redirect": (
        Answer(302, {"Location": "/other"}),
        1,
        {"status": 302, "why": "a redirect, which is not followed"},
    ),
    "500s without end": (Answer(500), 3, {"status": 500, "why": "the answer was 500"}),
    "no answer ever": (NEVER, 3, {"why": "no answer within 100 ms"}),
    "connections that break": (BROKEN, 3, {"why": "the connection broke before the answer"}),
}


@pytest.mark.parametrize(("answer", "attempts", "said"), REFUSED.values(), ids=REFUSED)
def test_what_is_given_up_is_written_down(
    tmp_path: Path, answer: Answer, attempts: int, said: dict[str, Any]
) -> None:
    with receiving(answer) as receiver:
        with casting(tmp_path, {"hook": sink(receiver.url, timeoutMs=100, retries=2)}) as cast:
            cast.say("a.b")
        assert [request.path for request in receiver.requests] == ["/hook"] * attempts
    (line,) = outcomes(tmp_path)
    assert line["outcome"] == "failed"
    assert line["attempts"] == attempts
    assert {key: line[key] for key in ("status", "why") if key in line} == said


def test_nobody_listens(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with casting(tmp_path, {"hook": sink(f"http://127.0.0.1:{port}/", retries=1)}) as cast:
        cast.say("a.b")
    assert brief(tmp_path) == [("a.b", "failed", 2)]
    assert outcomes(tmp_path)[0]["why"] == "no connection"


def test_a_receiver_may_ask_for_time(tmp_path: Path) -> None:
    with receiving(Answer(429, {"Retry-After": "1"}), OK) as receiver:

        def deliver() -> None:
            with casting(tmp_path, {"hook": sink(receiver.url)}) as cast:
                cast.say("a.b")

        assert seconds(deliver) >= 1
        assert receiver.types == ["a.b", "a.b"]


@pytest.mark.parametrize("answer", [NEVER, Answer(after_s=0.5), Answer(500)], ids=["never", "slowly", "500"])
def test_a_bad_receiver_costs_the_cast_nothing(tmp_path: Path, answer: Answer) -> None:
    with receiving(answer) as receiver:
        with casting(tmp_path, {"hook": sink(receiver.url, firstPauseMs=60_000)}, close_s=0.2) as cast:
            cast.say("a.first")
            receiver.wait(1)
            assert seconds(lambda: [cast.say("a.b", payload={"n": n}) for n in range(300)]) < 2
            closing = seconds(lambda: cast.dispatcher.close(0.2))
        assert closing < 2
    told = [line["outcome"] for line in outcomes(tmp_path)]
    assert len(told) == 301
    assert told[-1] == "unsent"
    assert outcomes(tmp_path)[-1]["why"] == "the cast was over"


def test_over_a_full_queue_the_oldest_goes_but_no_end(tmp_path: Path) -> None:
    with receiving(Answer(after_s=0.3), OK) as receiver:
        with casting(tmp_path, {"hook": sink(receiver.url, queue=3)}) as cast:
            cast.say("a.first")
            receiver.wait(1)
            cast.append("cast_finished", status="stopped")
            for n in range(5):
                cast.say(f"a.n{n}")
        assert receiver.types == ["a.first", "lifecycle.cast.cancelled", "a.n3", "a.n4"]
    dropped = [line for line in outcomes(tmp_path) if line["outcome"] == "dropped"]
    assert [(line["type"], line["attempts"], line["why"]) for line in dropped] == [
        (f"a.n{n}", 0, "3 events were waiting") for n in range(3)
    ]


def test_ends_are_kept_where_nothing_else_waits(tmp_path: Path) -> None:
    with receiving(Answer(after_s=0.2), OK) as receiver:
        with casting(tmp_path, {"hook": sink(receiver.url, queue=1)}) as cast:
            cast.say("a.first")
            receiver.wait(1)
            cast.append("cast_finished", status="failed", failure=FAILURE)
            cast.append("cast_finished", status="complete")
        assert receiver.types == ["a.first", "lifecycle.cast.failed", "lifecycle.cast.completed"]


def test_a_heart_beats_while_a_cast_runs(receiver: Receiver, tmp_path: Path) -> None:
    with casting(tmp_path, {"hook": sink(receiver.url)}, heartbeat_ms=20) as cast:
        cast.append("cast_started", castId=CAST_ID)
        receiver.wait(3)
        cast.append("cast_finished", status="complete")
        assert not cast.dispatcher._closed.wait(0.1)
    assert receiver.types[:3] == ["lifecycle.cast.started", "lifecycle.heartbeat", "lifecycle.heartbeat"]
    assert receiver.types[-1] == "lifecycle.cast.completed"
    assert receiver.ids[1:3] == [f"{CAST_ID}:1.1", f"{CAST_ID}:1.2"]
    assert receiver.requests[2].body["payload"]["elapsedMs"] >= 20


def test_no_heart_beats_at_an_interval_of_nothing(receiver: Receiver, tmp_path: Path) -> None:
    with casting(tmp_path, {"hook": sink(receiver.url)}, heartbeat_ms=0) as cast:
        cast.append("cast_started", castId=CAST_ID)
        assert not cast.dispatcher._closed.wait(0.1)
    assert receiver.types == ["lifecycle.cast.started"]


def test_who_goes_on_sends_what_is_missing(receiver: Receiver, tmp_path: Path) -> None:
    with (
        receiving(OK, Answer(404), NEVER) as first,
        casting(tmp_path, {"hook": sink(first.url)}, close_s=0.3) as cast,
    ):
        for type_ in ("a.delivered", "a.failed", "a.asked", "a.waiting"):
            cast.say(type_)
        first.wait(3)
    assert brief(tmp_path)[2:] == [("a.asked", "unsent", 1), ("a.waiting", "unsent", 0)]
    sinks = {"hook": sink(receiver.url), "other": sink(receiver.url, include=["a.delivered"])}
    with casting(tmp_path, sinks) as cast:
        cast.append("cast_resumed", pid=1)
    assert sorted(receiver.types) == ["a.asked", "a.delivered", "a.waiting", "lifecycle.cast.resumed"]
    mine = [line for line in outcomes(tmp_path) if line["sink"] == "hook"]
    assert [line["type"] for line in mine[4:]] == ["a.asked", "a.waiting", "lifecycle.cast.resumed"]


def test_a_crash_loses_no_event(receiver: Receiver, tmp_path: Path) -> None:
    with casting(tmp_path, {"hook": sink(receiver.url)}) as cast:
        for n in range(4):
            cast.say(f"a.n{n}")
    file = tmp_path / "events" / "dispatch.jsonl"
    whole = file.read_bytes()
    receiver.requests.clear()
    second = whole.index(b"\n") + 1
    file.write_bytes(whole[: second + 20])
    with casting(tmp_path, {"hook": sink(receiver.url)}):
        pass
    assert receiver.types == ["a.n1", "a.n2", "a.n3"]
    lines = file.read_text(encoding="utf-8").splitlines()
    assert lines[1] == whole[second : second + 20].decode()
    assert [json.loads(line)["type"] for line in (lines[0], *lines[2:])] == ["a.n0", "a.n1", "a.n2", "a.n3"]


def test_files_are_the_owners_alone(receiver: Receiver, tmp_path: Path) -> None:
    with casting(tmp_path, {"hook": sink(receiver.url)}) as cast:
        cast.say("a.b")
    assert stat.S_IMODE((tmp_path / "events").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "events" / "dispatch.jsonl").stat().st_mode) == 0o600


@pytest.mark.parametrize("linked", ["events", "events/dispatch.jsonl"])
def test_no_link_is_written_through(receiver: Receiver, tmp_path: Path, linked: str) -> None:
    folder, elsewhere = tmp_path / "cast", tmp_path / "elsewhere"
    (folder / linked).parent.mkdir(parents=True)
    if linked == "events":
        elsewhere.mkdir()
    else:
        elsewhere.write_text("", encoding="utf-8")
    (folder / linked).symlink_to(elsewhere)
    with casting(folder, {"hook": sink(receiver.url)}) as cast:
        cast.say("a.b")
    assert receiver.types == ["a.b"]
    assert cast.dispatcher.notes[0].startswith("what is sent is not written down: ")
    assert (list(elsewhere.iterdir()) == []) if elsewhere.is_dir() else elsewhere.read_text() == ""


def test_what_is_not_enabled_does_not_begin(tmp_path: Path) -> None:
    for settings in ({}, {"enabled": False, "sinks": {"hook": sink("http://127.0.0.1:9/")}}):
        assert Dispatcher.begin(settings, tmp_path, CAST_ID, Mask(()), {}) is None
    assert list(tmp_path.iterdir()) == []


def test_no_client_is_loaded_where_nothing_is_sent(tmp_path: Path) -> None:
    program = """
import sys
from pathlib import Path
from materiac.environment import Mask
from materiac.eventing import Dispatcher
for settings in ({"enabled": False}, {"enabled": True, "sinks": {}}):
    Dispatcher.begin(settings, Path(sys.argv[1]), "c", Mask(()), {})
sys.exit("urllib3" in sys.modules)
"""
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True)


ODD: list[Any] = [None, 3, "x", [], {}, {"type": 3}, {"status": []}]


@pytest.mark.parametrize("odd", ODD, ids=map(repr, ODD))
@pytest.mark.parametrize(
    "kind", ["event", "cast_finished", "cast_started", "socket_failed", "socket_finished"]
)
def test_no_record_makes_it_raise(tmp_path: Path, kind: str, odd: Any) -> None:
    dispatcher = Dispatcher.begin({"enabled": True}, tmp_path, CAST_ID, Mask(()), {})
    assert dispatcher is not None
    keys = ("event", "failure", "route", "status", "waiting", "request", "socket", "visit")
    dispatcher(Record(1, "2031-05-04T10:20:30Z", kind, dict.fromkeys(keys, odd)))
    dispatcher.close()


def test_what_json_cannot_say_fails_alone(receiver: Receiver, tmp_path: Path) -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    with casting(tmp_path, {"hook": sink(receiver.url)}) as cast:
        cast.dispatcher(
            Record(1, "2031-05-04T10:20:30Z", "event", {"event": {"type": "a.deep", "payload": deep}})
        )
        cast.say("a.half \ud800", message="\udc80")
    assert [line["outcome"] for line in outcomes(tmp_path)] == ["failed", "delivered"]
    assert receiver.requests[0].body["message"] == "\udc80"
