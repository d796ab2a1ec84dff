"""When texts are checked, and what is done with checks that nobody waits for any more."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from talk import PATIENCE_S

from materiac.cli.lsp_check import Desk
from materiac.lsp.buffers import Buffer, Change
from materiac.lsp.checker import Checker
from materiac.lsp.checks import Checks
from materiac.lsp.looks import Job, Look, Visits
from materiac.lsp.texts import Texts

SLOW_S = 600
PROCESS = f"""
import os, sys, time
from pathlib import Path
from materiac.lsp import checker, looks

def look(job):
    if b"slow" in job.raw:
        time.sleep({SLOW_S})
    if b"crash" in job.raw:
        os._exit(7)
    return looks.Look(files={{"text": Path(job.raw.decode())}})

checker.serve(sys.stdin.buffer, sys.stdout.buffer, look)
"""


class Bench:
    """Texts, the process that checks them, and what it has told."""

    def __init__(self) -> None:
        self.texts = Texts()
        self.told: list[tuple[str, int | None, str]] = []
        self.checker = Checker([sys.executable, "-c", PROCESS])
        self.pool = ThreadPoolExecutor(4)
        self.checks = Checks(self.texts, self.checker, self.pool, self.job, self.tell)

    def job(self, buffer: Buffer) -> Job:
        return Job(buffer.name, buffer.raw, buffer.language, Path("/"))

    def tell(self, buffer: Buffer, look: Look) -> None:
        self.told.append((buffer.uri, buffer.version, str(look.files["text"])))

    def open(self, text: str, uri: str = "a") -> None:
        self.texts.open(Buffer(uri, uri, text, "dsl", 1))
        self.checks.soon(uri, 0)

    def change(self, version: int, text: str, uri: str = "a") -> None:
        self.texts.change(uri, version, [Change(text)])
        self.checks.soon(uri)

    async def until(self, told: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE_S
        while not told():
            assert time.monotonic() < end, self.told
            await asyncio.sleep(0.01)


def play(scene: Callable[[Bench], Coroutine[Any, Any, None]]) -> None:
    desk = Bench()
    try:
        asyncio.run(scene(desk))
    finally:
        desk.checker.close()
        desk.pool.shutdown()


def test_only_the_last_of_many_changes_is_checked() -> None:
    async def scene(desk: Bench) -> None:
        desk.open("one")
        await desk.until(lambda: len(desk.told) == 1)
        for version in range(2, 30):
            desk.change(version, f"text {version}")
        await desk.until(lambda: len(desk.told) == 2)
        await asyncio.sleep(0.3)
        assert desk.told == [("a", 1, "one"), ("a", 29, "text 29")]

    play(scene)


def test_a_change_ends_a_check_that_takes_long() -> None:
    async def scene(desk: Bench) -> None:
        desk.open("slow")
        await desk.until(lambda: desk.checker.since is not None)
        await asyncio.sleep(1.2)
        desk.change(2, "fast")
        await desk.until(lambda: bool(desk.told))
        assert desk.told == [("a", 2, "fast")]

    play(scene)


def test_a_process_that_fails_is_started_anew() -> None:
    async def scene(desk: Bench) -> None:
        desk.open("crash")
        desk.open("other", "b")
        await desk.until(lambda: bool(desk.told))
        assert desk.told == [("b", 1, "other")]
        desk.change(2, "mended")
        await desk.until(lambda: len(desk.told) == 2)
        assert desk.told[1] == ("a", 2, "mended")

    play(scene)


def test_a_closed_file_is_not_told_of() -> None:
    async def scene(desk: Bench) -> None:
        desk.open("one")
        desk.texts.close("a")
        desk.checks.forget("a")
        desk.open("two", "b")
        await desk.until(lambda: bool(desk.told))
        assert desk.told == [("b", 1, "two")]

    play(scene)


def test_a_fault_of_our_own_is_told(tmp_path: Path) -> None:
    job = Job("a.materia", b"loadout L {", "dsl", tmp_path / "nowhere")
    look = Desk().answer(job)
    assert isinstance(look, Look)
    [located] = look.found
    assert located.finding.message.startswith("a fault of materiac itself: FileNotFoundError: ")
    assert Desk().answer(Visits(job, "L", "a")) is None


def test_only_a_loadout_without_errors_has_a_bound(tmp_path: Path) -> None:
    def most(text: str, socket: str = "a") -> Any:
        return Desk().answer(Visits(Job("a.materia", text.encode(), "dsl", tmp_path), "L", socket))

    sound = 'limits { maxNoAdvanceCycles 1 }\nloadout L { entry a  a: M -> end }\nmateria M { prompt "x" }'
    assert most(sound) == "1"
    assert most(sound, "b") is None
    assert most(sound.replace("end", "nowhere")) is None
    assert most(sound.replace("loadout L", "loadout X")) is None
