"""Casts, and what each visit of them gave: what an exported machine has to be told to go the same way."""

from __future__ import annotations

import importlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from samples import SHIPPED

from materiac.agents.scripted import Script, Scripted
from materiac.cli.loading import bundled
from materiac.pipeline import Text, compile_loadout
from materiac.program import Image
from materiac.runtime.run import Order, run

_REFERENCE = Path(__file__).parent.parent / "reference"

Json = dict[str, Any]


@dataclass(frozen=True)
class Recorded:
    """A cast: what `run --json` says, and the accepted outputs of each socket in order."""

    name: str
    image: Image
    result: Json
    outputs: dict[str, list[Any]]

    @property
    def kind(self) -> str | None:
        """The kind of the failure, if it failed."""
        return (self.result["failure"] or {}).get("kind")


def shipped() -> Iterator[Recorded]:
    """The shipped loadouts with the scripts beside them."""
    for file in SHIPPED:
        script = file.parent / "scripts" / f"{file.stem}.agent.json"
        answers = json.loads(script.read_text(encoding="utf-8")) if script.exists() else {}
        image = compile_loadout([*bundled(), Text(file.name, file.read_bytes())]).image
        assert image is not None
        yield _record(file.stem, image, answers)


def random(seeds: range) -> Iterator[Recorded]:
    """Random loadouts that are sound, without a budget of tokens."""
    sys.path.insert(0, str(_REFERENCE))
    play = importlib.import_module("random_loadouts").play
    for seed in seeds:
        played = play(seed)
        config = {key: value for key, value in played.config.items() if key != "budget"}
        image = compile_loadout([Text("random.json", json.dumps(config).encode())]).image
        if image is not None:
            yield _record(f"seed {seed}", image, played.script)


def _record(name: str, image: Image, script: Json) -> Recorded:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        agent = Scripted("scripted:here", Script.model_validate(script))
        order = Order(image, "a request", agent, folder, folder / "casts", dict(os.environ), durable=False)
        result = run(order)
        return Recorded(name, image, result.as_data(), _outputs(image, result.folder, result.cast.path))


def _outputs(image: Image, cast: Path, path: list[str]) -> dict[str, list[Any]]:
    outputs: dict[str, list[Any]] = {}
    for socket in path:
        given = outputs.setdefault(socket, [])
        file = cast / "sockets" / socket / f"{len(given) + 1}.md"
        if image.program.sockets[socket].parse == "json":
            parsed = file.with_suffix(".json")
            given.append(json.loads(parsed.read_text(encoding="utf-8")) if parsed.exists() else None)
        else:
            given.append(file.read_bytes().decode() if file.exists() else None)
    return {socket: [part for part in given if part is not None] for socket, given in outputs.items()}
