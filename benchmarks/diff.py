"""What it costs to compare two loadouts as they grow, with their bounds.

    python benchmarks/diff.py [--rounds N]

One edge of the second has another budget, and one materia another prompt. Compiling both is part of it, as it
is in `materiac diff`. Times are those of the processor.
"""

from __future__ import annotations

import argparse
import copy
import json

from check import best
from shapes import Json, ordinary

from materiac.comparison import Comparison, compare_all
from materiac.pipeline import Text, compile_all

SIZES = (10, 100, 1_000)
MAX_SECONDS = 1.0
"""The goal for the largest size."""


def main() -> None:
    """Print a row for each size."""
    parser = argparse.ArgumentParser(description="measure comparisons of growing files")
    parser.add_argument("--rounds", type=int, default=3, help="the best of so many counts (default: 3)")
    options = parser.parse_args()
    print("sockets      ms  changes")
    for size in SIZES:
        old, new = (json.dumps(config).encode() for config in edited(ordinary(size)))
        cost = best(lambda old=old, new=new: compared(old, new), options.rounds)  # type: ignore[misc]
        print(f"{size:>7}  {cost:>6.0f}  {len(compared(old, new)[0].changes):>7}")
    print(f"goal for {SIZES[-1]}: {'met' if cost <= MAX_SECONDS * 1000 else 'missed'}")


def edited(old: Json) -> tuple[Json, Json]:
    new = copy.deepcopy(old)
    [spec] = new["loadouts"].values()
    next(part["edges"][1] for part in spec["sockets"].values() if len(part["edges"]) > 1)["maxTraversals"] = 5
    new["materia"]["Work"]["prompt"] += " Well."
    return old, new


def compared(old: bytes, new: bytes) -> tuple[Comparison, ...]:
    was, now = (compile_all([Text("loadout.json", raw)]) for raw in (old, new))
    programs = [{name: image.program for name, image in done.images.items()} for done in (was, now)]
    return compare_all(programs[0], programs[1], (was.graphs, now.graphs))


if __name__ == "__main__":
    main()
