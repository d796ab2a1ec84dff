"""What a cast keeps in memory, by the number of its visits, and where it was allocated.

    python benchmarks/memory.py [--visits N …] [--lines N]

All visits are alike and the state of the cast stays as it is, so that what grows is kept by the machinery.
"""

from __future__ import annotations

import argparse
import gc
import tempfile
import tracemalloc
from pathlib import Path

from steady import cast

from materiac.runtime.journal import Record

VISITS = (100, 1_000, 10_000)


class Probe:
    """A watcher that takes a picture of the memory when the cast is over, but all of it still there."""

    snapshot: tracemalloc.Snapshot | None = None

    def __call__(self, record: Record) -> None:
        if record.type == "cast_finished":
            gc.collect()
            self.snapshot = tracemalloc.take_snapshot()


def main() -> None:
    """Print a row for each number of visits, then the lines that keep the most of a visit."""
    parser = argparse.ArgumentParser(description="measure what a cast keeps in memory")
    parser.add_argument("--visits", type=int, nargs="+", default=VISITS, help="numbers of visits")
    parser.add_argument("--lines", type=int, default=15, help="lines that are shown (default: 15)")
    options = parser.parse_args()
    pictures = {}
    measured(10)  # what is imported and cached once is no growth
    print(f"{'visits':>7}  {'KiB in all':>10}  bytes a visit")
    for visits in options.visits:
        pictures[visits] = measured(visits)
        total = sum(part.size for part in pictures[visits].traces)
        print(f"{visits:>7}  {total / 1024:>10.0f}  {total / visits:>13.0f}")
    few, many = min(pictures), max(pictures)
    print(f"\nbytes a visit, by what is more after {many} visits than after {few}")
    for grown in pictures[many].compare_to(pictures[few], "lineno")[: options.lines]:
        frame = grown.traceback[0]
        file = "/".join(Path(frame.filename).parts[-2:])
        print(f"{grown.size_diff / (many - few):>8.1f}  {file}:{frame.lineno}")


def measured(visits: int) -> tracemalloc.Snapshot:
    """What the cast of so many visits has allocated and keeps at its end."""
    probe = Probe()
    with tempfile.TemporaryDirectory(prefix="memory-") as folder:
        tracemalloc.start()
        try:
            cast(Path(folder), visits, durable=False, watchers=[probe])
        finally:
            tracemalloc.stop()
    assert probe.snapshot is not None
    return probe.snapshot


if __name__ == "__main__":
    main()
