"""Kills casts at their points, for real, and goes on with what is left: `killing.py ORDER`, an order in JSON.

This process has one thread and does nothing but fork: each cast runs in a child, which ends itself with
SIGKILL. What is found is printed as JSON: how many points there are, and what went wrong at which.

An order has the `sample`, a `folder` to work in, which `part` of how many `parts` of the points to take
(each `stride`-th of them), and with `again` also kills what goes on, at each `again`-th of its points.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from points import Point, acting
from world import SAMPLES, STEPS, Sample, cast_folder, differences, look, note, proceed, ran_twice

from materiac.runtime.journal import read
from materiac.runtime.replay import replay

Json = dict[str, Any]

POINTS, WRONG = "points.txt", "wrong.txt"


def main() -> None:
    """Obey the order in the first argument."""
    order = json.loads(sys.argv[1])
    harness = _Harness(SAMPLES[order["sample"]], Path(order["folder"]))
    taken = harness.points[order["part"] * order["stride"] :: order["parts"] * order["stride"]]
    for point in taken:
        harness.kill(point, order.get("again"))
    found = {"points": len(harness.points), "killed": harness.killed, "faults": harness.faults}
    sys.stdout.write(json.dumps(found))


class _Harness:
    def __init__(self, sample: Sample, root: Path) -> None:
        self.sample, self.killed = sample, 0
        self.faults: list[str] = []
        self._steps = 0
        self._whole, self._cwd, self._kept = root / "whole", root / "other", root / "kept"
        self._whole.mkdir()
        assert sample.image  # made once, before there are children
        self.points = self._counted(self._whole)
        self._wanted = look(self._whole)

    def kill(self, point: Json, again: int | None) -> None:
        """Kill the cast at a point and go on with it, and kill that too."""
        self._anew(self._cwd)
        if not self._killed_at(point["n"]):
            return
        name = f"{point['n']}, {point['when']} {point['call']} of {point['file']}"
        if again is None:
            self._go_on(name)
            return
        shutil.copytree(self._cwd, self._kept)
        points = self._counted(self._cwd)
        for second in points[::again]:
            shutil.rmtree(self._cwd)
            shutil.copytree(self._kept, self._cwd)
            if self._killed_at(second["n"]):
                self._go_on(
                    f"{name}; then {second['n']}, {second['when']} {second['call']} of {second['file']}", 2
                )
        shutil.rmtree(self._kept)

    def _go_on(self, name: str, kills: int = 1) -> None:
        self.killed += 1
        uncertain = _uncertain(self._cwd)
        ended = _child(self._cwd, lambda: proceed(self.sample, self._cwd))
        self.faults += [f"{name}: {what}" for what in self._wrong(ended, uncertain, kills)]

    def _wrong(self, ended: int, uncertain: str | None, kills: int) -> Iterator[str]:
        if ended:
            yield (
                (self._cwd / WRONG).read_text(encoding="utf-8")
                if (self._cwd / WRONG).exists()
                else str(ended)
            )
            return
        if uncertain is not None:
            first = _steps(self._cwd)[self._steps]
            if (first["status"], first["for"]) != ("waiting", "uncertain") or first["log"].count(
                uncertain
            ) > kills:
                yield f"'{uncertain}' may have run: {first}"
        yield from differences(self._wanted, look(self._cwd))
        yield from ran_twice(self._cwd, self._whole, kills * self.sample.width)
        folder = cast_folder(self._cwd)
        assert folder is not None
        told = replay(folder)
        if told.status != "complete":
            yield f"replay: {told.status}, {told.parted or told.difference or told.gone}"

    def _killed_at(self, n: int) -> bool:
        """Whether the cast did not come to its end before."""
        ended = _child(self._cwd, lambda: proceed(self.sample, self._cwd), _Killing(n))
        if ended not in (0, -signal.SIGKILL):
            self.faults.append(
                f"point {n} was not come to: {(self._cwd / WRONG).read_text(encoding='utf-8')}"
            )
        self._steps = len(_steps(self._cwd))
        return ended == -signal.SIGKILL

    def _counted(self, cwd: Path) -> list[Json]:
        """The points of an undisturbed cast, without those that are the same as the next one."""
        ended = _child(cwd, lambda: proceed(self.sample, cwd), _Counting(cwd))
        assert ended == 0, (cwd / WRONG).read_text(encoding="utf-8")
        points = [json.loads(line) for line in (cwd / POINTS).read_text(encoding="utf-8").splitlines()]
        pairs = zip(points, [*points[1:], None], strict=True)
        return [point for point, after in pairs if not _is_like_the_next(point, after)]

    @staticmethod
    def _anew(folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()


def _is_like_the_next(point: Json, after: Json | None) -> bool:
    """Whether nothing comes between two points, or no more than the end of an empty file to be renamed."""
    if point["when"] == "after":
        return after is not None and point["done"] == after["done"]
    return bool(point["when"] == "before" and point["call"] == "write" and point["file"].endswith(".tmp"))


class _Killing:
    def __init__(self, n: int) -> None:
        self._n = n

    def __call__(self, point: Point) -> None:
        if point.n == self._n:
            os.kill(os.getpid(), signal.SIGKILL)


class _Counting:
    """Writes the points down, with what had been asked and run by then."""

    def __init__(self, cwd: Path) -> None:
        self._cwd = cwd

    def __call__(self, point: Point) -> None:
        done = sum(file.stat().st_size for file in self._cwd.glob("*.txt") if file.name != POINTS)
        line = {
            "n": point.n,
            "when": point.when,
            "call": point.call,
            "file": Path(point.path).name,
            "done": done,
        }
        note(self._cwd / POINTS, json.dumps(line))


def _child(cwd: Path, work: Callable[[], object], act: Callable[[Point], None] | None = None) -> int:
    """Do the work in a child; gives its exit code, negative for a signal."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 1
    try:
        with acting(act or (lambda _: None)):
            work()
        code = 0
    except BaseException:  # noqa: BLE001 - the child ends here, whatever it was
        note(cwd / WRONG, traceback.format_exc())
    os._exit(code)


def _steps(cwd: Path) -> list[Json]:
    file = cwd / STEPS
    return (
        [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []
    )


def _uncertain(cwd: Path) -> str | None:
    """The command that may have run, and must not run again by itself, though nobody has said so yet."""
    folder = cast_folder(cwd)
    records = read(folder / "events.jsonl").records if folder is not None else ()
    open_: dict[str | None, str] = {}
    for record in records:
        stream = record.fields.get("stream")
        if record.type == "socket_started" and record.fields["materia"] == "Keep":
            open_[stream] = f"{record.fields['socket']} {record.fields['itemKey'] or '-'}"
        elif record.type in ("command_finished", "socket_finished"):
            open_.pop(stream, None)
    told = bool(records) and records[-1].fields.get("waitingFor") == "uncertain"
    return None if told else next(iter(open_.values()), None)


if __name__ == "__main__":
    main()
