"""A cast from its first step to its rest: the folder, the journal, the machine, what came of it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from materiac import __version__
from materiac.agents.protocol import Agent
from materiac.machine import FAILED, WAITING
from materiac.program import Image, image_data
from materiac.runtime import cast_id
from materiac.runtime.artifacts import CastFolder
from materiac.runtime.bench import Bench, Hears, Person, StandIn
from materiac.runtime.cast import Cast
from materiac.runtime.chronicle import Chronicle
from materiac.runtime.drive import Drive
from materiac.runtime.folder_names import folder_names
from materiac.runtime.journal import Journal, Record, Subscriber
from materiac.runtime.lanes import Lanes
from materiac.runtime.manifest import Manifest
from materiac.runtime.notify import NOTE, mask_of, notified
from materiac.runtime.usage import Tally, UsageFile, used
from materiac.runtime.visit import Json, characters

MACHINE: Final = "machine.json"
_STATUS: Final = {FAILED: "failed", WAITING: "waiting"}


@dataclass(frozen=True)
class Order:
    """What a cast is to do, and with what.

    `artifacts` is the folder that casts lie in; `resolved` what `config.resolved.json` shall hold;
    `source` says where the loadout was read; `watchers` get every record of the journal; `state` is what
    the state holds at the start; whoever `hears` is told what agents do in a turn. Utilities run unless a
    `stand_in` answers for them. A cast that is not `durable` may be lost with the power: nothing of it
    is synced.
    """

    image: Image
    request: str
    agent: Agent
    cwd: Path
    artifacts: Path
    environ: Mapping[str, str]
    resolved: Json = field(default_factory=dict)
    source: Json | None = None
    person: Person | None = None
    hears: Hears | None = None
    watchers: Sequence[Subscriber] = ()
    state: Json = field(default_factory=dict)
    stand_in: StandIn | None = None
    durable: bool = True


@dataclass(frozen=True)
class Result:
    """What came of a cast. `status` is complete, failed, waiting or stopped; `seconds` is what it took;
    `broken` tells of readers of its journal that failed, so that their files may lack something."""

    status: str
    cast: Cast
    folder: Path
    seconds: float
    broken: tuple[str, ...] = ()

    @property
    def usage(self) -> Json:
        """What it has used, as `usage.json` has it."""
        return used(self.folder / "events.jsonl")

    def as_data(self) -> Json:
        """The object that `run --json` prints."""
        cast = self.cast
        return {
            "castId": cast.bench.cast_id,
            "status": self.status,
            "failure": cast.failure,
            "waiting": cast.waits.message if cast.waits else None,
            "path": cast.path,
            "items": cast.items,
            "visits": dict(cast.visits),
            "traversals": dict(cast.traversals),
            "cursors": cast.loops.cursors(),
            "data": cast.knowledge.state,
            "usage": self.usage,
            "artifacts": str(self.folder),
        }


def run(order: Order) -> Result:
    """Run a cast. Raises `ArtifactError` and `JournalError` where its files cannot be written."""
    began = time.monotonic()
    name, root = cast_id.create(order.artifacts, durable=order.durable)
    program, settings = order.image.program, order.image.settings
    mask = mask_of(settings, order.environ)
    folder = CastFolder(root, folder_names(program.sockets), durable=order.durable)
    folder.write_json(MACHINE, mask.data(image_data(order.image)))
    folder.write_json("config.resolved.json", mask.data(order.resolved))
    with contextlib.ExitStack() as stack:
        journal = stack.enter_context(
            Journal.create(
                root / "events.jsonl", durable=order.durable, max_bytes=settings.limits.max_journal_bytes
            )
        )
        tally = watched(journal, root, order.watchers)
        told = notified(journal, root, settings, mask, order.environ) if order.durable else None
        notes = () if told is None else stack.enter_context(told)
        bench = Bench(
            program=program,
            budget=program.budget,
            limits=settings.limits,
            recovery=settings.recovery,
            cast_id=name,
            request=mask.text(characters(order.request)),
            folder=folder,
            journal=Chronicle(journal),
            tally=tally,
            agent=order.agent,
            person=order.person,
            cwd=order.cwd,
            environ=order.environ,
            mask=mask,
            stand_in=order.stand_in,
            hears=order.hears,
        )
        state: Json = mask.data(order.state)
        journal.append("cast_started", **_beginning(order, bench, state))
        note(journal, notes)
        cast = Cast(bench, state)
        status = conduct(cast)
        seconds = time.monotonic() - began
    return Result(status, cast, root, seconds, tuple(journal.broken))


def _beginning(order: Order, bench: Bench, state: Json) -> Json:
    return {
        "castId": bench.cast_id,
        "loadout": bench.program.name,
        "hash": bench.program.digest(),
        "request": bench.request,
        "cwd": str(order.cwd),
        "source": bench.mask.data(order.source),
        "agent": bench.mask.text(order.agent.spec),
        **this_process(),
        **({"state": state} if state else {}),
    }


def note(journal: Journal, notes: Sequence[str]) -> None:
    """Write down what a person should know about the sinks."""
    for message in notes:
        journal.append(NOTE, sync=False, message=message)


def this_process() -> Json:
    """Who writes, as the records have it with which a process begins."""
    return {"pid": os.getpid(), "host": socket.gethostname(), "version": __version__}


def watched(
    journal: Journal, root: Path, watchers: Sequence[Subscriber], records: Sequence[Record] = ()
) -> Tally:
    """Have the readers of a journal go on from `records`; gives the one that the budget is held to."""
    tally = Tally()
    usage, manifest = (
        UsageFile(root / "usage.json", tally, records),
        Manifest(root / "manifest.json", records),
    )
    readers: list[Subscriber] = [tally, usage, manifest, *watchers]
    for reader in readers:
        journal.subscribe(reader)
    return tally


def conduct(cast: Cast) -> str:
    """Drive a cast until it rests and nobody has gone on with it; gives what it then is."""
    lanes, journal = Lanes(cast), cast.bench.journal
    drive = Drive(cast, lanes.run, lanes.go_on)
    try:
        while True:
            drive.to_rest()
            status = _STATUS.get(drive.grid.at, "complete")
            resumed = journal.finish(status=status, **_rest(cast))
            if resumed is None:
                return status
            drive.go_on(resumed)
    except KeyboardInterrupt:
        journal.stop(status="stopped", **_rest(cast))
        return "stopped"
    finally:
        cast.bench.agent.close()


def _rest(cast: Cast) -> Json:
    text = json.dumps(cast.knowledge.state, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return {
        "failure": cast.failure,
        "waiting": cast.waits.message if cast.waits else None,
        "waitingFor": cast.waits.reason if cast.waits else None,
        "stateHash": hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
    }
