"""A cast from its first step to its last: the folder, the journal, the machine, what came of it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from materiac import __version__
from materiac.agents.protocol import Agent
from materiac.machine import FAILED, WAITING, Grid
from materiac.program import Image, image_data
from materiac.runtime import cast_id
from materiac.runtime.artifacts import CastFolder, Manifest, folder_names
from materiac.runtime.bench import Bench, Person, StandIn
from materiac.runtime.cast import Cast
from materiac.runtime.journal import Journal, Subscriber
from materiac.runtime.lanes import Lanes
from materiac.runtime.usage import Tally, UsageFile
from materiac.runtime.visit import Json, characters
from materiac.utilities.environment import Mask, secrets

STATUS: Final = {FAILED: "failed", WAITING: "waiting"}


@dataclass(frozen=True)
class Order:
    """What a cast is to do, and with what.

    `artifacts` is the folder that casts lie in; `resolved` what `config.resolved.json` shall hold;
    `watchers` get every record of the journal; `state` is what the state holds at the start. Utilities
    run unless a `stand_in` answers for them. A cast that is not `durable` may be lost with the power:
    nothing of it is synced.
    """

    image: Image
    request: str
    agent: Agent
    cwd: Path
    artifacts: Path
    environ: Mapping[str, str]
    resolved: Json = field(default_factory=dict)
    person: Person | None = None
    watchers: Sequence[Subscriber] = ()
    state: Json = field(default_factory=dict)
    stand_in: StandIn | None = None
    durable: bool = True


@dataclass(frozen=True)
class Result:
    """What came of a cast. `status` is complete, failed, waiting or stopped; `seconds` is what it took."""

    status: str
    cast: Cast
    folder: Path
    usage: Json
    seconds: float

    def as_data(self) -> Json:
        """The object that `run --json` prints."""
        cast = self.cast
        return {
            "castId": cast.bench.cast_id,
            "status": self.status,
            "failure": cast.failure,
            "waiting": cast.waits,
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
    program, mask = order.image.program, Mask(secrets(order.environ))
    state: Json = mask.data(order.state)
    beginning: Json = {"state": state} if state else {}
    folder = CastFolder(root, folder_names(program.sockets))
    folder.write_json("machine.json", mask.data(image_data(order.image)))
    folder.write_json("config.resolved.json", mask.data(order.resolved))
    with Journal.create(root / "events.jsonl", durable=order.durable) as journal:
        tally = Tally()
        for subscriber in (tally, UsageFile(root / "usage.json", tally), Manifest(root / "manifest.json")):
            journal.subscribe(subscriber)
        for watcher in order.watchers:
            journal.subscribe(watcher)
        request = mask.text(characters(order.request))
        bench = Bench(
            program, name, request, folder, journal, tally, order.agent, order.person, order.cwd,
            order.environ, mask, order.stand_in,
        )  # fmt: skip
        journal.append(
            "cast_started",
            castId=name,
            loadout=program.name,
            hash=program.digest(),
            request=request,
            cwd=str(order.cwd),
            agent=mask.text(order.agent.spec),
            version=__version__,
            **beginning,
        )
        cast = Cast(bench, state)
        status = _drive(cast)
        journal.append("cast_finished", status=status, failure=cast.failure, waiting=cast.waits)
    return Result(status, cast, root, tally.as_data(), time.monotonic() - began)


def _drive(cast: Cast) -> str:
    grid = Grid(cast.program, cast, Lanes(cast).run)
    try:
        while not grid.over:
            grid.step()
    except KeyboardInterrupt:
        return "stopped"
    finally:
        cast.bench.agent.close()
    return STATUS.get(grid.at, "complete")
