"""What a machine costs to build and to step, set against a stock one and a dict of handlers.

    python benchmarks/machine.py [--rounds N]

The stock machine is of `transitions` with the same states, names and edges, and no automatic transitions.
The dict is the least that Python can do: a look-up and a call for each step. Times are those of the
processor, which other processes disturb less.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

from transitions import Machine

from materiac.machine import Grid, Way
from materiac.program import END, Agent, Edge, Materia, Program, Socket

SIZES = (10, 100, 1_000, 10_000)
BUILD_GOAL, STEP_GOAL = 1.5, 45.0


class Idle:
    """A driver whose sockets do nothing and whose conditions say no."""

    def enter(self, socket: Socket) -> None:
        pass

    def leave(self, way: Way) -> None:
        pass

    def failed(self) -> bool:
        return False

    def waiting(self) -> bool:
        return False

    def skipped(self) -> bool:
        return False

    def used_up(self) -> bool:
        return False

    def verdict(self) -> bool | None:
        return None

    def over_budget(self, to: str) -> bool:  # noqa: ARG002 - as the protocol has it
        return False

    def spent(self, source: str, index: int, edge: Edge) -> bool:  # noqa: ARG002
        return False

    def unfinished(self) -> bool:
        return False


def main() -> None:
    """Print a row for each size."""
    parser = argparse.ArgumentParser(description="measure machines of growing programs")
    parser.add_argument("--rounds", type=int, default=3, help="the best of so many counts (default: 3)")
    rounds = parser.parse_args().rounds
    print(
        f"{'sockets':>7}  {'build µs':>8}  {'of stock':>8}  {'step µs':>8}  {'of stock':>8}  {'of dict':>7}"
    )
    for size in SIZES:
        program = chain(size)
        build = best(lambda program=program: Grid(program, Idle()), rounds)  # type: ignore[misc]
        stock = best(lambda size=size: stock_machine(size), rounds)  # type: ignore[misc]
        step = min(walk(Grid(program, Idle())) for _ in range(rounds))
        stock_step = min(walk_stock(stock_machine(size), size) for _ in range(rounds))
        least = min(walk_dict(size) for _ in range(rounds))
        print(
            f"{size:>7}  {build / size:>8.1f}  {build / stock:>8.2f}  {step:>8.1f}  "
            f"{step / stock_step:>8.2f}  {step / least:>7.1f}"
        )
    print(f"goals: build {BUILD_GOAL} × stock, step {STEP_GOAL:.0f} × dict, both flat in the size")


def chain(size: int) -> Program:
    """Sockets that lead on, one to the next."""
    targets = [*(f"n{i}" for i in range(1, size)), END]
    sockets = {
        f"n{i}": Socket(f"n{i}", "M", "text", edges=(Edge("always", to),)) for i, to in enumerate(targets)
    }
    return Program("chain", "n0", sockets, {"M": Materia("M", "M", agent=Agent("p"))})


def stock_machine(size: int) -> Machine:
    """The same states and edges, as the library has them."""
    states = [f"n{i}" for i in range(size)]
    edges = [["step", one, other] for one, other in zip(states, [*states[1:], "end"], strict=True)]
    return Machine(states=[*states, "end"], initial="n0", auto_transitions=False, transitions=edges)


def walk(grid: Grid) -> float:
    """Microseconds of one step, on the way from the start to the end."""
    steps, start = 0, time.process_time()
    while not grid.over:
        grid.step()
        steps += 1
    return (time.process_time() - start) / steps * 1e6


def walk_stock(machine: Machine, size: int) -> float:
    """The same for a stock machine."""
    position = machine.models[0]
    trigger, start = position.step, time.process_time()
    for _ in range(size):
        trigger()
    return (time.process_time() - start) / size * 1e6


def walk_dict(size: int) -> float:
    """The same for a dict of handlers that name what comes next."""
    handlers = {f"n{i}": lambda i=i: f"n{i + 1}" for i in range(size)}
    at, last = "n0", f"n{size}"
    start = time.process_time()
    while at != last:
        at = handlers[at]()
    return (time.process_time() - start) / size * 1e6


def best(work: Callable[[], object], rounds: int) -> float:
    """The fewest microseconds it takes."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        times.append((time.process_time() - start) * 1e6)
    return min(times)


if __name__ == "__main__":
    main()
