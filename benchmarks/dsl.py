"""What it costs to read the language: making the tables of the grammar, and growing texts.

    python benchmarks/dsl.py [--sockets N]

Counted is the time of the processor, so that a busy machine changes little.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time

from materiac import dsl_text
from materiac.source import Source

START_MS = 60.0
LINES_PER_S = 15_000.0
TEN_THOUSAND_S = 4.0
STARTS = 5

_START = """
import time, lark
from materiac import dsl_text
before = time.process_time()
dsl_text.parse("")
print((time.process_time() - before) * 1000)
"""


def main() -> None:
    """Print a row for each measurement."""
    parser = argparse.ArgumentParser(description="measure how fast the language is read")
    parser.add_argument("--sockets", type=int, default=10_000, help="of the largest text (default: 10000)")
    options = parser.parse_args()
    first, *later = starts()
    row("tables, made anew", first, "ms", None)
    row("tables, kept", min(later), "ms", START_MS, at_most=True)
    dsl_text.parse("")
    for sockets in sorted({options.sockets // 10, options.sockets}):
        text = loadout(sockets)
        took = reading(text)
        row(f"{sockets} sockets", took, "s", TEN_THOUSAND_S * sockets / 10_000, at_most=True)
        row(f"{sockets} sockets", text.count("\n") / took, "lines/s", LINES_PER_S, at_most=False)


def starts() -> list[float]:
    """The milliseconds until a text is read, of processes that share a cache; at first it is empty."""
    with tempfile.TemporaryDirectory(prefix="dsl-") as cache:
        environ = {**os.environ, "XDG_CACHE_HOME": cache}
        command = [sys.executable, "-c", _START]
        runs = (
            subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
            for _ in range(STARTS + 1)
        )
        return [float(run.stdout) for run in runs]


def loadout(sockets: int) -> str:
    """A chain of sockets with two edges each."""
    lines = (
        f"  s{i}: Build json\n    satisfied     -> s{(i + 1) % sockets}\n    not_satisfied -> s{i} max 3\n"
        for i in range(sockets)
    )
    return f"loadout Chain {{\n  entry s0\n{''.join(lines)}}}\n"


def reading(text: str) -> float:
    """The seconds that it takes to read a text, spans included."""
    before = time.process_time()
    document, _ = dsl_text.read(Source("chain.materia", text))
    took = time.process_time() - before
    assert document is not None
    assert document.spans
    return took


def row(what: str, value: float, unit: str, goal: float | None, *, at_most: bool = True) -> None:
    """Print a figure with its goal."""
    met = goal is not None and (value <= goal if at_most else value >= goal)
    verdict = "" if goal is None else f"  goal {goal:>8.1f}  {'met' if met else 'missed'}"
    print(f"{what:<18} {value:>9.1f} {unit:<8}{verdict}")


if __name__ == "__main__":
    main()
