"""What the journal of a cast costs, set against a bare write and sync of the same bytes.

    python benchmarks/journal.py [--folder DIR] [--rounds N] [--visits N]

The folder decides what is measured: choose one on the disk that casts are written to. Both are done in
turn, so that a busy disk slows both. The goals: a ratio of 1.5 at most, for a record of any size and for
all records of a visit; two syncs of the journal a visit at most; and as many bytes for the last visit as
for the first.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from steady import cast

from materiac.runtime.journal import Journal, Record, read

GOAL = 1.5
SYNCS_GOAL = 2
SIZES = (200, 2_000, 20_000, 200_000)
ROWS, WIDTH = 20, 50
"""How many bars the plot has, and how long the longest is."""
SYNCS = (os.fsync, getattr(os, "fdatasync", os.fsync))


def main() -> None:
    """Print a row for each size of a record, then what the visits of a cast cost."""
    parser = argparse.ArgumentParser(description="measure the journal against bare writes")
    parser.add_argument("--folder", type=Path, default=Path.cwd(), help="where to write (default: here)")
    parser.add_argument("--rounds", type=int, default=300, help="records of each size (default: 300)")
    parser.add_argument("--visits", type=int, default=1000, help="visits of the cast (default: 1000)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="journal-") as folder:
        print_records(Path(folder), options.rounds)
        print_visits(Path(folder), options.visits)


def verdict(met: bool) -> str:
    return "met" if met else "missed"


# Records


def print_records(folder: Path, rounds: int) -> None:
    """A row for each size of a record."""
    print(f"{'bytes a record':>14}  {'bare ms':>8}  {'journal ms':>10}  {'ratio':>5}  goal")
    for size in SIZES:
        bytes_written, bare, journal = measure(folder, size, rounds)
        ratio = journal / bare
        print(f"{bytes_written:>14}  {bare:>8.3f}  {journal:>10.3f}  {ratio:>5.2f}  {verdict(ratio <= GOAL)}")


def measure(folder: Path, size: int, rounds: int) -> tuple[int, float, float]:
    """The bytes of a record, and the median milliseconds of a bare write and of an append."""
    bare_path, journal_path = folder / f"bare-{size}", folder / f"journal-{size}"
    file = os.open(bare_path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with Journal.create(journal_path) as journal:
        text = "x" * size
        journal.append("visit", text=text)
        line = journal_path.read_bytes()

        def bare() -> None:
            os.write(file, line)
            os.fdatasync(file)

        times = [(timed(bare), timed(lambda: journal.append("visit", text=text))) for _ in range(rounds)]
    os.close(file)
    assert abs(journal_path.stat().st_size - len(line) - bare_path.stat().st_size) < 20 * rounds
    bare_times, journal_times = zip(*times, strict=True)
    return len(line), statistics.median(bare_times), statistics.median(journal_times)


def timed(work: Callable[[], object]) -> float:
    """How many milliseconds it takes."""
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


# The visits of a cast


class Noted(NamedTuple):
    """A record of the cast, its line, and how often the system was asked to sync for it."""

    record: Record
    line: bytes
    syncs: int


def print_visits(folder: Path, count: int) -> None:
    """What the journal holds for each visit, how often it is synced, and what that costs."""
    visits = observed(folder, count)
    sizes = [sum(len(noted.line) for noted in visit) for visit in visits]
    syncs = [sum(noted.syncs for noted in visit) for visit in visits]
    # The first visit has no output before it, and the last one takes another edge.
    growth = sizes[-2] - sizes[1]
    digits = sum(map(digits_of, visits[-2])) - sum(map(digits_of, visits[1]))
    print(f"\n{len(visits)} visits, {len(visits[-1])} records each")
    plot(sizes)
    print(
        f"from the first to the last: {growth} bytes more, for {digits} digits  {verdict(growth <= digits)}"
    )
    print(f"syncs a visit: {min(syncs)} to {max(syncs)}  {verdict(max(syncs) <= SYNCS_GOAL)}")
    bare, journal = replayed(folder, visits)
    ratio = journal / bare
    print(
        f"a visit: bare {bare:.3f} ms, journal {journal:.3f} ms, ratio {ratio:.2f}  {verdict(ratio <= GOAL)}"
    )
    print(f"all of a visit in a cast: {cast(folder, count, durable=True).seconds * 1000 / count:.3f} ms")


def plot(sizes: list[int]) -> None:
    """A bar for the mean of some visits in a row."""
    step = max(1, len(sizes) // ROWS)
    means = [(start, statistics.mean(sizes[start : start + step])) for start in range(0, len(sizes), step)]
    longest = max(mean for _, mean in means)
    print(f"{'from visit':>10}  bytes a visit")
    for start, mean in means:
        print(f"{start + 1:>10}  {mean:>7.1f}  {'█' * round(WIDTH * mean / longest)}")


def digits_of(noted: Noted) -> int:
    """How many digits of a record may become more: those of its number, the visit, file names and sizes."""
    fields = noted.record.fields
    files = [*fields.get("files", []), *fields.get("output", [])]
    named = "".join(f"{part['file']}{part['bytes']}" for part in files)
    return sum(c.isdigit() for c in f"{noted.record.n}{fields['visit']}{named}")


def observed(folder: Path, count: int) -> list[list[Noted]]:
    """The records of a cast, visit by visit; those of no visit are left out."""
    syncs: list[int] = []
    with counted_syncs() as so_far:
        result = cast(folder, count, durable=True, watchers=[lambda _: syncs.append(so_far[0])])
    journal = result.folder / "events.jsonl"
    lines, records = journal.read_bytes().splitlines(keepends=True), read(journal).records
    assert len(records) == len(lines) == len(syncs)
    each = [now - before for before, now in itertools.pairwise([0, *syncs])]
    notes = map(Noted, records, lines, each)
    visits = itertools.groupby(notes, lambda noted: noted.record.fields.get("visit"))
    return [list(part) for number, part in visits if number is not None]


@contextmanager
def counted_syncs() -> Iterator[list[int]]:
    """How often the system is asked to sync, whoever asks by whatever name: a list of one number."""
    so_far = [0]

    def count(frame: FrameType, event: str, called: Any) -> None:
        if event == "c_call" and any(called is sync for sync in SYNCS):
            # The file of an answer is synced too, once, before the journal tells of it.
            so_far[0] += frame.f_code.co_filename.endswith("journal.py")

    sys.setprofile(count)
    try:
        yield so_far
    finally:
        sys.setprofile(None)


def replayed(folder: Path, visits: list[list[Noted]]) -> tuple[float, float]:
    """The median milliseconds of the records of a visit, written bare and through a journal."""
    file = os.open(folder / "bare", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with Journal.create(folder / "replayed") as journal:

        def bare(visit: list[Noted]) -> None:
            for noted in visit:
                os.write(file, noted.line)
                if noted.syncs:
                    os.fdatasync(file)

        def through(visit: list[Noted]) -> None:
            for noted in visit:
                journal.append(noted.record.type, sync=bool(noted.syncs), **noted.record.fields)

        times = [(timed(partial(bare, visit)), timed(partial(through, visit))) for visit in visits]
    os.close(file)
    bare_times, journal_times = zip(*times, strict=True)
    return statistics.median(bare_times), statistics.median(journal_times)


if __name__ == "__main__":
    main()
