"""Runs that are killed, and who goes on with their casts: one at a time, and nothing of the old one."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from desk import LONG_S
from going import Going, is_alive, wait_for

pytestmark = pytest.mark.slow

SLEEPS = """
echo run >> log
if [ -e fixed ]; then echo fine; exit; fi
setsid sleep 300 & echo $! > stray
echo $$ > shell
while :; do sleep 300; done
"""
"""A command with a child in a session of its own."""
STUBBORN = f"trap '' TERM; {SLEEPS}"
"""The same, which does not end when it is asked to."""

PIDS = ("shell", "stray", "agent")


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Going]:
    desk = Going(tmp_path, capsys)
    washes(desk)
    yield desk
    for pid in pids(desk):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def washes(desk: Going, script: str = SLEEPS, **more: bool) -> None:
    """A command between two agents."""
    sockets = {
        "soap": {"materia": "Agent", "edges": [{"to": "wash"}]},
        "wash": {"materia": "Wash", "edges": [{"to": "dry"}]},
        "dry": {"materia": "Agent"},
    }
    command = {"command": ["sh", "-c", script], "timeoutMs": 300_000, **more}
    desk.loadout(sockets, {"Agent": {"prompt": "Go on."}, "Wash": command})
    desk.answers(soap="soaped", dry="It is dry.")


def agent(desk: Going) -> str:
    """An agent that sleeps until there is a file `fixed`."""
    desk.write_text(
        "agent.sh", "if [ -e fixed ]; then echo fine; exit; fi\necho $$ > agent\nexec sleep 300\n"
    )
    (desk.folder / "answers.json").unlink()
    return "command:sh agent.sh"


def pids(desk: Going) -> list[int]:
    return [int(file.read_text()) for name in PIDS if (file := desk.folder / name).exists()]


def fix(desk: Going) -> None:
    (desk.folder / "fixed").touch()


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate(timeout=LONG_S)


def killed(desk: Going, *options: str, name: str = "shell") -> None:
    """Kill a run when what it has started is there."""
    with desk.running(*options) as process:
        wait_for((desk.folder / name).exists)
        wait_for((desk.folder / name).read_text)
        kill(process)


def test_a_command_that_may_have_run_does_not_run_again_by_itself(desk: Going) -> None:
    washes(desk, STUBBORN)
    killed(desk)
    left = pids(desk)
    assert [is_alive(pid) for pid in left] == [True, True]
    fix(desk)
    waiting = desk.really("resume", "--json")
    assert waiting.code == 4
    told = json.loads(waiting.out)
    assert (told["status"], told["path"]) == ("waiting", ["soap", "wash"])
    assert "it runs again only with --rerun" in told["waiting"]
    assert [is_alive(pid) for pid in left] == [False, False]
    assert desk.kinds("leftovers_ended")[0]["processes"] >= 2
    again = desk.go("resume")
    assert again.code == 4
    assert "--rerun" in again.err
    assert desk.log() == ["run"]
    done = desk.go("resume", "--rerun")
    assert (done.code, desk.log()) == (0, ["run", "run"])
    assert "path       soap → wash → dry\n" in done.out
    assert desk.go("replay").code == 0


def test_a_command_that_does_no_harm_runs_again(desk: Going) -> None:
    washes(desk, idempotent=True)
    killed(desk)
    fix(desk)
    done = desk.go("resume")
    assert (done.code, desk.log()) == (0, ["run", "run"])
    assert re.search(r"^ended \d leftovers of a run that was killed$", done.err, re.MULTILINE)


def test_an_agent_is_asked_again(desk: Going) -> None:
    killed(desk, "--agent", agent(desk), name="agent")
    [left] = pids(desk)
    assert is_alive(left)
    fix(desk)
    done = desk.go("resume")
    assert not is_alive(left)
    assert (done.code, desk.log()) == (0, ["run"])
    assert [record["turn"] for record in desk.kinds("turn_finished")] == [1, 1]


def test_what_was_finished_is_not_done_again(desk: Going) -> None:
    """The agent that answers now would say something else."""
    killed(desk)
    desk.write("others.json", {"sockets": {"soap": "twice", "dry": "Bone dry."}})
    fix(desk)
    assert desk.go("resume", "--rerun", "--agent", "scripted:others.json").code == 0
    assert (desk.cast / "sockets" / "soap" / "1.md").read_text() == "soaped"
    assert [record["socket"] for record in desk.kinds("turn_finished")] == ["soap", "dry"]


@pytest.mark.parametrize("command", ["resume", "continue", "say"])
def test_a_cast_that_is_being_run_is_left_alone(desk: Going, command: str) -> None:
    with desk.running() as process:
        wait_for((desk.folder / "shell").exists)
        before = (desk.cast / "events.jsonl").read_bytes()
        refused = desk.go(command, desk.cast.name, *(["hello"] if command == "say" else []))
        assert (refused.code, refused.out) == (2, "")
        who = f"process {process.pid} on '{socket.gethostname()}'"
        assert f"the cast is being run by {who}" in refused.err
        assert (desk.cast / "events.jsonl").read_bytes() == before
        assert process.poll() is None
        kill(process)


def test_of_two_who_go_on_one_does(desk: Going) -> None:
    killed(desk)
    (desk.folder / "shell").unlink()
    with ExitStack() as stack:
        both = [stack.enter_context(desk.started("resume", "--rerun")) for _ in range(2)]
        wait_for(lambda: any(process.poll() is not None for process in both))
        [loser] = [process for process in both if process.poll() is not None]
        [winner] = [process for process in both if process is not loser]
        out, err = loser.communicate(timeout=LONG_S)
        assert (loser.returncode, out) == (2, "")
        assert err.startswith("materiac: the cast is being run by ")
        assert f"process {winner.pid} on '{socket.gethostname()}'" in err
        wait_for((desk.folder / "shell").exists)
        assert len(desk.kinds("cast_resumed")) == 1
        kill(winner)
    fix(desk)
    assert desk.really("resume", "--rerun").code == 0
    assert desk.log() == ["run", "run", "run"]


def test_a_crash_that_left_half_a_line(desk: Going) -> None:
    killed(desk)
    fix(desk)
    with (desk.cast / "events.jsonl").open("ab") as journal:
        journal.write(b'{"n":99,"at":"20')
    assert desk.go("resume", "--rerun").code == 0
    numbers = [record["n"] for record in desk.records()]
    assert numbers == list(range(1, len(numbers) + 1))
