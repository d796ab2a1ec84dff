"""What a later cast is told of an earlier one."""

from __future__ import annotations

from pathlib import Path

import pytest
from samples import answers, cast, loadout, socket, working

from materiac.runtime.previous import LONGEST, PreviousError, outcome

PLAN = {"workItems": [{"title": "one", "context": "1"}], "context": "one item is enough"}


def test_a_complete_cast(tmp_path: Path) -> None:
    check = {"json": {"satisfied": True, "context": "it holds", "text": "Shown."}}
    result = cast(working(), tmp_path, answers(plan=PLAN, check=check, tell="All done."))
    told = outcome(result.folder)
    assert told == {
        "castId": result.folder.name,
        "loadout": "L",
        "status": "complete",
        "request": "a request",
        "lastOutput": "All done.",
        "context": "[plan] one item is enough\n\n[check] it holds",
        "text": "Shown.",
    }


def test_a_failed_cast(tmp_path: Path) -> None:
    result = cast(working(), tmp_path, answers(plan=PLAN, check="no object"))
    told = outcome(result.folder)
    assert told["status"] == "failed"
    assert told["failure"]["kind"] == "output"
    assert told["failure"]["socket"] == "check"


def test_long_words_are_cut(tmp_path: Path) -> None:
    long = {"json": {"context": f"{'a' * 5000} last", "text": "t" * 5000}}
    config = loadout({"a": socket(parse="json", edges=[{"to": "b"}]), "b": socket()})
    result = cast(config, tmp_path, answers(a=long, b="b" * 9000), request="r" * 5000)
    told = outcome(result.folder)
    assert told["context"].endswith("a last")
    for key in ("request", "lastOutput", "context", "text"):
        assert len(told[key]) == LONGEST[key]
    assert sum(LONGEST.values()) == 8000


def test_a_cast_that_was_interrupted(tmp_path: Path) -> None:
    journal = cast(loadout({"a": socket()}), tmp_path, answers()).folder / "events.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-1]))
    assert outcome(journal.parent)["status"] == "interrupted"


def test_files_that_are_gone_are_passed_over(tmp_path: Path) -> None:
    folder = cast(loadout({"a": socket()}), tmp_path, answers(a="words")).folder
    (folder / "sockets" / "a" / "1.md").unlink()
    assert "lastOutput" not in outcome(folder)


@pytest.mark.parametrize("content", [None, b"", b"{}\n"])
def test_what_is_no_cast_is_refused(content: bytes | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "events.jsonl").write_bytes(content)
    with pytest.raises(PreviousError, match="holds no cast"):
        outcome(tmp_path)
