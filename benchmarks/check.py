"""What a check costs as a file grows, set against reading its JSON alone.

    python benchmarks/check.py [--rounds N]

Two shapes of each size: groups of build, check and tell with a retry, as people write them, and one where
every socket leads back to the first, which is the worst case of many graph algorithms. Times are those of
the processor, which other processes disturb less.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

from materiac.pipeline import Text, check

SIZES = (10, 100, 1_000, 10_000)
MAX_SECONDS = 12.0
"""The goal for the largest size."""

Json = dict[str, Any]


def main() -> None:
    """Print a row for each shape and size."""
    parser = argparse.ArgumentParser(description="measure checks of growing files")
    parser.add_argument("--rounds", type=int, default=3, help="the best of so many counts (default: 3)")
    options = parser.parse_args()
    check([Text("warm.json", json.dumps(ordinary(10)).encode())])
    print("shape      sockets     KB   json ms   check ms  ratio  growth")
    for name, shape in {"ordinary": ordinary, "adverse": adverse}.items():
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
        print(f"{'':<9}  goal for {SIZES[-1]}: {'met' if mine <= MAX_SECONDS * 1000 else 'missed'}")


def ordinary(size: int) -> Json:
    """A plan, and groups of three sockets that build, check with a retry, and tell."""
    sockets: Json = {"plan": {"materia": "Plan", "edges": [{"to": "build0"}]}}
    groups = max(1, (size - 1) // 3)
    for i in range(groups):
        following = f"build{i + 1}" if i + 1 < groups else "end"
        sockets[f"build{i}"] = {"materia": "Work", "edges": [{"to": f"check{i}"}]}
        sockets[f"check{i}"] = {
            "materia": "Work",
            "parse": "json",
            "assign": {f"note{i}": "$.context"},
            "edges": [
                {"when": "satisfied", "to": f"tell{i}"},
                {"when": "not_satisfied", "to": f"build{i}", "maxTraversals": 3},
            ],
        }
        sockets[f"tell{i}"] = {"materia": "Work", "edges": [{"to": following}]}
    return _file(sockets)


def adverse(size: int) -> Json:
    """Every socket goes on when it is satisfied, and back to the first one when it is not."""
    sockets: Json = {}
    for i in range(size):
        following = f"s{i + 1}" if i + 1 < size else "end"
        sockets[f"s{i}"] = {
            "materia": "Work",
            "parse": "json",
            "edges": [
                {"when": "satisfied", "to": following},
                {"when": "not_satisfied", "to": "s0", "maxTraversals": 2},
            ],
        }
    return _file(sockets)


def _file(sockets: Json) -> Json:
    materia = {"Work": {"prompt": "Do your part."}, "Plan": {"prompt": "Plan it.", "generator": True}}
    return {"loadouts": {"L": {"entry": next(iter(sockets)), "sockets": sockets}}, "materia": materia}


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
