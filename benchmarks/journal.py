"""What a record of the journal costs, set against a bare write and sync of the same bytes.

    python benchmarks/journal.py [--folder DIR] [--rounds N]

The folder decides what is measured: choose one on the disk that casts are written to. Both are done in
turn, so that a busy disk slows both. The goal is a ratio of 1.5 at most.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from materiac.runtime.journal import Journal

GOAL = 1.5
SIZES = (200, 2_000, 20_000, 200_000)


def main() -> None:
    """Print a row for each size of a record."""
    parser = argparse.ArgumentParser(description="measure the journal against bare writes")
    parser.add_argument("--folder", type=Path, default=Path.cwd(), help="where to write (default: here)")
    parser.add_argument("--rounds", type=int, default=300, help="records of each size (default: 300)")
    options = parser.parse_args()
    print(f"{'bytes a record':>14}  {'bare ms':>8}  {'journal ms':>10}  {'ratio':>5}  goal")
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="journal-") as folder:
        for size in SIZES:
            bytes_written, bare, journal = measure(Path(folder), size, options.rounds)
            ratio = journal / bare
            verdict = "met" if ratio <= GOAL else "missed"
            print(f"{bytes_written:>14}  {bare:>8.3f}  {journal:>10.3f}  {ratio:>5.2f}  {verdict}")


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


if __name__ == "__main__":
    main()
