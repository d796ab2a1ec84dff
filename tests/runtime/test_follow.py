from __future__ import annotations

from pathlib import Path

import pytest
from hand_written import STARTED, held, place, write

from materiac.runtime.follow import Following
from materiac.runtime.journal import JournalError


def numbers(following: Following, *, last: bool = False) -> list[int]:
    return [record.n for _, record in following.more(last=last)]


def test_each_record_comes_once(tmp_path: Path) -> None:
    journal = tmp_path / "events.jsonl"
    following = Following(journal)
    assert numbers(following) == []
    with held(journal, STARTED) as other:
        assert numbers(following) == [1]
        assert numbers(following) == []
        other.append("socket_started", **place("do"))
        other.append("something", text="\u2028")
        assert numbers(following) == [2, 3]


def test_the_lines_are_as_they_are(tmp_path: Path) -> None:
    journal = write(tmp_path, STARTED, ("event", {"event": {"type": "x\u2028\x85"}}))
    lines = [line for line, _ in Following(journal).more()]
    assert b"".join(line + b"\n" for line in lines) == journal.read_bytes()


@pytest.mark.parametrize("cut", [1, 2, 10, 60])
def test_a_torn_last_line_waits(tmp_path: Path, cut: int) -> None:
    journal = write(tmp_path, STARTED, ("event", {"text": "a" * 60}))
    whole = journal.read_bytes()
    following = Following(journal)
    journal.write_bytes(whole[:-cut])
    assert numbers(following) == [1]
    journal.write_bytes(whole)
    assert numbers(following) == [2]


@pytest.mark.parametrize(
    ("end", "found"),
    [
        pytest.param(b"", [1, 2], id="only its end is missing"),
        pytest.param(b"\0\0\0", [1, 2], id="zeros in the place of its end"),
        pytest.param(b"\n\0\0\0", [1, 2], id="zeros behind it"),
        pytest.param(b'\n{"n":3,"at":', [1, 2], id="another one is torn"),
    ],
)
def test_the_last_time(tmp_path: Path, end: bytes, found: list[int]) -> None:
    journal = write(tmp_path, STARTED, ("event", {}))
    journal.write_bytes(journal.read_bytes().removesuffix(b"\n") + end)
    assert numbers(Following(journal), last=True) == found


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    journal = write(tmp_path, STARTED, ("event", {"a": 1}), ("event", {}))
    journal.write_bytes(journal.read_bytes().replace(b'"a":1', b'"a":2'))
    following = Following(journal)
    coming = following.more()
    next(coming)
    with pytest.raises(JournalError, match=r"^line 2 of ") as caught:
        next(coming)
    assert caught.value.line == 2


def test_a_folder_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").mkdir()
    with pytest.raises(JournalError, match=r"^cannot read "):
        numbers(Following(tmp_path / "events.jsonl"))


def test_it_goes_on_while_its_process_lives(tmp_path: Path) -> None:
    journal = tmp_path / "events.jsonl"
    with held(journal, ("cast_started", {**STARTED[1], "pid": "own"}), ("event", {})) as other:
        following = Following(journal)
        assert numbers(following) == [1, 2]
        assert following.goes_on()
        other.process.kill()
        other.process.wait()
        assert not following.goes_on()
