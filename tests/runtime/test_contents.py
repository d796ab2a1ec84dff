from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from materiac.runtime.contents import content, definition

TEXT = "swept\n"
LISTED = {
    "kind": "output",
    "file": "sockets/do/1.md",
    "sha256": hashlib.sha256(TEXT.encode()).hexdigest(),
    "bytes": len(TEXT),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "cast"
    (folder / "sockets" / "do").mkdir(parents=True)
    (folder / "sockets" / "do" / "1.md").write_text(TEXT, encoding="utf-8")
    (tmp_path / "secret.md").write_text(TEXT, encoding="utf-8")
    return folder


def test_a_file_as_it_was_written(folder: Path) -> None:
    found = content(folder, LISTED)
    assert (found.state, found.text, found.fault) == ("as written", TEXT, None)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("swept it\n", "it has been changed: 6 bytes were written, 9 are there", id="longer"),
        pytest.param("Swept\n", "it has been changed: 6 bytes as before, with another hash", id="as long"),
    ],
)
def test_a_file_that_was_changed(folder: Path, text: str, words: str) -> None:
    (folder / "sockets/do/1.md").write_text(text, encoding="utf-8")
    found = content(folder, LISTED)
    assert (found.state, found.text, found.fault) == ("changed", text, words)


@pytest.mark.parametrize("gone", ["sockets/do/1.md", "sockets"])
def test_a_file_that_is_gone(folder: Path, gone: str) -> None:
    (folder / gone).rename(folder / "elsewhere")
    found = content(folder, LISTED)
    assert (found.state, found.text, found.fault) == ("gone", None, "it is gone")


@pytest.mark.parametrize(
    "name",
    [
        "../secret.md",
        "sockets/../../secret.md",
        "{folder}/../secret.md",
        "linked.md",
        "out/secret.md",
        "sockets",
        "pipe",
        "",
    ],
)
def test_nothing_outside_is_read(folder: Path, name: str) -> None:
    (folder / "linked.md").symlink_to("../secret.md")
    (folder / "out").symlink_to("..")
    os.mkfifo(folder / "pipe")
    found = content(folder, {"file": name.format(folder=folder)})
    assert (found.state, found.data) == ("unreadable", None)
    assert found.fault == "it is no file in the folder of the cast"


@pytest.mark.parametrize("name", ["x" * 300, "a\0b"], ids=["too long", "no name"])
def test_a_name_that_is_none(folder: Path, name: str) -> None:
    found = content(folder, {"file": name})
    assert found.state == "unreadable"
    assert str(found.fault).startswith("it cannot be read: ")


def test_bytes_that_are_no_text(folder: Path) -> None:
    (folder / "raw.txt").write_bytes(b"a\xffb")
    assert content(folder, {"file": "raw.txt"}).text == "a\ufffdb"


def test_a_definition(folder: Path) -> None:
    program = {
        "sockets": [{"id": "do", "materia": "Doer"}],
        "materia": [{"name": "Doer"}],
        "budget": {"a": 1},
    }
    (folder / "machine.json").write_text(json.dumps({"program": program}), encoding="utf-8")
    found = definition(folder, "machine.json")
    assert (found.sockets, found.materia) == ({"do": program["sockets"][0]}, {"Doer": {"name": "Doer"}})  # type: ignore[index]
    assert (found.loops, found.budget) == ({}, {"a": 1})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("machine.json", "{"),
        ("machine.json", "[]"),
        ("machine.json", '{"program": 5}'),
        ("machine.json", '{"program": {"sockets": [{}]}}'),
        ("machine.json", "[" * 100_000),
        ("machine-2.json", "{}"),
        ("sockets/do/1.md", "{}"),
    ],
)
def test_a_definition_that_cannot_be_read_is_empty(folder: Path, name: str, text: str) -> None:
    (folder / "machine.json").write_text(text, encoding="utf-8")
    assert definition(folder, name).sockets == {}
