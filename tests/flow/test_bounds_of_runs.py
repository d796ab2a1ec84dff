"""Real casts come to their bounds, and no further, with agents that do their worst."""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from materiac.agents.protocol import Reply, Request
from materiac.cli.loading import bundled
from materiac.flow.bounds import bound
from materiac.pipeline import Text, compile_all
from materiac.program import Program, Socket
from materiac.resources import folder
from materiac.runtime.run import Order, run

Json = dict[str, Any]


class Worst:
    """Answers badly at first wherever that costs a turn, and refuses as often as an edge lets it."""

    def __init__(self, program: Program, items: int) -> None:
        self._program, self._items = program, items
        self._refused: Counter[tuple[str, str | None]] = Counter()
        self._lock = threading.Lock()
        self.turns = 0
        self.spec = "worst"

    def turn(self, request: Request) -> Reply:
        with self._lock:
            self.turns += 1
            socket = self._program.sockets[request.socket]
            if socket.parse == "text" or request.turn == 1:
                return Reply("words")
            return Reply(json.dumps(self._object(socket, request.item_key)))

    def _object(self, socket: Socket, item: str | None) -> Json:
        materia = self._program.materia[socket.materia]
        if materia.generator:
            items = [{"title": f"item {n}", "context": "to do"} for n in range(self._items)]
            streams = [{"name": f"s{n}", "workItemIndexes": [n]} for n in range(self._items)]
            schedule = {"parallelSchedule": {"version": 1, "streams": streams}} if materia.parallel else {}
            return {"workItems": items, **schedule}
        back = next((edge for edge in socket.edges if edge.when == "not_satisfied"), None)
        self._refused[socket.id, item] += 1
        refuses = back is not None and self._refused[socket.id, item] <= (back.max_traversals or 0)
        return {"satisfied": not refuses, "context": "because"}

    def close(self) -> None:
        """Nothing was started."""


@pytest.mark.parametrize("items", [0, 1, 2, 5])
@pytest.mark.parametrize("name", ["plan-build-check", "parallel", "review-loop", "hello"])
def test_a_cast_comes_to_its_bound(name: str, items: int, tmp_path: Path) -> None:
    file = folder("loadouts") / "templates" / f"{name}.json"
    done = compile_all([*bundled(), Text(file.name, file.read_bytes())])
    ((loadout, image),) = done.images.items()
    agent = Worst(image.program, items)
    result = run(Order(image, "a request", agent, tmp_path, tmp_path / "casts", os.environ, durable=False))
    assert result.status == "complete"
    assert agent.turns == bound(done.graphs[loadout], image.program.max_no_advance_cycles).turns.at(items)
