"""Many casts that begin at once: each has a folder and an id of its own, and is whole."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from samples import answers, compiled, loadout, socket

from materiac.runtime.journal import read
from materiac.runtime.run import Order, Result, run

CASTS, AT_ONCE = 200, 16
IMAGE = compiled(loadout({"a": socket()}))


def start(folder: Path) -> Result:
    return run(Order(IMAGE, "wash", answers(), folder, folder / "casts", {}))


def test_casts_of_one_moment_have_folders_of_their_own(tmp_path: Path) -> None:
    began = time.monotonic()
    with ThreadPoolExecutor(AT_ONCE) as threads:
        results = list(threads.map(start, [tmp_path] * CASTS))
    took = time.monotonic() - began
    folders = {result.folder for result in results}
    assert folders == set((tmp_path / "casts").iterdir())
    assert len(folders) == CASTS
    assert took < 20
    for result in results:
        first, *_, last = read(result.folder / "events.jsonl").records
        assert first.fields["castId"] == result.folder.name
        assert (last.type, last.fields["status"]) == ("cast_finished", "complete")
        assert json.loads((result.folder / "manifest.json").read_bytes())["entries"]
