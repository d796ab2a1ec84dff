"""Signals that stop a cast, wherever it is: nothing runs on, the journal says so, the exit code is 4."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from desk import LONG_S, Desk

pytestmark = pytest.mark.slow

SOON_S = 2.0
BUSY_S = 3.0
"""How much later all may be over on a machine that has much else to do."""

TREE = "sleep 60 & sleep 60 & wait"
DEAF_TREE = 'trap "" TERM; sleep 60 & sleep 60'
MARK = "STOPPING_TEST"
"""A variable that all have that come from a run of a test."""

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT]
HARD = pytest.mark.parametrize("number", SIGNALS[:2], ids=lambda number: number.name)

Process = subprocess.Popen[bytes]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    yield Desk(tmp_path)
    for pid in processes(tmp_path):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def utility(desk: Desk, script: str) -> None:
    command = {"command": ["sh", "-c", script], "timeoutMs": 300_000}
    desk.loadout({"wash": {"materia": "Wash"}}, {"Wash": command})


def agent(desk: Desk) -> None:
    desk.loadout({"wash": {"materia": "Wash"}}, {"Wash": {"prompt": "wash"}})


def streams(desk: Desk, count: int, work: dict[str, Any]) -> None:
    """A plan of so many streams with one item each, all at once."""
    step = {"cursor": "workItemIndex", "items": "state.workItems"}
    sockets = {
        "plan": {"materia": "Plan", "edges": [{"to": "wash"}]},
        "wash": {"materia": "Wash", "advance": step, "edges": [{"to": "wash"}]},
    }
    loop = {
        "sockets": ["wash"],
        "consumes": {"from": "plan", "output": "workItems"},
        "exits": [{"from": "wash", "condition": "always", "targetSocketId": "end"}],
        "parallel": {"maxConcurrency": count},
    }
    desk.loadout(
        sockets,
        {
            "Plan": {"prompt": "plan", "generator": True, "parallel": True},
            "Wash": {**work, "parallelSafe": True},
        },
        loops={"each": loop},
    )
    names = [f"s{number}" for number in range(count)]
    schedule = [{"name": name, "workItemIndexes": [index]} for index, name in enumerate(names)]
    plan = {
        "workItems": [{"title": name, "context": name} for name in names],
        "parallelSchedule": {"version": 1, "streams": schedule},
    }
    desk.answers(plan={"json": plan})


def processes(folder: Path, name: str = "") -> list[int]:
    """What runs that comes from a run in this folder, by the name of the program."""
    found = []
    mark = f"{MARK}={folder}".encode()
    for place in Path("/proc").iterdir():
        with suppress(OSError):
            if place.name.isdecimal() and mark in (place / "environ").read_bytes().split(b"\0"):
                program, _, rest = (place / "stat").read_text().partition("(")[2].rpartition(")")
                if rest.split()[0] not in "ZX" and program.startswith(name):
                    found.append(int(place.name))
    return found


def wait(come: Callable[[], object]) -> None:
    end = time.monotonic() + LONG_S
    while not come():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.02)


@contextmanager
def running(desk: Desk, *options: str, sleeps: int = 0) -> Iterator[Process]:
    """A run with pipes, when so many of what it started are asleep."""
    with subprocess.Popen(
        desk.words("--json", *options),
        cwd=desk.folder,
        # Something may be left open by what is interrupted.
        env=desk.environ({MARK: str(desk.folder), "PYTHONWARNINGS": ""}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            wait(lambda: len(processes(desk.folder, "sleep")) == sleeps and started(desk))
            yield process
        finally:
            process.kill()


def started(desk: Desk) -> bool:
    return any(desk.files.glob("*/contexts")) or any(desk.files.glob("*/events.jsonl"))


def stop(desk: Desk, process: Process, *numbers: signal.Signals, pause_s: float = 0.1) -> None:
    """Send signals, and see that all is over soon and as it should be."""
    began = time.monotonic()
    for index, number in enumerate(numbers):
        time.sleep(pause_s if index else 0)
        process.send_signal(number)
    _, err = process.communicate(timeout=LONG_S)
    assert (process.returncode, err) == (4, b"")
    assert processes(desk.folder) == []
    assert time.monotonic() - began < SOON_S + BUSY_S
    assert_stopped(desk)


def assert_stopped(desk: Desk) -> None:
    """The journal tells of the end, once."""
    ends = [record["status"] for record in desk.records() if record["type"] == "cast_finished"]
    assert ends == ["stopped"]
    assert desk.records()[-1]["type"] == "cast_finished"


@HARD
def test_a_utility_that_does_not_listen(desk: Desk, number: signal.Signals) -> None:
    utility(desk, DEAF_TREE)
    with running(desk, sleeps=2) as process:
        stop(desk, process, number)


@pytest.mark.parametrize("number", SIGNALS[2:], ids=lambda number: number.name)
def test_a_utility(desk: Desk, number: signal.Signals) -> None:
    """A lost terminal, and Ctrl-\\, stop a cast too: its commands would outlive it."""
    utility(desk, TREE)
    with running(desk, sleeps=2) as process:
        stop(desk, process, number)


@HARD
def test_an_agent(desk: Desk, number: signal.Signals) -> None:
    agent(desk)
    with running(desk, "--agent", f"command:sh -c '{TREE}'", sleeps=2) as process:
        stop(desk, process, number)


def test_streams_of_utilities(desk: Desk) -> None:
    streams(desk, 4, {"command": ["sh", "-c", TREE], "timeoutMs": 300_000})
    with running(desk, sleeps=8) as process:
        stop(desk, process, signal.SIGINT)


def test_streams_of_utilities_that_do_not_listen(desk: Desk) -> None:
    streams(desk, 4, {"command": ["sh", "-c", DEAF_TREE], "timeoutMs": 300_000})
    with running(desk, sleeps=8) as process:
        stop(desk, process, signal.SIGTERM)


def test_the_stream_that_takes_longest_to_end_is_waited_for(desk: Desk) -> None:
    deaf_first = f"""case "$(cat)" in *'"stream": "s0"'*) trap "" TERM;; esac; {TREE}"""
    streams(desk, 2, {"command": ["sh", "-c", deaf_first], "timeoutMs": 300_000})
    with running(desk, sleeps=4) as process:
        stop(desk, process, signal.SIGINT)
    finished = [record["status"] for record in desk.records() if record["type"] == "stream_finished"]
    assert finished == ["stopped"] * 2


def test_streams_of_agents(desk: Desk) -> None:
    streams(desk, 2, {"prompt": "wash"})
    plan = (desk.folder / "answers.json").read_text()
    (desk.folder / "answers.json").write_text(plan.replace('"plan":', '"wash": "done", "plan":'))
    (desk.folder / "agent.py").write_text(
        "import json, os, pathlib, subprocess\n"
        "plan = json.loads(pathlib.Path('answers.json').read_text())['sockets']['plan']['json']\n"
        "if os.environ['MATERIAC_SOCKET'] == 'plan': print(json.dumps(plan))\n"
        f"else: subprocess.run(['sh', '-c', '{TREE}'])\n"
    )
    words = f"command:{sys.executable} -S agent.py"
    with running(desk, "--agent", words, sleeps=4) as process:
        stop(desk, process, signal.SIGINT)


def test_more_signals_during_the_end(desk: Desk) -> None:
    utility(desk, DEAF_TREE)
    with running(desk, sleeps=2) as process:
        stop(desk, process, *[signal.SIGINT] * 3, *SIGNALS, pause_s=0.12)


def test_a_hail_of_signals(desk: Desk) -> None:
    utility(desk, TREE)
    with running(desk, sleeps=2) as process:
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=LONG_S)[1] == b""
        assert process.returncode == 4
    assert_stopped(desk)


@HARD
def test_an_agent_that_takes_its_time(desk: Desk, number: signal.Signals) -> None:
    agent(desk)
    desk.answers(wash={"text": "done", "delayMs": 60_000})
    with running(desk) as process:
        wait(lambda: any(desk.files.glob("*/contexts/wash/1.md")))
        stop(desk, process, number)


@HARD
def test_a_person_who_is_asked(desk: Desk, number: signal.Signals) -> None:
    agent(desk)
    with desk.terminal("--agent", "ask") as terminal:
        terminal.until_shown("alone ends it")
        terminal.type("half of an answer\nand the be")
        began = time.monotonic()
        if number == signal.SIGINT:
            terminal.type("\x03")
        else:
            terminal.process.send_signal(number)
        assert terminal.code() == 4
        assert time.monotonic() - began < SOON_S + BUSY_S
    assert_stopped(desk)


def test_between_visits(desk: Desk) -> None:
    """Somewhere in a cast that never rests: in a prompt, a file, a record, a step."""
    edges = [
        {"when": "satisfied", "to": "wash", "maxTraversals": 1_000_000},
        {"when": "not_satisfied", "to": "end"},
    ]
    desk.loadout({"wash": {"materia": "Wash", "parse": "json", "edges": edges}}, {"Wash": {"prompt": "wash"}})
    desk.answers(wash={"json": {"satisfied": True}})
    with running(desk) as process:
        wait(lambda: any(desk.files.glob("*/contexts/wash/20.md")))
        stop(desk, process, signal.SIGINT)
    assert [record["n"] for record in desk.records()] == list(range(1, len(desk.records()) + 1))


# What stops, by itself

FRAME = """
import os, signal, sys, threading, time
from materiac.cli.stopping import Stopping

class Dying:
    def __init__(self, last): self.last = last
    def __del__(self): self.last()

def kill(number=signal.SIGTERM):
    os.kill(os.getpid(), number)

def aua():
    raise ValueError("aua")

with Stopping(0.2) as stopping:
    try:
        {first}
        print("on", flush=True)
        time.sleep(60)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    try:
        {then}
    except KeyboardInterrupt:
        print("disturbed", flush=True)
kill(signal.SIGINT)
"""


@pytest.mark.parametrize(
    ("first", "then", "out", "err"),
    [
        pytest.param("kill()", "", "interrupted", "", id="one"),
        pytest.param("kill()", "kill(); kill(signal.SIGINT)", "interrupted", "", id="more-at-once"),
        pytest.param("kill()", "kill(); time.sleep(60)", "interrupted disturbed", "", id="too-long"),
        pytest.param(
            "kill()",
            "threading.Timer(0.05, kill).start(); threading.Event().wait()",
            "interrupted disturbed",
            "",
            id="too-long-with-threads",
        ),
        pytest.param("kill()", "time.sleep(0.3)", "interrupted", "", id="long-and-quiet"),
        pytest.param(
            "kill()", "stopping.too_late(); kill(); time.sleep(0.3)", "interrupted", "", id="too-late"
        ),
        pytest.param("Dying(kill)", "", "on interrupted", "", id="destructor"),
        pytest.param(
            "Dying(kill)", "kill(); time.sleep(60)", "on interrupted disturbed", "", id="destructor-and-more"
        ),
        pytest.param("Dying(aua); kill()", "", "interrupted", "ValueError: aua\n", id="other-error"),
    ],
)
def test_what_a_signal_interrupts(first: str, then: str, out: str, err: str, tmp_path: Path) -> None:
    """The first is heard, wherever it comes; others are if the end does not come."""
    text = FRAME.format(first=first, then=then or "pass")
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=tmp_path, capture_output=True, timeout=LONG_S, check=False
    )
    assert done.stdout.decode().split() == out.split()
    assert done.stderr.decode().endswith(err)
    assert bool(done.stderr) is bool(err)
    assert done.returncode == 0
