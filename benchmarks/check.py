"""What a check costs as a file grows, set against reading its JSON alone.

    python benchmarks/check.py [--rounds N]

Two shapes of each size: groups of build, check and tell with a retry, as people write them, and one where
every socket leads back to the first, which is the worst case of many graph algorithms. Then some more that
are hard: many edges and loops, diamonds in a row, a ladder, one large component; these with prices, so that
their bounds are told too. Times are those of the processor, which other processes disturb less.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable

from shapes import ADVERSE, ORDINARY, ordinary, priced, to_first

from materiac.pipeline import Text, check

SIZES = (10, 100, 1_000, 10_000)
HARD = (("dense", 1_000), ("diamonds", 6_000), ("ladder", 10_000), ("tangle", 10_000))
MAX_SECONDS = {1_000: 1.5, 6_000: 12.0, 10_000: 12.0}
"""The goals for large sizes."""
MAX_RATIO = 2.5
"""The goal for what is hard, set against what is ordinary."""


def main() -> None:
    """Print a row for each shape and size."""
    parser = argparse.ArgumentParser(description="measure checks of growing files")
    parser.add_argument("--rounds", type=int, default=3, help="the best of so many counts (default: 3)")
    options = parser.parse_args()
    check([Text("warm.json", json.dumps(ordinary(10)).encode())])
    print("shape      sockets     KB   json ms   check ms  ratio  growth")
    for name, shape in {"ordinary": ordinary, "adverse": to_first}.items():
        before = None
        for size in SIZES:
            raw = json.dumps(shape(size), indent=1).encode()
            bare = best(lambda raw=raw: json.loads(raw), options.rounds)  # type: ignore[misc]
            mine = best(lambda raw=raw: check([Text("x.json", raw)]), options.rounds)  # type: ignore[misc]
            growth = "" if before is None else f"{mine / before:.1f}"
            before = mine
            ratio = mine / bare
            print(
                f"{name:<9}  {size:>7}  {len(raw) / 1000:>5.0f}  {bare:>8.2f}  {mine:>9.1f}  "
                f"{ratio:>5.0f}  {growth:>6}"
            )
        met = mine <= MAX_SECONDS[SIZES[-1]] * 1000
        print(f"{'':<9}  goal for {SIZES[-1]}: {'met' if met else 'missed'}")
    hard(options.rounds)


def hard(rounds: int) -> None:
    """Print how much longer the hard ones take than an ordinary one of their size."""
    print("\nshape      sockets   check ms  ratio  goal")
    for name, size in HARD:
        raw, usual = (
            json.dumps(priced(shape(size))).encode() for shape in ({**ORDINARY, **ADVERSE}[name], ordinary)
        )
        mine = best(lambda raw=raw: check([Text("x.json", raw)]), rounds)  # type: ignore[misc]
        ratio = mine / best(lambda raw=usual: check([Text("x.json", raw)]), rounds)  # type: ignore[misc]
        met = (name in ORDINARY or ratio <= MAX_RATIO) and mine <= MAX_SECONDS[size] * 1000
        print(f"{name:<9}  {size:>7}  {mine:>9.1f}  {ratio:>5.2f}  {'met' if met else 'missed'}")


def best(work: Callable[[], object], rounds: int) -> float:
    """The fewest milliseconds it takes."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        times.append((time.process_time() - start) * 1000)
    return min(times)


if __name__ == "__main__":
    main()
