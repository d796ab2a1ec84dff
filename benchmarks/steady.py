"""A cast whose visits are all alike, as many as one likes."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from materiac.agents.protocol import Reply, Request, Usage
from materiac.pipeline import Text, compile_loadout
from materiac.runtime.journal import Subscriber
from materiac.runtime.run import Order, Result, run

MOST = 1_000_000
LOADOUT = {
    "loadouts": {
        "Steady": {
            "entry": "work",
            "sockets": {
                "work": {
                    "materia": "Worker",
                    "parse": "json",
                    "edges": [
                        {"when": "satisfied", "to": "work", "maxTraversals": MOST},
                        {"when": "not_satisfied", "to": "end"},
                    ],
                }
            },
        }
    },
    "materia": {"Worker": {"prompt": "Work."}},
}


class Steady:
    """An agent that says for some visits that there is more to do; it keeps nothing."""

    spec = "steady"

    def __init__(self, visits: int) -> None:
        self._visits = visits

    def turn(self, request: Request) -> Reply:
        """The same answer to each, but for the last one."""
        return Reply(json.dumps({"satisfied": request.visit < self._visits}), Usage(900, 80, cost=0.01))

    def close(self) -> None:
        """Nothing was started."""


def cast(folder: Path, visits: int, *, durable: bool, watchers: Sequence[Subscriber] = ()) -> Result:
    """Run a cast of so many visits, whose files lie below `folder`."""
    image = compile_loadout([Text("steady.json", json.dumps(LOADOUT).encode())]).image
    assert image is not None
    result = run(
        Order(
            image=image,
            request="all of it",
            agent=Steady(visits),
            cwd=folder,
            artifacts=folder / "casts",
            environ=dict(os.environ),
            watchers=watchers,
            durable=durable,
        )
    )
    assert result.status == "complete"
    return result
