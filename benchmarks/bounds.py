"""What a bound costs: of ordinary loadouts, and of those that graph algorithms find hard.

    python benchmarks/bounds.py [--rounds N] [--sockets N]

A bound is told of a graph that `check` has made; times are those of the processor. The last column is how
much longer it takes than the first of the ordinary ones; the others of these have loops.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from shapes import ADVERSE, ORDINARY, Shape

from materiac.flow.bounds import bound
from materiac.graph import LoadoutGraph
from materiac.pipeline import Text, examine

MAX_SECONDS = 1.0
"""The goal for 1,000 sockets."""
MAX_RATIO = 2.5
"""The goal for what is hard, set against what is ordinary."""


def main() -> None:
    """Print a row for each shape."""
    parser = argparse.ArgumentParser(description="measure bounds of large loadouts")
    parser.add_argument("--rounds", type=int, default=3, help="the best of so many times (default: 3)")
    parser.add_argument("--sockets", type=int, default=1_000, help="how large they are (default: 1000)")
    options = parser.parse_args()
    print("shape        bound ms  ratio  agent turns")
    times: dict[str, float] = {}
    for name, shape in {**ORDINARY, **ADVERSE}.items():
        taken, most = measured(shape, options.sockets, options.rounds)
        times[name] = taken
        print(f"{name:<11}  {taken * 1000:>8.1f}  {taken / times['ordinary']:>5.2f}  {most}")
    met = max(times.values()) <= MAX_SECONDS
    print(f"goal of {MAX_SECONDS:g} s for {options.sockets} sockets: {'met' if met else 'missed'}")
    hardest = max(times[name] for name in ADVERSE) / times["ordinary"]
    met = hardest <= MAX_RATIO
    print(f"goal of {MAX_RATIO:g} times an ordinary one: {'met' if met else 'missed'} with {hardest:.2f}")


def measured(shape: Shape, size: int, rounds: int) -> tuple[float, Any]:
    """The fewest seconds it takes, and what comes out."""
    raw = json.dumps(shape(size)).encode()
    taken = []
    for _ in range(rounds):
        graph = _graph(raw)
        start = time.process_time()
        most = bound(graph)
        taken.append(time.process_time() - start)
    return min(taken), most.turns


def _graph(raw: bytes) -> LoadoutGraph:
    """A graph that nothing is known of yet."""
    (graph,) = examine([Text("x.json", raw)]).graphs.values()
    return graph


if __name__ == "__main__":
    main()
