"""Stopping a run: Ctrl-C, SIGTERM, a closed terminal; nothing stays behind, and the status says it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from desk import LONG_S, Desk, Terminal

SOON_S = 6.0
"""Within this time everything has to be gone: it takes two seconds at most, on a machine that is not busy."""

TREE = """
sleep 300 & echo $! > child
setsid sleep 300 & echo $! > stray
echo $$ > started.new; mv started.new started
while :; do sleep 300; done
"""
"""A shell, a child, and a child in a session of its own."""
STUBBORN = f"trap '' TERM{TREE}"
"""The same, but they do not end when they are asked to."""


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    desk.loadout(
        {"wash": {"materia": "Wash"}}, {"Wash": {"command": ["bash", "-c", TREE], "timeoutMs": 300000}}
    )
    yield desk
    for pid in alive(tmp_path):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def washes(desk: Desk, script: str) -> None:
    command = {"command": ["bash", "-c", script], "timeoutMs": 300000}
    desk.loadout({"wash": {"materia": "Wash"}}, {"Wash": command})


def alive(folder: Path) -> list[int]:
    """Which processes of the tree there still are."""
    pids = [
        int(file.read_text()) for name in ("child", "stray", "started") if (file := folder / name).exists()
    ]
    return [pid for pid in pids if running(pid)]


def running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(folder: Path, since: float) -> bool:
    """Whether the tree is gone in time."""
    while alive(folder) and time.monotonic() - since < SOON_S:
        time.sleep(0.02)
    return not alive(folder) and time.monotonic() - since < SOON_S


@contextmanager
def washing(desk: Desk, *options: str) -> Iterator[Terminal]:
    """A run at a terminal whose tree is there."""
    with desk.terminal(*options) as terminal:
        terminal.until((desk.folder / "started").exists)
        terminal.until_shown("0:01")
        assert len(alive(desk.folder)) == 3
        yield terminal


def test_ctrl_c(desk: Desk) -> None:
    with washing(desk) as terminal:
        assert terminal.shown.rindex("\x1b[?25l") > terminal.shown.rfind("\x1b[?25h")
        before, began = terminal.attributes(), time.monotonic()
        terminal.type("\x03")
        assert terminal.code() == 4
        assert gone(desk.folder, began)
        assert terminal.attributes() == before
    assert terminal.shown.rindex("\x1b[?25h") > terminal.shown.rindex("\x1b[?25l")
    assert "stopped    at 'wash'\n" in terminal.text
    last = desk.records()[-1]
    assert (last["type"], last["status"]) == ("cast_finished", "stopped")


def test_ctrl_c_again_and_again(desk: Desk) -> None:
    """What ends the tree is not disturbed."""
    washes(desk, STUBBORN)
    with washing(desk) as terminal:
        began = time.monotonic()
        for pause in (0.0, 0.0, 0.2, 0.7):
            terminal.listen(pause)
            terminal.type("\x03")
        assert terminal.code() == 4
        assert gone(desk.folder, began)
    assert terminal.text.count("stopped") == 1
    assert "Traceback" not in terminal.text
    assert desk.records()[-1]["status"] == "stopped"


def test_a_terminal_that_is_closed(desk: Desk) -> None:
    with washing(desk) as terminal:
        began = time.monotonic()
        terminal.hang_up()
        assert gone(desk.folder, began)
        assert terminal.process.wait(timeout=LONG_S) == 4
    assert desk.records()[-1]["status"] == "stopped"


@contextmanager
def piped(desk: Desk, *before: str) -> Iterator[subprocess.Popen[bytes]]:
    """A run with pipes whose tree is there."""
    with subprocess.Popen(
        [*before, *desk.words("--json")],
        cwd=desk.folder,
        env=desk.environ(None),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            appears(desk.folder / "started")
            yield process
        finally:
            process.kill()


def appears(file: Path) -> None:
    end = time.monotonic() + LONG_S
    while not file.exists():
        assert time.monotonic() < end, f"{file} did not appear"
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals(desk: Desk, number: signal.Signals) -> None:
    with piped(desk) as process:
        began = time.monotonic()
        process.send_signal(number)
        out, err = process.communicate(timeout=LONG_S)
        assert gone(desk.folder, began)
    assert (process.returncode, err) == (4, b"")
    data = json.loads(out)
    assert (data["status"], data["path"], data["failure"]) == ("stopped", ["wash"], None)


def test_what_was_ignored_stays_ignored(desk: Desk) -> None:
    """Under nohup a hang-up does not stop a run."""
    with piped(desk, "nohup") as process:
        process.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        assert process.poll() is None
        assert len(alive(desk.folder)) == 3
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=LONG_S) == 4


def test_an_agent_is_ended_too(desk: Desk) -> None:
    desk.loadout({"wash": {"materia": "Wash"}}, {"Wash": {"prompt": "wash"}})
    (desk.folder / "agent.sh").write_text(TREE)
    with washing(desk, "--agent", "command:bash agent.sh") as terminal:
        began = time.monotonic()
        terminal.type("\x03")
        assert terminal.code() == 4
        assert gone(desk.folder, began)
    assert "stopped    at 'wash'\n" in terminal.text


def test_ctrl_c_while_a_person_is_asked(desk: Desk) -> None:
    desk.loadout({"plan": {"materia": "Plan"}}, {"Plan": {"prompt": "plan", "multiTurn": True}})
    desk.answers(plan="Which car?")
    with desk.terminal() as terminal:
        terminal.until_shown("final form> ")
        terminal.type("\x03")
        assert terminal.code() == 4
    assert "stopped    at 'plan'\n" in terminal.text
    assert terminal.shown.rindex("\x1b[?25h") > terminal.shown.rindex("\x1b[?25l")


def test_ctrl_c_before_there_is_a_cast(desk: Desk) -> None:
    """The loadout is still being read."""
    os.mkfifo(desk.folder / "slow.json")
    calm = desk.environ({"PYTHONWARNINGS": ""})  # a file may be left open by what is interrupted
    words = ["slow.json" if word == "loadout.json" else word for word in desk.words()]
    with subprocess.Popen(
        words, cwd=desk.folder, env=calm, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        # This waits until the run has opened the other end.
        writer = os.open(desk.folder / "slow.json", os.O_WRONLY)
        try:
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=LONG_S)
        finally:
            os.close(writer)
    assert (process.returncode, out, err) == (4, b"", b"materiac: stopped\n")
    assert not desk.files.exists()
