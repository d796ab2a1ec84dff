"""Journals that are cut anywhere, or broken in their midst."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

import pytest
from points import acting
from samples import loadout, socket
from world import ASKED, LOG, SAMPLES, STEPS, Sample, cast_folder, differences, look, proceed, step

from materiac.runtime.journal import JournalError, read
from materiac.runtime.replay import replay

SHORT = Sample(
    "short", loadout({"a": socket(edges=[{"to": "b"}]), "b": socket(parse="json")}), {"b": {"json": {}}}
)
SAID = ("answer_shown", "event", "handoff_field_dropped")
"""Behind these the files of their visit are there already."""
NULS = (0, 1, 2, 7, 511, 4096)


def quickly(sample: Sample, cwd: Path) -> None:
    """Proceed without syncing anything."""
    with acting(lambda _: None):
        proceed(sample, cwd)


class Finished:
    """A cast that is complete, of which copies of any length are made in the same place."""

    def __init__(self, sample: Sample, folder: Path) -> None:
        self.sample, self.cwd, self.whole = sample, folder / "cast", folder / "whole"
        self.cwd.mkdir()
        quickly(sample, self.cwd)
        shutil.copytree(self.cwd, self.whole)
        self.wanted = look(self.cwd)
        self.lines = self.journal.read_bytes().splitlines(keepends=True)

    @property
    def journal(self) -> Path:
        folder = cast_folder(self.cwd)
        assert folder is not None
        return folder / "events.jsonl"

    def restore(self) -> None:
        shutil.rmtree(self.cwd)
        shutil.copytree(self.whole, self.cwd)
        for name in (LOG, ASKED, STEPS):
            (self.cwd / name).unlink(missing_ok=True)

    def cut(self, count: int, tail: bytes = b"", *, leave: bool = False) -> None:
        """Leave so many records, and after them what a torn write leaves; with `leave` all files too."""
        self.restore()
        path = self.journal
        records = read(path).records
        later = () if leave or records[count - 1].type in SAID else records[count:]
        path.write_bytes(b"".join(self.lines[:count]) + tail)
        for record in reversed(later):
            for file in record.fields.get("files", ()):
                (path.parent / file["file"]).unlink()
            for pair in record.fields.get("moved", ()):
                (path.parent / pair["to"]).rename(path.parent / pair["from"])


@pytest.fixture(scope="module", params=SAMPLES)
def finished(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Finished:
    return Finished(SAMPLES[request.param], tmp_path_factory.mktemp("cut"))


def tails(lines: list[bytes], count: int) -> Iterator[bytes]:
    """What may stand behind some whole records: nothing, zeros, the beginning of the next record."""
    after = lines[count] if count < len(lines) else b""
    yield from (b"", b"\0" * 4096, after[: len(after) // 2], after[: len(after) // 3] + b"\0" * 100)


def test_every_length_is_read(tmp_path: Path) -> None:
    check_lengths(SHORT, 0, 1, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_every_length_of_a_long_journal_is_read(part: int, tmp_path: Path) -> None:
    check_lengths(SAMPLES["long"], part, 4, tmp_path)


def check_lengths(sample: Sample, part: int, parts: int, tmp_path: Path) -> None:
    """What is whole is read, also without its LF and before zeros; the rest is to be cut."""
    whole = Finished(sample, tmp_path)
    data, records = whole.journal.read_bytes(), read(whole.journal).records
    ends = list(accumulate(map(len, whole.lines)))
    path = tmp_path / "cut.jsonl"
    for length in range(part, len(data) + 1, parts):
        count = sum(end - 1 <= length for end in ends)
        zeros = NULS[length % len(NULS)] if length % 3 else 0
        path.write_bytes(data[:length] + b"\0" * zeros)
        reading = read(path)
        assert reading.records == records[:count], length
        assert reading.end == min(length, ends[count - 1] if count else 0), length
        assert reading.end + reading.cut == length + zeros, length


def check(finished: Finished, counts: range) -> None:
    """Go on from so many records, with every sort of tail in turn."""
    for count in counts:
        tail = list(tails(finished.lines, count))[count % 4]
        # Files that no record tells of are written over, unless a visit is done again on purpose.
        finished.cut(count, tail, leave=count % 2 == 1 and finished.sample.name != "rests")
        quickly(finished.sample, finished.cwd)
        assert differences(finished.wanted, look(finished.cwd)) == [], count
        folder = cast_folder(finished.cwd)
        assert folder is not None
        assert replay(folder).status == "complete", count


def test_cut_after_some_records(finished: Finished) -> None:
    check(finished, range(1, len(finished.lines) + 1, 9))


@pytest.mark.slow
def test_cut_after_every_record(finished: Finished) -> None:
    check(finished, range(1, len(finished.lines) + 1))


def test_what_was_finished_is_not_done_again(finished: Finished) -> None:
    """Of the turns and commands that are left in the journal none is done again, all others are."""
    for count in range(1, len(finished.lines), 13):
        finished.cut(count)
        told = [record.type for record in read(finished.journal).records]
        quickly(finished.sample, finished.cwd)
        everything = [record.type for record in read(finished.journal).records]
        for kind, name in (("turn_finished", ASKED), ("command_finished", LOG)):
            file = finished.cwd / name
            done = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
            assert len(done) == everything.count(kind) - told.count(kind), (count, kind)


def test_a_broken_midst_is_refused(finished: Finished) -> None:
    """The line is named, and nothing is changed."""
    for number in range(1, len(finished.lines)):
        finished.restore()
        line = finished.lines[number - 1]
        at = (number * 37) % (len(line) - 1)
        broken = line[:at] + bytes([line[at] ^ 1]) + line[at + 1 :]
        if b"\n" in broken[:-1]:
            continue
        path = finished.journal
        data = b"".join([*finished.lines[: number - 1], broken, *finished.lines[number:]])
        path.write_bytes(data)
        with pytest.raises(JournalError, match=rf"line {number} of ") as refused:
            step(finished.sample, finished.cwd)
        assert refused.value.line == number
        assert path.read_bytes() == data
        assert not (finished.cwd / ASKED).exists()
