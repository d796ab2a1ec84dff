from __future__ import annotations

import json
from pathlib import Path

import pytest
from hand_written import ID, STARTED, finished, held, place, turn, used, write

from materiac.runtime.journal import Journal, JournalError
from materiac.runtime.rebuild import rebuild

DO = place("do", 1, "WI-1")
OUTPUT = {"kind": "output", "file": "sockets/do/1.md", "sha256": "0" * 64, "bytes": 1}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A cast whose files have been made once."""
    folder = tmp_path / ID
    told = turn(DO, usage=used(10, 2, 0.5), files=[OUTPUT])
    write(folder, STARTED, ("socket_started", DO), told, finished(DO))
    rebuild(folder)
    return folder


def differences(folder: Path) -> dict[str, str | None]:
    return {part.file: part.differed for part in rebuild(folder)}


def test_what_is_missing_is_made(tmp_path: Path) -> None:
    write(tmp_path / ID, STARTED, ("socket_started", DO), turn(DO, files=[OUTPUT]))
    assert set(differences(tmp_path / ID).values()) == {"it was missing"}
    manifest = json.loads((tmp_path / ID / "manifest.json").read_text(encoding="utf-8"))
    assert [entry["file"] for entry in manifest["entries"]] == ["sockets/do/1.md"]
    usage = json.loads((tmp_path / ID / "usage.json").read_text(encoding="utf-8"))
    assert usage["total"]["turns"] == 1


def test_what_is_sound_stays_as_it_is(folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert differences(folder) == {"manifest.json": None, "usage.json": None}
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("manifest.json", "{", "it was no JSON"),
        ("manifest.json", "[]", "it was no object"),
        ("manifest.json", '{"castId": "x", "entries": []}', "'castId' was another; 'entries' had 0"),
        ("usage.json", '{"turns": [], "total": {}}', "it lacked 'byMateria', 'bySocket', "),
        ("usage.json", "", "it was no JSON"),
    ],
)
def test_what_differed_is_said(folder: Path, file: str, text: str, words: str) -> None:
    whole = (folder / file).read_bytes()
    (folder / file).write_text(text, encoding="utf-8")
    assert str(differences(folder)[file]).startswith(words)
    assert (folder / file).read_bytes() == whole


def test_another_layout_is_said(folder: Path) -> None:
    file = folder / "usage.json"
    file.write_text(json.dumps(json.loads(file.read_bytes())), encoding="utf-8")
    assert differences(folder)["usage.json"] == "it was laid out in another way"


def test_a_journal_that_is_being_written_is_left_alone(folder: Path) -> None:
    (folder / "usage.json").unlink()
    with held(folder / "events.jsonl", ("cast_resumed", {"pid": "own"})) as other:
        with pytest.raises(JournalError, match=f"is being written by process {other.process.pid} on "):
            rebuild(folder)
        assert not (folder / "usage.json").exists()
    assert differences(folder)["usage.json"] == "it was missing"


def test_the_lock_is_given_back(folder: Path) -> None:
    rebuild(folder)
    Journal.reopen(folder / "events.jsonl")[0].close()


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        pytest.param(lambda journal: journal.unlink(), "cannot open ", id="gone"),
        pytest.param(lambda journal: journal.write_bytes(b"x\n"), "line 1 of .* is broken", id="broken"),
    ],
)
def test_without_a_sound_journal_nothing_is_touched(folder: Path, damage: object, words: str) -> None:
    assert callable(damage)
    before = (folder / "usage.json").read_bytes()
    damage(folder / "events.jsonl")
    with pytest.raises(JournalError, match=words):
        rebuild(folder)
    assert (folder / "usage.json").read_bytes() == before


def test_a_record_that_cannot_be_summed_up(tmp_path: Path) -> None:
    write(tmp_path, STARTED, ("turn_finished", {"socket": "do"}))
    with pytest.raises(JournalError, match="cannot be summed up: KeyError"):
        rebuild(tmp_path)
