from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from materiac.runtime import cast_id
from materiac.runtime.artifacts import KINDS, ArtifactError, CastFolder, Written
from materiac.runtime.folder_names import folder_names
from materiac.runtime.journal import Journal, read
from materiac.runtime.manifest import GrowingFile, Manifest

SOCKETS = ["Socket-1", "build"]


@pytest.fixture
def folder(tmp_path: Path) -> CastFolder:
    root = tmp_path / "casts" / "c-1"
    root.mkdir(parents=True)
    return CastFolder(root, folder_names(SOCKETS))


def files_in(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir())


Write = Callable[[CastFolder], Written]


@pytest.mark.parametrize(
    ("write", "path", "kind"),
    [
        pytest.param(
            lambda f: f.context("Socket-1", 1, "x"), "contexts/Socket-1/1.md", "context", id="prompt"
        ),
        pytest.param(
            lambda f: f.context("Socket-1", 1, "x", repair=1),
            "contexts/Socket-1/1.repair-1.md",
            "context",
            id="prompt of a repair",
        ),
        pytest.param(
            lambda f: f.context("build", 12, "x", turn=2), "contexts/build/12.turn-2.md", "context", id="talk"
        ),
        pytest.param(lambda f: f.output("build", 1, "x", ".md"), "sockets/build/1.md", "output", id="raw"),
        pytest.param(
            lambda f: f.output("build", 1, "{}", ".json"), "sockets/build/1.json", "parsed", id="parsed"
        ),
        pytest.param(
            lambda f: f.output("build", 1, "x", ".md", turn=3, repair=1),
            "sockets/build/1.turn-3.repair-1.md",
            "output",
            id="repair of a talk",
        ),
        pytest.param(
            lambda f: f.output("build", 2, "x", ".stderr.txt"),
            "sockets/build/2.stderr.txt",
            "stderr",
            id="stderr",
        ),
        pytest.param(lambda f: f.write_json("machine.json", {}), "machine.json", "machine", id="machine"),
        pytest.param(
            lambda f: f.write_json("config.resolved.json", {}),
            "config.resolved.json",
            "config.resolved",
            id="config",
        ),
        pytest.param(
            lambda f: f.streams(["api", "a b"])["a b"].output("build", 1, "x", ".md"),
            "streams/a b/sockets/build/1.md",
            "output",
            id="stream",
        ),
    ],
)
def test_where_files_lie(folder: CastFolder, write: Write, path: str, kind: str) -> None:
    written = write(folder)
    data = (folder.root / path).read_bytes()
    assert written == Written(path, kind, hashlib.sha256(data).hexdigest(), len(data))
    assert files_in(folder.root) == [path]


@pytest.mark.parametrize(
    ("content", "data"),
    [
        pytest.param("  \r\n\ta\u2028 \n\n", b"  \r\n\ta\xe2\x80\xa8 \n\n", id="white space"),
        pytest.param("", b"", id="nothing"),
        pytest.param(b"\xff\x00\r", b"\xff\x00\r", id="bytes that are no text"),
        pytest.param("half: \ud83d", b"half: \\ud83d", id="lone surrogate"),
    ],
)
def test_content_is_kept_to_the_byte(folder: CastFolder, content: str | bytes, data: bytes) -> None:
    written = folder.output("build", 1, content, ".md")
    assert (folder.root / written.path).read_bytes() == data


@pytest.mark.parametrize("umask", [0, 0o022, 0o277, 0o777], ids=oct)
def test_files_and_folders_are_the_owners_alone(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        name, root = cast_id.create(tmp_path / ".materia" / "casts")
        folder = CastFolder(root, folder_names(SOCKETS))
        folder.streams(["s"])["s"].context("build", 1, "x")
        folder.write_json("usage.json", {})
        Manifest(root / "manifest.json")
        Journal.create(root / "events.jsonl").close()
    finally:
        os.umask(before)
    made = [path for path in tmp_path.rglob("*") if name in path.parts or path.name in (".materia", "casts")]
    assert len(made) == 3 + 3 + 5
    for path in made:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_a_file_is_replaced_whole(folder: CastFolder) -> None:
    folder.write_json("machine.json", {"a": "long" * 100})
    folder.write_json("machine.json", {"é": 1})
    assert (folder.root / "machine.json").read_text(encoding="utf-8") == '{\n  "é": 1\n}\n'
    assert files_in(folder.root) == ["machine.json"]


@pytest.mark.parametrize("name", ["../machine.json", "a/b.json", "/x.json", "machine", "", ".json", "A.json"])
def test_only_names_are_names_of_files(folder: CastFolder, name: str) -> None:
    with pytest.raises(ArtifactError, match="is no name for a file of a cast"):
        folder.write_json(name, {})
    assert files_in(folder.root.parent.parent) == []


def test_a_value_nested_too_deep_is_named(folder: CastFolder) -> None:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(
        ArtifactError, match=r"'machine\.json' cannot be written: its value is nested too deep"
    ):
        folder.write_json("machine.json", value)


@pytest.mark.parametrize("link", ["casts", "casts/c-1", "casts/c-1/sockets", "casts/c-1/sockets/build"])
def test_a_link_in_the_way_is_refused(tmp_path: Path, link: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "c-1" / "sockets" / "build").mkdir(parents=True)
    (tmp_path / link).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / link).symlink_to(elsewhere, target_is_directory=True)
    root = tmp_path / "casts" / "c-1"
    with pytest.raises(
        ArtifactError, match=f"'.*{link}' is a symbolic link, a folder of its own was expected"
    ):
        CastFolder(root, folder_names(SOCKETS)).output("build", 1, "x", ".md")
    assert files_in(elsewhere) == []


@pytest.mark.parametrize(
    "link",
    ["events.jsonl", "machine.json", "sockets", "sockets/build/1.md", "streams/s", "contexts/build", "more"],
)
@pytest.mark.parametrize("to", ["precious", "elsewhere", "nowhere"])
def test_a_cast_with_a_link_in_it_is_not_taken_up(
    folder: CastFolder, tmp_path: Path, link: str, to: str
) -> None:
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "elsewhere").mkdir()
    folder.output("build", 2, "x", ".md")
    place = folder.root / link
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.is_dir():
        shutil.rmtree(place)
    place.symlink_to(tmp_path / to)
    kind = "file" if to == "precious" else "folder"
    with pytest.raises(ArtifactError, match=f"'.*{link}' is a symbolic link, a {kind} of its own was exp"):
        CastFolder(folder.root, folder_names(SOCKETS))


def test_a_link_below_the_working_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere" / "casts").mkdir(parents=True)
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / ".materia").symlink_to(tmp_path / "elsewhere")
    monkeypatch.chdir(tmp_path / "project")
    casts = tmp_path / "project" / ".materia" / "casts"
    with pytest.raises(ArtifactError, match=r"'.*/project/\.materia' is a symbolic link"):
        cast_id.create(casts)
    (tmp_path / "elsewhere" / "casts" / "c-1").mkdir()
    with pytest.raises(ArtifactError, match=r"'.*/project/\.materia' is a symbolic link"):
        CastFolder(casts / "c-1", {})
    assert files_in(tmp_path / "elsewhere") == []
    monkeypatch.chdir(tmp_path / "elsewhere")
    name, _ = cast_id.create(casts)
    assert (tmp_path / "elsewhere" / "casts" / name).is_dir(), "how one comes to the working folder is free"


@pytest.mark.parametrize("path", ["../x.md", "sockets/../../x", "/etc/x", "", "a//b", "./a", "a/.", "a\0b"])
def test_what_records_tell_of_lies_in_the_cast(folder: CastFolder, path: str) -> None:
    (folder.root.parent / "x.md").write_text("mine")
    with pytest.raises(ArtifactError, match="is no path within a cast"):
        folder.content({"file": path, "sha256": digest("mine")})
    for pair in ({"from": path, "to": "sockets/y"}, {"from": "sockets/y", "to": path}):
        with pytest.raises(ArtifactError, match="is no path within a cast"):
            folder.set_aside([pair])
    assert files_in(folder.root.parent) == ["x.md"]


def test_nothing_is_read_or_renamed_through_a_link(folder: CastFolder, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "1.md").write_text("mine")
    (folder.root / "sockets").symlink_to(elsewhere)
    with pytest.raises(ArtifactError, match="is a symbolic link"):
        folder.content({"file": "sockets/1.md", "sha256": digest("mine")})
    with pytest.raises(ArtifactError, match="is a symbolic link"):
        folder.set_aside([{"from": "sockets/1.md", "to": "sockets/2.md"}])
    assert files_in(elsewhere) == ["1.md"]


def test_a_link_that_comes_later_is_refused(folder: CastFolder, tmp_path: Path) -> None:
    folder.root.rmdir()
    folder.root.symlink_to(tmp_path)
    with pytest.raises(ArtifactError, match="is a symbolic link"):
        folder.write_json("usage.json", {})


def test_a_link_in_the_place_of_a_file_is_replaced(folder: CastFolder, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    (folder.root / "usage.json").symlink_to(tmp_path / "precious")
    folder.write_json("usage.json", {})
    assert (tmp_path / "precious").read_text() == "mine"
    assert not (folder.root / "usage.json").is_symlink()


def test_a_file_that_cannot_be_written_is_named(folder: CastFolder) -> None:
    (folder.root / "usage.json").mkdir()
    with pytest.raises(ArtifactError, match=r"cannot write '.*usage\.json': Is a directory"):
        folder.write_json("usage.json", {})
    (folder.root / "sockets").write_text("in the way")
    with pytest.raises(ArtifactError, match=r"cannot make the folder '.*build': Not a directory"):
        folder.output("build", 1, "x", ".md")
    assert files_in(folder.root) == ["sockets"]


def test_failed_visits_are_set_aside(folder: CastFolder) -> None:
    def visit(number: int) -> None:
        folder.context("build", number, "prompt")
        folder.output("build", number, "raw", ".md", repair=1)
        folder.output("build", number, "", ".stdin.json")

    visit(1)
    visit(11)
    moved = folder.old_files("build", 1)
    folder.set_aside(moved)
    visit(1)
    folder.set_aside(moved)
    folder.set_aside(folder.old_files("build", 1))
    assert moved == [
        {"from": f"{place}/build/1.{name}", "to": f"{place}/build/1.failed-1.{name}"}
        for place, name in [("contexts", "md"), ("sockets", "repair-1.md"), ("sockets", "stdin.json")]
    ]
    marks = ["1.failed-1", "1.failed-2", "11"]
    assert files_in(folder.root) == sorted(
        [f"contexts/build/{mark}.md" for mark in marks]
        + [f"sockets/build/{mark}.{name}" for mark in marks for name in ("repair-1.md", "stdin.json")]
    )


def test_a_visit_without_files_is_set_aside_too(folder: CastFolder) -> None:
    assert folder.old_files("build", 1) == []
    folder.set_aside([])
    assert files_in(folder.root) == []


ORDINARY = ["Socket-1", "a.b", "_", "-x", "Bäume", "日本語", "end", "two words", "name." * 12, "ß"]


def test_ordinary_names_are_their_own_folders() -> None:
    assert folder_names(ORDINARY) == {name: name for name in ORDINARY}


@pytest.mark.parametrize(
    ("names", "stem"),
    [
        pytest.param(["Build", "build"], "build~", id="case"),
        pytest.param(["strasse", "straße"], "straße~", id="sharp s"),
        pytest.param(["é", "e\u0301"], "é~", id="normal form"),
        pytest.param(["file", "ﬁle"], "ﬁle~", id="compatible form"),
        pytest.param(["a", "a.."], "a..~", id="last dots"),
        pytest.param(["\U00010400" * 64], "\U00010400" * 59 + "~", id="too many bytes"),
        pytest.param(["a\ufe0f"], "a~", id="what nobody sees"),
        pytest.param([".."], "_~", id="parent"),
        pytest.param(["../../etc/passwd\0"], "etcpasswd~", id="way out"),
        pytest.param([""], "_~", id="empty"),
        pytest.param(["a\ud800"], "a", id="surrogate"),
    ],
)
def test_other_names_get_a_hash(names: list[str], stem: str) -> None:
    *_, last = folder_names(names).values()
    assert last.startswith(stem)
    assert "~" in last


texts = st.text(st.sampled_from("aAbBéE\u0301ßsſKkﬁfiıIİ/.\0~\ufe0f\u3164 \U00010400"), max_size=4) | st.text(
    max_size=80
)
FOLDS: list[Callable[[str], str]] = [
    str.casefold,
    str.upper,
    lambda name: unicodedata.normalize("NFD", name).casefold(),
    lambda name: unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()),
    lambda name: re.sub("[\u3164\ufe0f]", "", name).casefold(),
    lambda name: name.rstrip(". ").casefold(),
]


@given(st.lists(texts))
@example(["Build", "build", "BUILD", "build"])
@example(["x", "x.", "x..", "X."])
def test_folder_names_are_distinct_and_safe(names: list[str]) -> None:
    folders = folder_names(names)
    assert folders.keys() == set(names)
    for fold in FOLDS:
        assert len(set(map(fold, folders.values()))) == len(folders)
    for folder in folders.values():
        assert 0 < len(folder.encode()) <= 255
        assert not set("/\0") & set(folder)
        assert not folder.startswith(".")
        assert folder == unicodedata.normalize("NFC", folder)
    assert folder_names(folders.keys()) == folders


@given(
    st.lists(texts, min_size=1, max_size=4, unique=True), st.lists(texts, min_size=1, max_size=3, unique=True)
)
def test_all_files_of_a_cast_are_distinct(sockets: list[str], streams: list[str]) -> None:
    cast = CastFolder(Path("c-1"), folder_names(sockets), dry=True)
    written = [
        folder.output(socket, visit, "", suffix, turn=turn, repair=repair).path
        for folder in (cast, *cast.streams(streams).values())
        for socket in sockets
        for visit in (1, 11)
        for turn in (1, 2)
        for repair in (0, 1)
        for suffix in KINDS
    ]
    written += [cast.context(socket, visit, "").path for socket in sockets for visit in (1, 11)]
    written += ["events.jsonl", cast.write_json("machine.json", {}).path]
    for fold in FOLDS:
        assert len(set(map(fold, written))) == len(written)
    assert all(
        ".." not in path.split("/") and max(map(len, path.encode().split(b"/"))) < 256 for path in written
    )


def test_a_growing_file_is_sound_after_every_change(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    file = GrowingFile(path, '{"list": [')
    listed: list[dict[str, Any]] = []
    file.rewrite(listed, "]}")
    steps: list[tuple[int, str]] = [
        (0, "long " * 50),
        (0, "short"),
        (1, "é\u2028"),
        (2, ""),
        (0, "x"),
        (3, "y"),
    ]
    for count, note in steps:
        added = [{"n": len(listed) + i, "text": "ü\n\ud83d"} for i in range(count)]
        listed += added
        file.append(added, f'], "note": {json.dumps(note)}}}')
        assert json.loads(path.read_bytes()) == {"list": listed, "note": note}


def test_a_growing_file_says_that_it_is_gone(tmp_path: Path) -> None:
    file = GrowingFile(tmp_path / "list.json", '{"list": [')
    file.rewrite([], "]}")
    (tmp_path / "list.json").unlink()
    with pytest.raises(ArtifactError, match=r"cannot write '.*list\.json': No such file"):
        file.append([{}], "]}")


def test_the_manifest_follows_the_journal(folder: CastFolder) -> None:
    place: dict[str, Any] = {
        "socket": "build",
        "materia": "Build",
        "itemKey": "WI-1",
        "itemLabel": "the shed",
    }
    path = folder.root / "manifest.json"
    manifest = Manifest(path)
    assert json.loads(path.read_bytes()) == {"castId": "c-1", "entries": []}
    with Journal.create(folder.root / "events.jsonl") as journal:
        journal.subscribe(manifest)
        files = [folder.context("build", 1, "prompt"), folder.output("build", 1, "out", ".md")]
        journal.append("socket_failed", **place, visit=1, files=[file.as_data() for file in files])
        assert json.loads(path.read_bytes())["entries"] == [
            {**place, "visit": 1, "kind": kind, "file": file, "sha256": digest(text), "bytes": len(text)}
            for kind, file, text in [
                ("context", "contexts/build/1.md", "prompt"),
                ("output", "sockets/build/1.md", "out"),
            ]
        ]
        moved = folder.old_files("build", 1)
        journal.append("socket_restarted", **place, visit=1, moved=moved)
        folder.set_aside(moved)
        again = folder.output("build", 1, "better", ".md")
        journal.append("socket_finished", socket="build", visit=1, files=[again.as_data()])
        assert journal.broken == []
    data = json.loads(path.read_bytes())
    assert [entry["file"] for entry in data["entries"]] == [
        "contexts/build/1.failed-1.md",
        "sockets/build/1.failed-1.md",
        "sockets/build/1.md",
    ]
    assert all((folder.root / entry["file"]).is_file() for entry in data["entries"])
    assert data["entries"][2]["itemKey"] is None
    Manifest(path, read(folder.root / "events.jsonl").records)
    assert json.loads(path.read_bytes()) == data


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_what_writes_nothing_looks_into_nothing(folder: CastFolder) -> None:
    """A cast that goes on says of every visit what it would write: that must not grow with the folder."""
    (folder.root / "link").symlink_to("elsewhere")
    assert replace(folder, dry=True).write_json("machine.json", {}).bytes == 3
    assert files_in(folder.root) == ["link"]


def test_a_file_that_was_to_be_renamed_is_found_under_either_name(folder: CastFolder) -> None:
    file = folder.output("build", 1, "first", ".md").as_data()
    (moved,) = folder.old_files("build", 1)
    later = replace(folder, renamed={(file["file"], file["sha256"]): moved["to"]})
    assert later.content(file) == b"first"
    folder.set_aside([moved])
    folder.output("build", 1, "second", ".md")
    assert later.content(file) == b"first"
