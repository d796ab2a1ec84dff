"""What it costs to start a command, set against starting Python alone.

    python benchmarks/startup.py [--rounds N]

Each round starts one of each, so that a busy machine slows all of them. Byte code is kept in a scratch
folder and is there before the first round; needs no more than the standard library.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

GOALS = {"--help": 5.0, "check": 20.0}
SOCKETS = 10


def main() -> None:
    """Print a row for each command."""
    parser = argparse.ArgumentParser(description="measure the start of commands against that of Python")
    parser.add_argument("--rounds", type=int, default=15, help="how often each is started (default: 15)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="startup-") as folder:
        file = Path(folder) / "loadout.json"
        file.write_text(json.dumps(loadout(SOCKETS)), encoding="utf-8")
        materiac = (sys.executable, "-m", "materiac")
        commands = {
            "python": (sys.executable, "-c", "pass"),
            "--help": (*materiac, "--help"),
            "check": (*materiac, "check", str(file)),
        }
        times = measure(commands, options.rounds, folder)
    bare = statistics.median(times["python"])
    print(f"{'command':<8}  {'ms':>7}  {'ratio':>5}  {'goal':>5}")
    for name, found in times.items():
        ratio, goal = statistics.median(found) / bare, GOALS.get(name)
        verdict = "" if goal is None else f"{goal:>5.0f}  {'met' if ratio <= goal else 'missed'}"
        print(f"{name:<8}  {statistics.median(found):>7.1f}  {ratio:>5.1f}  {verdict}".rstrip())


def loadout(sockets: int) -> dict[str, object]:
    """A chain of sockets, sound and without a finding."""
    edges = {f"s{i}": {"materia": "Work", "edges": [{"to": f"s{i + 1}"}]} for i in range(sockets - 1)}
    chain = {**edges, f"s{sockets - 1}": {"materia": "Work"}}
    return {
        "loadouts": {"Chain": {"entry": "s0", "sockets": chain}},
        "materia": {"Work": {"prompt": "Do your part."}},
    }


def measure(commands: Mapping[str, Sequence[str]], rounds: int, folder: str) -> dict[str, list[float]]:
    """For each command the milliseconds of its runs, which take turns."""
    environ = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    environ["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "byte-code")
    times: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(rounds + 1):
        for name, command in commands.items():
            start = time.perf_counter()
            subprocess.run(command, env=environ, stdout=subprocess.DEVNULL, check=True)
            if number:
                times[name].append((time.perf_counter() - start) * 1000)
    return times


if __name__ == "__main__":
    main()
