"""A cast may begin with something in its state."""

from __future__ import annotations

import json
from pathlib import Path

from samples import Json, answers, cast, loadout, socket

BEFORE: Json = {"previousCast": {"status": "complete", "notes": ["it holds"]}}
STEP: Json = {"materia": "Reads", "assign": {"previousCast.seen": "previousCast.notes.0"}}
READS: Json = {"prompt": "It was {{state.previousCast.status}}."}


def test_what_a_cast_begins_with_is_read_written_and_recorded(tmp_path: Path) -> None:
    result = cast(loadout({"a": STEP}, materia={"Reads": READS}), tmp_path, answers(), state=BEFORE)
    assert result.status == "complete"
    assert result.as_data()["data"]["previousCast"]["seen"] == "it holds"
    assert BEFORE["previousCast"] == {"status": "complete", "notes": ["it holds"]}
    prompt = (result.folder / "contexts" / "a" / "1.md").read_text(encoding="utf-8")
    assert "It was complete." in prompt
    assert '"notes"' in prompt
    first = json.loads((result.folder / "events.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert first["state"] == BEFORE


def test_a_cast_that_begins_with_nothing_says_nothing_of_it(tmp_path: Path) -> None:
    result = cast(loadout({"a": socket()}), tmp_path, answers())
    first = json.loads((result.folder / "events.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert "state" not in first
