"""Journals of casts, written by hand: at once, or by a process that holds them."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from materiac.runtime.journal import Journal

Json = dict[str, Any]
Told = tuple[str, Json]

NOON = datetime(2031, 5, 4, 12, 0, 0, tzinfo=UTC)
ID = "20310504-120000-000000-3f9a"
STARTED: Told = (
    "cast_started",
    {
        "castId": ID,
        "loadout": "Chores",
        "hash": "0" * 64,
        "request": "tidy the shed",
        "cwd": "/shed",
        "agent": "scripted:answers.json",
        "version": "0.1.0",
        "pid": 4711,
        "host": "elsewhere",
        "source": None,
    },
)

_HOLDER = """
import json, os, socket, sys
from pathlib import Path
from materiac.runtime.journal import Journal

path = Path(sys.argv[1])
journal = Journal.reopen(path)[0] if path.exists() else Journal.create(path)
print("ready", flush=True)
for line in sys.stdin:
    kind, fields = json.loads(line)
    if fields.get("pid") == "own":
        fields |= {"pid": os.getpid(), "host": socket.gethostname()}
    journal.append(kind, **fields)
    print("ready", flush=True)
"""


def place(socket: str, visit: int = 1, item: str | None = None, **more: Any) -> Json:
    """Where a visit is, as records have it."""
    label = None if item is None else f"the {item}"
    return {
        "socket": socket,
        "materia": socket.title(),
        "visit": visit,
        "itemKey": item,
        "itemLabel": label,
        **more,
    }


def edge(to: str, when: str = "always", index: int = 0) -> Json:
    """The route along an edge."""
    return {"kind": "edge", "to": to, "when": when, "edge": index}


def finished(at: Json, to: str = "end", **more: Any) -> Told:
    """The end of a visit."""
    route = {"kind": "end", "to": "end", "when": "always", "edge": None} if to == "end" else edge(to)
    told: Json = {
        "verdict": None,
        "usedUp": False,
        "route": route,
        "blocked": None,
        "output": [],
        "files": [],
    }
    return ("socket_finished", {**at, **told, **more})


def turn(at: Json, number: int = 1, usage: Json | None = None, **more: Any) -> Told:
    """A turn of an agent."""
    told = {"turn": number, "usage": usage, "model": "m", "provider": "p", "session": None, "stop": "stop"}
    return ("turn_finished", {**at, **told, "error": None, "seconds": 0.5, "files": [], **more})


def used(tokens_in: int, tokens_out: int, cost: float) -> Json:
    """What a turn says that it used."""
    return {"input": tokens_in, "output": tokens_out, "cacheRead": 0, "cacheWrite": 0, "cost": cost}


def write(folder: Path, *told: Told, began: datetime = NOON) -> Path:
    """Write a journal, a record a second."""
    folder.mkdir(parents=True, exist_ok=True)
    ticks = itertools.count()
    journal = folder / "events.jsonl"
    with Journal.create(journal, lambda: began + timedelta(seconds=next(ticks)), durable=False) as writing:
        for kind, fields in told:
            writing.append(kind, **fields)
    return journal


class Held:
    """A journal in the hands of another process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def append(self, kind: str, **fields: Any) -> None:
        """Have a record written; when this returns it is on the disk. The pid `own` is made the real one."""
        assert self.process.stdin
        self.process.stdin.write(json.dumps([kind, fields]) + "\n")
        self.process.stdin.flush()
        self.wait()

    def wait(self) -> None:
        assert self.process.stdout
        assert self.process.stdout.readline() == "ready\n"

    def end(self) -> None:
        """Have the process end as it should."""
        assert self.process.stdin
        self.process.stdin.close()
        assert self.process.wait(20) == 0


@contextmanager
def held(journal: Path, *told: Told) -> Iterator[Held]:
    """Have another process hold a journal, and write records to it."""
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(journal)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        holding = Held(process)
        holding.wait()
        for kind, fields in told:
            holding.append(kind, **fields)
        yield holding
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None and not pipe.closed:
                pipe.close()
