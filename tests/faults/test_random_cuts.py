"""Random loadouts, interrupted anywhere: what goes on ends like what was not interrupted."""

from __future__ import annotations

import importlib
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from points import acting

from materiac.agents.scripted import Script, Scripted
from materiac.pipeline import Text, compile_loadout
from materiac.runtime.journal import read
from materiac.runtime.replay import replay
from materiac.runtime.resume import Allowed, Resumption, resume
from materiac.runtime.run import Order, Result, run

sys.path.insert(0, str(Path(__file__).parent.parent / "reference"))
ENVIRON = {"PATH": os.environ["PATH"]}

Json = dict[str, Any]


def observed(result: Result) -> Json:
    """What a cast has come to, without its name and place."""
    data: Json = json.loads(json.dumps(result.as_data()))
    return {key: value for key, value in data.items() if key not in ("castId", "artifacts")}


def check(seed: int, where: float) -> bool:
    """Run the loadout of a seed, leave a share of its records, and go on; false where it is not sound."""
    played = importlib.import_module("random_loadouts").play(seed)
    image = compile_loadout([Text("random.json", json.dumps(played.config).encode())]).image
    if image is None:
        return False
    script = Script.model_validate(played.script)
    with tempfile.TemporaryDirectory() as scratch, acting(lambda _: None):
        cwd = Path(scratch)
        agent = Scripted("scripted:here", script)
        wanted = run(Order(image, "a request", agent, cwd, cwd / "casts", ENVIRON))
        journal = wanted.folder / "events.jsonl"
        lines = journal.read_bytes().splitlines(keepends=True)
        journal.write_bytes(b"".join(lines[: 1 + int(where * (len(lines) - 1))]))
        again = Scripted("scripted:here", script)
        order = Resumption(wanted.folder, again, ENVIRON, image, Allowed(rerun=True))
        assert observed(resume(order)) == observed(wanted)
        told = replay(wanted.folder)
        assert (told.status, told.parted, told.difference) == (wanted.status, None, None)
        assert len(read(journal).records) >= len(lines)
    return True


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 100_000), st.floats(0, 1, exclude_max=True))
def test_a_random_cast_cut_anywhere_goes_on(seed: int, where: float) -> None:
    assume(check(seed, where))
