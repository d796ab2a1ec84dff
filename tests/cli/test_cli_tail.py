from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from hand_written import ID, STARTED, Held, Told, finished, held, place
from looking import LONG_S, Shed

DO, LOOK = place("do", 1, "WI-1"), place("look")
CAST: list[Told] = [
    STARTED,
    ("socket_started", DO),
    finished(DO, to="look"),
    ("socket_started", LOOK),
    finished(LOOK),
    ("cast_finished", {"status": "complete", "failure": None, "waiting": None}),
]
WORDS = [
    "12:00:00  agent      scripted:answers.json",
    f"          cast       {ID}",
    "12:00:01  do (Do) WI-1 'the WI-1' …",
    "12:00:02  do (Do) WI-1 'the WI-1' → look  (1.0 s)",
    "12:00:03  look (Look) …",
    "12:00:04  look (Look) → end  (1.0 s)",
    "12:00:05  the cast is complete",
]


@pytest.fixture
def shed(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shed:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    return Shed(tmp_path, capsys)


def lines_of(process: subprocess.Popen[str], count: int) -> list[str]:
    assert process.stdout
    return [process.stdout.readline() for _ in range(count)]


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    out, err = process.communicate(timeout=LONG_S)
    assert err == ""
    return process.returncode, out


def test_the_records_in_words(shed: Shed) -> None:
    shed.cast(ID, *CAST)
    shown = shed.look("tail", ID[9:])
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.splitlines() == WORDS


def test_the_records_as_they_are(shed: Shed) -> None:
    journal = shed.cast(ID, *CAST, ("event", {"text": "\u2028\x85"})) / "events.jsonl"
    assert shed.look("tail", "--json").out == journal.read_text(encoding="utf-8")


@pytest.mark.parametrize("follow", [[], ["-f"]])
def test_the_last_few(shed: Shed, follow: list[str]) -> None:
    journal = shed.cast(ID, *CAST) / "events.jsonl"
    assert shed.look("tail", "-n", "2", *follow).out.splitlines() == WORDS[-2:]
    told = shed.look("tail", "-n", "2", "--json", *follow).out.splitlines()
    assert told == journal.read_text(encoding="utf-8").splitlines()[-2:]


def test_a_cast_that_went_on_and_failed(shed: Shed) -> None:
    resumed = {"pid": 7, "host": "box", "agent": "ask", "hash": "0" * 64, "accepted": None}
    failure = {"kind": "agent", "message": "no reply", "socket": "do", "visit": 1, "item": None}
    said = {**DO, "turn": 2, "file": None}
    shed.cast(
        ID,
        STARTED,
        ("cast_resumed", {**resumed, "rerun": True, "maxTokens": 9000, "maxCostUsd": 2.5}),
        ("person_said", {**said, "file": "x.md"}),
        ("person_said", said),
        ("streams_finished", {"streams": [{"name": "a", "status": "complete"}]}),
        ("cast_finished", {"status": "failed", "failure": failure, "waiting": None}),
    )
    told = shed.look("tail").out
    assert (
        "12:00:01  process 7 on 'box' goes on with the cast, to run what may have run, "
        "with a budget of 9,000 tokens, with a budget of 2.5 US dollars\n"
    ) in told
    assert told.endswith(
        "12:00:02  a person has spoken at 'do', visit 1, WI-1 'the WI-1'\n"
        "12:00:03  a person asks for the final form at 'do', visit 1, WI-1 'the WI-1'\n"
        "12:00:04  streams: 'a' complete\n"
        "12:00:05  the cast is failed: agent at 'do', visit 1: no reply\n"
    )


def test_a_cast_without_records(shed: Shed) -> None:
    (shed.root / ID).mkdir(parents=True)
    for words in (["tail"], ["tail", "-f"]):
        shown = shed.look(*words)
        assert (shown.code, shown.out) == (0, "")
        assert "has no record yet" in shown.err


def test_what_comes_before_a_broken_line_is_shown(shed: Shed) -> None:
    journal = shed.cast(ID, *CAST) / "events.jsonl"
    journal.write_bytes(
        journal.read_bytes().replace(b'"visit":1,"itemKey":null', b'"visit":2,"itemKey":null')
    )
    shown = shed.look("tail")
    assert (shown.code, shown.out.splitlines()) == (1, WORDS[:4])
    assert "line 4 of " in shown.err


def following(shed: Shed, other: Held, *words: str) -> None:
    """Follow a cast from its beginning to its end."""
    with shed.started("tail", "-f", *words) as process:
        first = lines_of(process, 1)
        other.append("socket_started", **DO)
        second = lines_of(process, 1)
        other.append("cast_finished", status="complete")
        third = lines_of(process, 1)
        assert process.poll() is None
        other.end()
        assert ended(process) == (0, "")
    texts = [*first, *second, *third]
    if "--json" in words:
        assert [json.loads(text)["n"] for text in texts] == [2, 3, 4]
    else:
        assert [text[10:] for text in texts] == [
            "look (Look) …\n",
            "do (Do) WI-1 'the WI-1' …\n",
            "the cast is complete\n",
        ]


@pytest.mark.parametrize("words", [[], ["--json"]], ids=["words", "json"])
def test_following_a_cast_to_its_end(shed: Shed, words: list[str]) -> None:
    (shed.root / ID).mkdir(parents=True)
    begun: list[Told] = [("cast_started", {**STARTED[1], "pid": "own"}), ("socket_started", LOOK)]
    with held(shed.root / ID / "events.jsonl", *begun) as other:
        following(shed, other, "-n", "1", *words)


def test_following_a_cast_whose_process_is_killed(shed: Shed) -> None:
    journal = shed.root / ID / "events.jsonl"
    journal.parent.mkdir(parents=True)
    with (
        held(journal, ("cast_started", {**STARTED[1], "pid": "own"})) as other,
        shed.started("tail", "-f") as process,
    ):
        lines_of(process, 2)
        other.append("socket_started", **DO)
        whole = journal.read_bytes()
        with journal.open("ab") as file:
            file.write(b'{"n":3,"at":"2031')
        lines_of(process, 1)
        time.sleep(0.3)
        assert process.poll() is None
        os.truncate(journal, len(whole))
        other.append("socket_started", **LOOK)
        assert [line[10:] for line in lines_of(process, 1)] == ["look (Look) …\n"]
        other.process.kill()
        assert ended(process) == (0, "")


def test_a_last_line_without_its_end_is_told_when_nobody_writes_any_more(shed: Shed) -> None:
    journal = shed.cast(ID, *CAST) / "events.jsonl"
    journal.write_bytes(journal.read_bytes()[:-1])
    for words in (["tail"], ["tail", "-f"]):
        assert shed.look(*words).out.splitlines() == WORDS


def test_an_interrupt_ends_following(shed: Shed) -> None:
    journal = shed.root / ID / "events.jsonl"
    journal.parent.mkdir(parents=True)
    with (
        held(journal, ("cast_started", {**STARTED[1], "pid": "own"})),
        shed.started("tail", "-f") as process,
    ):
        lines_of(process, 2)
        process.send_signal(signal.SIGINT)
        assert ended(process) == (0, "")
