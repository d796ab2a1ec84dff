"""Spans of journals that were cut anywhere and gone on with: a tree, with each piece of work in it once."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
from samples import Json, answers, cast, compiled, loadout, socket, working

from materiac.runtime.journal import Record, read
from materiac.runtime.resume import Allowed, Resumption, resume
from materiac.tracing.spans import CAST, Span, Spans

ITEMS = [{"title": f"T{n}", "context": f"c{n}"} for n in (1, 2)]
YES, NO = {"satisfied": True}, {"satisfied": False, "context": "not yet"}
SCHEDULE: Json = {
    "workItems": ITEMS,
    "parallelSchedule": {
        "version": 1,
        "streams": [{"name": name, "workItemIndexes": [n]} for n, name in enumerate("ab")],
    },
}


def parallel() -> Json:
    step = {"cursor": "workItemIndex", "items": "state.workItems", "when": "satisfied"}
    edges = [{"when": "satisfied", "to": "build"}]
    work = {
        "sockets": ["build"],
        "consumes": {"from": "plan"},
        "exits": [{"from": "build", "condition": "satisfied", "targetSocketId": "tell"}],
        "parallel": {"maxConcurrency": 2},
    }
    return loadout(
        {
            "plan": {"materia": "Plan", "edges": [{"to": "build"}]},
            "build": {"materia": "Safe", "parse": "json", "advance": step, "edges": edges},
            "tell": socket(),
        },
        loops={"work": work},
        materia={
            "Plan": {"prompt": "Plan.", "generator": True, "parallel": True},
            "Safe": {"prompt": "Do {{item.title}}.", "parallelSafe": True},
        },
    )


CASES: dict[str, tuple[Json, Json]] = {
    "loop": (
        working(),
        {"plan": {"workItems": ITEMS}, "build": ["b"] * 3, "check": [NO, YES, YES], "tell": "told"},
    ),
    "streams": (parallel(), {"plan": SCHEDULE, "build": [YES, YES], "tell": "told"}),
}


def spans(config: Json, records: tuple[Record, ...]) -> list[Span]:
    fold = Spans(compiled(config).program.materia)
    return [span for record in records for span in fold.take(record)]


def check(found: list[Span], records: tuple[Record, ...]) -> None:
    keys = Counter(span.key for span in found)
    assert set(keys.values()) == {1}
    assert [span.key for span in found if span.parent is None] == [CAST]
    assert {span.parent for span in found} <= {None, *keys}
    assert all(span.began <= span.ended for span in found)
    kinds = Counter(record.type for record in records)
    names = Counter(span.name.partition(" ")[0] for span in found)
    assert names["chat"] == kinds["turn_finished"]
    assert names["invoke_workflow"] == 1 + kinds["cast_resumed"]
    ways = {(span.attributes.get("materiac.stream"), span.name) for span in found}
    lanes = {name for name, _ in ways if name}
    assert {name for lane, name in ways if lane and name.startswith("stream")} == {
        f"stream {x}" for x in lanes
    }


@pytest.mark.parametrize("name", CASES)
def test_wherever_a_cast_was_cut(name: str, tmp_path: Path) -> None:
    config, script = CASES[name]
    whole = cast(config, tmp_path, answers(**script))
    lines = (whole.folder / "events.jsonl").read_bytes().splitlines(keepends=True)
    records = read(whole.folder / "events.jsonl").records
    check(spans(config, records), records)
    for count in range(1, len(lines)):
        folder = tmp_path / "again" / whole.folder.name
        shutil.copytree(whole.folder, folder)
        path = folder / "events.jsonl"
        path.write_bytes(b"".join(lines[:count]))
        result = resume(Resumption(folder, answers(**script), {}, None, Allowed(rerun=True)))
        records = read(path).records
        found = spans(config, records)
        assert result.status == "complete", json.loads(lines[count - 1])
        check(found, records)
        assert any(span.attributes.get("materiac.interrupted") for span in found), count
        shutil.rmtree(folder)
