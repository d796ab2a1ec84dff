"""`materiac abort`: stopping a cast from outside, whatever it is doing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from desk import LONG_S
from going import Going, is_alive, wait_for

SOON_S = 5.0
"""It takes two seconds at most, and the start of a process, on a machine that is not busy."""
TREE = "setsid sleep 300 & echo $! > stray; echo $$ > shell; while :; do sleep 300; done"
STUBBORN = f"trap '' TERM; {TREE}"


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Going]:
    desk = Going(tmp_path, capsys)
    washes(desk, TREE)
    yield desk
    for pid in pids(desk):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def washes(desk: Going, script: str) -> None:
    command = {"command": ["sh", "-c", script], "timeoutMs": 300_000}
    desk.loadout({"wash": {"materia": "Wash"}}, {"Wash": command})


def agents(desk: Going, answer: object, *, talks: bool = False) -> None:
    desk.loadout({"wash": {"materia": "Wash"}}, {"Wash": {"prompt": "Wash.", "multiTurn": talks}})
    desk.answers(wash=answer)


def pids(desk: Going) -> list[int]:
    names = ("shell", "stray")
    return [int(file.read_text()) for name in names if (file := desk.folder / name).exists()]


def works(desk: Going) -> None:
    wait_for((desk.folder / "shell").exists)
    wait_for(lambda: len(pids(desk)) == 2)


def ended(desk: Going) -> list[str]:
    return [record["status"] for record in desk.kinds("cast_finished")]


def assert_aborted(desk: Going, process: subprocess.Popen[str]) -> None:
    began = time.monotonic()
    done = desk.really("abort")
    assert time.monotonic() - began < SOON_S
    assert (done.code, done.out, done.err) == (0, f"{desk.cast.name} stopped\n", "")
    out, err = process.communicate(timeout=LONG_S)
    assert (process.returncode, json.loads(out)["status"], err) == (4, "stopped", "")
    assert [is_alive(pid) for pid in pids(desk)] == [False] * len(pids(desk))
    assert ended(desk) == ["stopped"]


@pytest.mark.parametrize("script", [TREE, STUBBORN], ids=["listens", "does not listen"])
def test_a_cast_that_runs_a_command(desk: Going, script: str) -> None:
    washes(desk, script)
    with desk.running("--json") as process:
        works(desk)
        assert_aborted(desk, process)


def test_a_cast_that_asks_an_agent(desk: Going) -> None:
    agents(desk, {"text": "done", "delayMs": 300_000})
    with desk.running("--json") as process:
        wait_for(lambda: any(desk.files.glob("*/contexts/wash/1.md")))
        assert_aborted(desk, process)


def test_a_process_that_stands_still(desk: Going) -> None:
    with desk.running("--json") as process:
        works(desk)
        process.send_signal(signal.SIGSTOP)
        assert_aborted(desk, process)


def test_a_cast_that_waits(desk: Going) -> None:
    agents(desk, ["Which car?", "Done."], talks=True)
    desk.begin()
    for _ in range(2):
        assert desk.go("abort").out == f"{desk.cast.name} stopped\n"
    assert ended(desk) == ["waiting", "stopped"]
    assert "it was stopped" in desk.go("continue").err
    assert desk.go("resume").code == 4
    assert desk.go("continue").code == 0


def test_a_cast_that_was_interrupted(desk: Going) -> None:
    with desk.running() as process:
        works(desk)
        process.kill()
        process.communicate(timeout=LONG_S)
    left = pids(desk)
    assert [is_alive(pid) for pid in left] == [True, True]
    done = desk.go("abort")
    assert (done.code, done.out) == (0, f"{desk.cast.name} stopped\n")
    assert [is_alive(pid) for pid in left] == [False, False]
    assert ended(desk) == ["stopped"]


@pytest.mark.parametrize(
    ("answer", "status"), [("Done.", "complete"), ({"error": "down"}, "failed")], ids=["complete", "failed"]
)
def test_a_cast_that_is_over(desk: Going, answer: object, status: str) -> None:
    agents(desk, answer)
    desk.begin()
    before = (desk.cast / "events.jsonl").read_bytes()
    done = desk.go("abort", desk.cast.name[:8])
    assert (done.code, done.out) == (0, f"{desk.cast.name} {status}\n")
    assert (desk.cast / "events.jsonl").read_bytes() == before


def test_what_was_stopped_goes_on(desk: Going) -> None:
    agents(desk, {"text": "done", "delayMs": 300_000})
    with desk.running("--json") as process:
        wait_for(lambda: any(desk.files.glob("*/contexts/wash/1.md")))
        assert_aborted(desk, process)
    agents(desk, "It is washed.")
    done = desk.go("resume")
    assert done.code == 0
    assert "answer     It is washed.\n" in done.out
    assert ended(desk) == ["stopped", "complete"]


def test_a_process_that_does_not_end(desk: Going, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody else holds the journal, and does not listen."""
    agents(desk, "Done.")
    desk.begin()
    monkeypatch.setattr("materiac.cli.abort._PATIENCE_S", 0.3)
    code = (
        "import fcntl, signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "file = open(sys.argv[1], 'ab'); fcntl.flock(file, fcntl.LOCK_EX); print('held', flush=True)\n"
        "time.sleep(300)"
    )
    command = ["python3", "-c", code, str(desk.cast / "events.jsonl")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "held\n"
            done = desk.call_here(desk.capture, "abort")
            assert (done.code, done.out) == (3, "")
            assert f"process {process.pid} on " in done.err
            assert "has not stopped yet" in done.err
        finally:
            process.kill()
