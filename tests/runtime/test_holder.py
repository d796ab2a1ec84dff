from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from hand_written import STARTED, Told, held, place, write

from materiac.runtime import holder as module
from materiac.runtime.holder import Holder, holder
from materiac.runtime.journal import Journal, read

HERE = socket.gethostname()
OWN: Told = ("cast_started", {**STARTED[1], "pid": "own"})

on_linux = pytest.mark.skipif(not Path("/proc/locks").exists(), reason="the system lists no locks")


@pytest.fixture(params=["listed", "not listed"])
def listing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With what the system lists, and as where it lists nothing."""
    if request.param == "not listed" or not Path("/proc/locks").exists():
        monkeypatch.setattr(module, "_LOCKS", Path("/nowhere"))
    return str(request.param)


@pytest.mark.usefixtures("listing")
def test_who_began_is_the_holder_until_it_ends(tmp_path: Path) -> None:
    journal = tmp_path / "events.jsonl"
    with held(journal, OWN, ("socket_started", place("a"))) as other:
        since = read(journal).records[0].at
        assert holder(journal) == Holder(other.process.pid, HERE, since)
        assert holder(journal, read(journal).records) == holder(journal)
        other.end()
        assert holder(journal) is None


@pytest.mark.usefixtures("listing")
def test_nobody_holds_the_journal_of_a_process_that_was_killed(tmp_path: Path) -> None:
    journal = tmp_path / "events.jsonl"
    with held(journal, OWN) as other:
        other.process.kill()
        other.process.wait()
        assert holder(journal) is None


@pytest.mark.usefixtures("listing")
def test_who_resumes_is_the_holder(tmp_path: Path) -> None:
    journal = write(tmp_path, STARTED)
    with held(journal, ("cast_resumed", {"pid": "own"})) as other:
        assert holder(journal) == Holder(other.process.pid, HERE, read(journal).records[1].at)


@on_linux
@pytest.mark.parametrize("told", [[], [STARTED]], ids=["no record", "the record of another"])
def test_a_holder_that_has_written_nothing_yet(tmp_path: Path, told: list[Told]) -> None:
    journal = write(tmp_path, *told)
    with held(journal) as other:
        assert holder(journal) == Holder(other.process.pid, HERE, "")


@on_linux
def test_the_holder_of_a_broken_journal(tmp_path: Path) -> None:
    journal = write(tmp_path, STARTED)
    with held(journal, OWN) as other:
        journal.write_bytes(b"x" + journal.read_bytes())
        assert holder(journal) == Holder(other.process.pid, HERE, "")


@pytest.mark.parametrize("name", ["events.jsonl", "gone.jsonl"])
def test_nobody_holds_what_nobody_writes(tmp_path: Path, name: str) -> None:
    write(tmp_path, STARTED)
    assert holder(tmp_path / name) is None


def test_a_number_that_another_process_has_now(tmp_path: Path) -> None:
    mine = {**STARTED[1], "pid": os.getpid(), "host": HERE}
    journal = write(tmp_path, ("cast_started", mine))
    assert Path("/proc/self/fd").exists() == (holder(journal) is None)


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"pid": 2**22 + 1}, id="no such process"),
        pytest.param({"pid": 2**80}, id="no number of a process"),
        pytest.param({"pid": "own"}, id="a word"),
        pytest.param({"pid": None}, id="none"),
        pytest.param({"host": "elsewhere"}, id="another machine"),
    ],
)
def test_nobody_holds_what_was_interrupted(tmp_path: Path, fields: dict[str, object]) -> None:
    mine = {**STARTED[1], "pid": os.getpid(), "host": HERE, **fields}
    path = write(tmp_path, ("cast_started", mine))
    with path.open("rb"):
        assert holder(path) is None


def test_nobody_holds_what_has_ended_where_no_locks_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LOCKS", Path("/nowhere"))
    journal = tmp_path / "events.jsonl"
    with held(journal, OWN, ("cast_finished", {"status": "complete"})):
        assert holder(journal) is None


def test_asking_takes_no_lock(tmp_path: Path) -> None:
    journal = write(tmp_path, STARTED)
    ask = (
        "import sys; from pathlib import Path; from materiac.runtime.holder import holder\n"
        "print('ready', flush=True)\nwhile True: holder(Path(sys.argv[1]))"
    )
    with subprocess.Popen([sys.executable, "-c", ask, str(journal)], stdout=subprocess.PIPE) as asking:
        try:
            assert asking.stdout
            asking.stdout.readline()
            for _ in range(200):
                Journal.reopen(journal)[0].close()
            assert asking.poll() is None
        finally:
            asking.kill()


@pytest.mark.parametrize(
    ("who", "words"),
    [
        (Holder(4711, "box", "2031-05-04T12:00:00Z"), "process 4711 on 'box' since 2031-05-04T12:00:00Z"),
        (Holder(4711, "box", ""), "process 4711 on 'box'"),
        (Holder(None, "box", ""), "a process on 'box'"),
    ],
    ids=str,
)
def test_in_words(who: Holder, words: str) -> None:
    assert str(who) == words
