from __future__ import annotations

from pathlib import Path

import pytest

from materiac.runtime.find import NoCastError, casts, find

OLD, MIDDLE, NEW = "20310504-102030-123456-3f9a", "20310504-112030-000001-77aa", "20310505-102031-000000-0000"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "casts"
    for name in (MIDDLE, NEW, OLD, "not-a-cast", ".hidden"):
        (root / name).mkdir(parents=True)
    (root / "20310601-000000-000000-ffff").write_text("a file", encoding="utf-8")
    (root / "20310602-000000-000000-ffff").symlink_to(root / OLD)
    return root


def test_the_newest_comes_first(root: Path) -> None:
    assert casts(root) == [root / NEW, root / MIDDLE, root / OLD]


def test_a_folder_that_is_not_there_has_no_casts(tmp_path: Path) -> None:
    assert casts(tmp_path / "none") == []


def test_what_is_no_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NoCastError, match=r"cannot read '.*file': Not a directory"):
        casts(tmp_path / "file")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        pytest.param(OLD, OLD, id="an id"),
        pytest.param("20310505", NEW, id="a beginning"),
        pytest.param("20310504-11", MIDDLE, id="a longer beginning"),
        pytest.param("11", MIDDLE, id="behind the date"),
        pytest.param("102030-1", OLD, id="more behind the date"),
    ],
)
def test_a_cast_by_its_name(root: Path, name: str, found: str) -> None:
    assert find(root, name) == root / found


def test_an_id_that_begins_another(root: Path) -> None:
    longer = root / f"{OLD}0"
    longer.mkdir()
    assert find(root, OLD) == root / OLD
    assert find(root, longer.name) == longer


@pytest.mark.parametrize("name", ["20310504-1", "1020", "2"])
def test_an_ambiguous_beginning_names_the_candidates(root: Path, name: str) -> None:
    with pytest.raises(NoCastError) as caught:
        find(root, name)
    assert OLD in str(caught.value)
    assert str(caught.value).startswith(f"'{name}' begins ")


def test_ten_candidates_are_named(tmp_path: Path) -> None:
    for second in range(12):
        (tmp_path / f"20310504-1020{second:02}-000000-aaaa").mkdir()
    with pytest.raises(NoCastError, match=r"^'2031' begins 12 casts: ('[^']*', ){9}'[^']*' and 2 more$"):
        find(tmp_path, "2031")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        pytest.param("20310504-102030-123456-3f9b", f"did you mean '{OLD}'?", id="a slip"),
        pytest.param("zzz", f"the newest is '{NEW}'", id="nothing like it"),
        pytest.param("", f"the newest is '{NEW}'", id="empty"),
        pytest.param("x" * 5000, f"the newest is '{NEW}'", id="longer than any name"),
        pytest.param("20310602", f"the newest is '{NEW}'", id="a link"),
        pytest.param("not-a-cast", f"the newest is '{NEW}'", id="another folder"),
    ],
)
def test_no_such_cast(root: Path, name: str, words: str) -> None:
    with pytest.raises(NoCastError, match="there is no cast ") as caught:
        find(root, name)
    assert words in str(caught.value)


def test_no_cast_at_all(tmp_path: Path) -> None:
    with pytest.raises(NoCastError, match=f"^there is no cast in '{tmp_path}'$"):
        find(tmp_path, "2031")


def test_a_cast_by_its_folder(root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "events.jsonl").touch()
    monkeypatch.chdir(tmp_path)
    assert find(root, str(root / OLD)) == root / OLD
    assert find(root, f"casts/{OLD}/") == root / OLD
    assert find(root, "copy") == find(root, "./copy") == copy
    monkeypatch.chdir(copy)
    assert find(root, ".") == copy


@pytest.mark.parametrize(
    ("name", "words"),
    [
        pytest.param("none/at/all", "is no folder of a cast", id="not there"),
        pytest.param("casts/not-a-cast", "is no folder of a cast", id="no cast"),
        pytest.param("casts/20310602-000000-000000-ffff", "is a symbolic link", id="a link"),
        pytest.param("./" + "x" * 5000, "cannot look at", id="too long"),
    ],
)
def test_no_folder_of_a_cast(
    root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NoCastError, match=words):
        find(root, name)
