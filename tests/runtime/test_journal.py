from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
import zlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from materiac.runtime.journal import FullError, Journal, JournalError, Record, read

NOON = datetime(2031, 5, 4, 12, 0, 0, 250, tzinfo=UTC)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def sealed(body: str) -> bytes:
    data = body.encode()
    return data[:-1] + f',"crc":"{zlib.crc32(data):08x}"}}\n'.encode()


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "events.jsonl"
    with Journal.create(path, lambda: NOON) as journal:
        journal.append("cast_started", request="tidy the shed\u2028\x85\r\nand the attic")
        journal.append("socket_started", socket="Bäume", visit=1)
        journal.append("socket_finished", socket="Bäume", route={"to": "end", "satisfied": True})
    return path


def test_a_line_has_the_documented_form(small: Path) -> None:
    first, second, _ = small.read_bytes().splitlines(keepends=True)
    assert first == sealed(
        '{"n":1,"at":"2031-05-04T12:00:00.000250Z","type":"cast_started","format":1,'
        '"request":"tidy the shed\u2028\x85\\r\\nand the attic"}'
    )
    assert list(json.loads(second)) == ["n", "at", "type", "socket", "visit", "crc"]


def test_a_full_journal_takes_what_comes_of_work_and_no_new_work(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with Journal.create(path, max_bytes=400) as journal:
        journal.append("socket_started", visit=1)
        journal.append("turn_finished", note="x" * 400)
        size = path.stat().st_size
        for kind in ("socket_started", "socket_restarted"):
            with pytest.raises(
                FullError, match=r"would have \d+ bytes, 400 are allowed: raise 'limits\.maxJ"
            ):
                journal.append(kind, visit=2)
        assert path.stat().st_size == size
        journal.append("socket_finished", visit=1)
        journal.append("cast_finished", status="failed")
    full, _ = Journal.reopen(path, max_bytes=400)
    with full, pytest.raises(FullError):
        full.append("socket_started", visit=2)
    larger, _ = Journal.reopen(path, max_bytes=4000)
    with larger:
        larger.append("socket_started", visit=2)
    kinds = [record.type for record in read(path).records]
    assert kinds == ["socket_started", "turn_finished", "socket_finished", "cast_finished", "socket_started"]


def test_reading_gives_what_append_gave(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with Journal.create(path) as journal:
        given_back = [journal.append("a", value=[1, "x"]), journal.append("b", sync=False)]
    reading = read(path)
    assert list(reading.records) == given_back
    assert (reading.end, reading.cut) == (path.stat().st_size, 0)
    assert reading.records[0].fields == {"format": 1, "value": [1, "x"]}
    assert [record.n for record in reading.records] == [1, 2]


@given(st.lists(st.dictionaries(st.text().map("f_".__add__), json_values, max_size=3), max_size=4))
@settings(max_examples=40, deadline=None)
def test_any_fields_come_back(tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]) -> None:
    path = tmp_path_factory.mktemp("journal") / "events.jsonl"
    with Journal.create(path) as journal:
        for row in rows:
            journal.append("row", sync=False, **row)
    records = read(path).records
    assert [{k: v for k, v in r.fields.items() if k != "format"} for r in records] == rows


def test_a_lone_surrogate_comes_back(tmp_path: Path) -> None:
    with Journal.create(tmp_path / "j") as journal:
        journal.append("said", text='half a smile: \ud83d \\ "')
    assert read(tmp_path / "j").records[0].fields["text"] == 'half a smile: \ud83d \\ "'


def test_a_cut_at_any_byte_leaves_a_prefix(small: Path, tmp_path: Path) -> None:
    whole, records = small.read_bytes(), read(small).records
    ends = [i for i, byte in enumerate(whole) if byte == ord("\n")]
    for length in range(len(whole) + 1):
        for tail in (b"", b"\0" * 3):
            path = tmp_path / "cut"
            path.write_bytes(whole[:length] + tail)
            reading = read(path)
            assert reading.records == records[: sum(end <= length for end in ends)]
            assert reading.end + reading.cut == length + len(tail)


def test_a_journal_cut_at_any_byte_can_be_gone_on_with(small: Path, tmp_path: Path) -> None:
    whole, records = small.read_bytes(), read(small).records
    for length in range(0, len(whole) + 1, 7):
        path = tmp_path / f"cut-{length}"
        path.write_bytes(whole[:length] + b"\0")
        journal, reading = Journal.reopen(path, lambda: NOON)
        with journal:
            added = journal.append("cast_resumed")
        assert read(path).records == (*reading.records, added)
        assert reading.records == records[: added.n - 1]


def test_a_flipped_byte_before_the_last_line_is_an_error_of_its_line(small: Path, tmp_path: Path) -> None:
    whole = small.read_bytes()
    last_line = whole.rindex(b"\n", 0, -1) + 1
    changes = [(place, whole[place] ^ mask) for place in range(last_line) for mask in (1, 0x80)]
    changes += [(place, byte) for place in range(last_line) for byte in b"\n\0" if byte != whole[place]]
    for place, byte in changes:
        path = tmp_path / "flipped"
        path.write_bytes(whole[:place] + bytes([byte]) + whole[place + 1 :])
        with pytest.raises(JournalError) as caught:
            read(path)
        assert caught.value.line == whole[:place].count(b"\n") + 1


def test_a_damaged_last_line_is_not_taken_for_a_torn_one(small: Path) -> None:
    small.write_bytes(small.read_bytes().replace(b'"to":"end"', b'"to":"fin"'))
    with pytest.raises(JournalError, match=r"line 3 of .* is broken: its checksum does not fit"):
        read(small)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        pytest.param([0, 2], "line 2 of '.*' has the number 3", id="one left out"),
        pytest.param([0, 1, 1], "line 3 of '.*' has the number 2", id="one twice"),
        pytest.param([1, 2], "line 1 of '.*' has the number 2", id="no beginning"),
    ],
)
def test_numbers_have_no_gap(small: Path, lines: list[int], message: str) -> None:
    whole = small.read_bytes().splitlines(keepends=True)
    small.write_bytes(b"".join(whole[line] for line in lines))
    with pytest.raises(JournalError, match=message):
        read(small)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        pytest.param(
            sealed('{"n":1,"at":"","type":"x","format":2}'),
            "has format 2, this version reads format 1",
            id="later format",
        ),
        pytest.param(sealed('{"n":1}'), "line 1 of '.*' is no record: 'at'", id="no record"),
        pytest.param(b"\n", "line 1 of '.*' is broken", id="empty line"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, line: bytes, message: str) -> None:
    (tmp_path / "j").write_bytes(line)
    with pytest.raises(JournalError, match=message):
        read(tmp_path / "j")


def test_a_missing_journal_is_named(tmp_path: Path) -> None:
    for attempt in (read, Journal.reopen):
        with pytest.raises(JournalError, match=r"'.*/none': No such file"):
            attempt(tmp_path / "none")


def test_the_file_is_the_owners_alone_and_new(tmp_path: Path) -> None:
    path = tmp_path / "j"
    Journal.create(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(JournalError, match=r"cannot create '.*': File exists"):
        Journal.create(path)


def test_a_lock_that_is_about_to_be_given_up_is_waited_for(tmp_path: Path) -> None:
    """The child of a killed process holds it until it has become the command that it is to run."""
    first = Journal.create(tmp_path / "events.jsonl")
    first.append("cast_started")
    later = threading.Timer(0.05, first.close)
    later.start()
    second, reading = Journal.reopen(tmp_path / "events.jsonl")
    with second:
        assert [record.type for record in reading.records] == ["cast_started"]
    later.join()


def test_one_process_writes_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "j"
    with Journal.create(path) as journal:
        journal.append("x")
        with pytest.raises(JournalError, match="is being written by another process"):
            Journal.reopen(path)
        assert len(read(path).records) == 1
    Journal.reopen(path)[0].close()


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(float("nan"), id="NaN"),
        pytest.param({1, 2}, id="a set"),
        pytest.param(nested(100_000), id="nested too deep"),
    ],
)
def test_what_is_no_json_is_refused_and_harms_nothing(tmp_path: Path, value: object) -> None:
    with Journal.create(tmp_path / "j") as journal:
        with pytest.raises(JournalError, match="a record 'bad' cannot be written as JSON"):
            journal.append("bad", value=value)
        good = journal.append("good", value=nested(90))
    assert read(tmp_path / "j").records == (good,)


def test_reserved_names_are_no_fields(tmp_path: Path) -> None:
    with Journal.create(tmp_path / "j") as journal, pytest.raises(ValueError, match=r"\['n', 'type'\]"):
        journal.append("x", n=1, type="y")


def test_a_closed_journal_takes_nothing(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path / "j")
    journal.close()
    journal.close()
    with pytest.raises(JournalError, match=r"'.*' is closed"):
        journal.append("x")


FULL_DISK = """
import resource, sys
from pathlib import Path
from materiac.runtime.journal import Journal, JournalError, read
path = Path(sys.argv[1])
journal = Journal.create(path)
journal.append("first")
resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 50, resource.RLIM_INFINITY))
try:
    journal.append("second", text="x" * 500)
except JournalError as error:
    print(error)
print(path.stat().st_size > read(path).end)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
journal.append("third")
print([(record.n, record.type) for record in read(path).records])
"""


def test_a_failed_write_is_named_and_can_be_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "j"
    ran = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True, check=True
    )
    assert ran.stdout.splitlines() == [
        f"cannot write '{path}': File too large",
        "True",
        "[(1, 'first'), (2, 'third')]",
    ]


def test_a_failed_sync_ends_the_journal(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path / "j")
    (tmp_path / "j").unlink()
    os.mkfifo(tmp_path / "j")
    unsyncable = os.open(tmp_path / "j", os.O_RDWR | os.O_APPEND)
    os.dup2(unsyncable, journal._file)
    os.close(unsyncable)
    for _ in range(2):
        with pytest.raises(JournalError, match=r"cannot sync '.*': Invalid argument"):
            journal.append("x")
    journal.close()


def test_subscribers_get_every_record_in_order(tmp_path: Path) -> None:
    first: list[Record] = []
    second: list[Record] = []
    with Journal.create(tmp_path / "j") as journal:

        def answer(record: Record) -> None:
            first.append(record)
            if record.type == "question":
                journal.append("answer")

        journal.subscribe(answer)
        journal.subscribe(second.append)
        journal.append("question")
        journal.append("end")
    assert [record.type for record in second] == ["question", "answer", "end"]
    assert first == second == list(read(tmp_path / "j").records)


def test_a_subscriber_that_raises_is_dropped(tmp_path: Path) -> None:
    seen: list[int] = []

    def fragile(record: Record) -> None:
        seen.append(1 // (2 - record.n))

    with Journal.create(tmp_path / "j") as journal:
        journal.subscribe(fragile)
        for _ in range(3):
            journal.append("x")
        (said,) = journal.broken
    assert seen == [1]
    assert said.endswith("fragile failed at record 2: ZeroDivisionError: integer division or modulo by zero")
    assert len(read(tmp_path / "j").records) == 3


def test_threads_share_a_journal(tmp_path: Path) -> None:
    seen: list[int] = []
    with Journal.create(tmp_path / "j") as journal:
        journal.subscribe(lambda record: seen.append(record.n))

        def work() -> None:
            for _ in range(50):
                journal.append("x", sync=False)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(read(tmp_path / "j").records) == 200
    assert seen == list(range(1, 201))


def test_a_long_line_is_one_record(tmp_path: Path) -> None:
    text = "\u2028line\nline\r\x0b\x0c" * 200_000
    with Journal.create(tmp_path / "j") as journal:
        journal.append("long", text=text)
    assert read(tmp_path / "j").records[0].fields["text"] == text


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(JournalError, match="is no ordinary file"):
        read(tmp_path / "pipe")


def test_a_missing_line_is_named_though_it_is_of_no_interest(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with Journal.create(path) as journal:
        for _ in range(5):
            journal.append("other")
        journal.append("wanted")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2] + lines[3:]))
    with pytest.raises(JournalError, match=r"line 3 of .* has the number 4"):
        read(path, {"wanted"})


@pytest.mark.parametrize("replaced", [False, True])
def test_a_journal_that_was_taken_away(tmp_path: Path, *, replaced: bool) -> None:
    path = tmp_path / "events.jsonl"
    with Journal.create(path) as journal:
        journal.append("one")
        path.rename(tmp_path / "away")
        if replaced:
            path.write_bytes((tmp_path / "away").read_bytes())
        with pytest.raises(JournalError, match="was taken away, or replaced"):
            journal.append("two")
