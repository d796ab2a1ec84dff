"""A folder that no path leads out of."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from materiac.agents.llm.folder import Folder, FolderError


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with links in it that stay inside, that leave, and that lead nowhere; a secret beside it."""
    (tmp_path / "secret").write_text("secret")
    root = tmp_path / "root"
    (root / "sub" / "deep").mkdir(parents=True)
    (root / "a.txt").write_text("a")
    (root / "sub" / "b.txt").write_text("b")
    for name, target in {
        "in": "sub/../a.txt",
        "in-folder": "sub",
        "absolute": str(root / "sub"),
        "twice": "in-folder/b.txt",
        "sub/up": "../a.txt",
        "out": "../secret",
        "out-folder": "..",
        "out-absolute": str(tmp_path),
        "out-by-two": "sub/out",
        "sub/out": "../../secret",
        "loop": "loop",
        "dangling": "nowhere",
        "dangling-out": "../made",
    }.items():
        (root / name).symlink_to(target)
    os.mkfifo(root / "pipe")
    return root


def _read(folder: Folder, path: str) -> str:
    with folder.file(path) as file:
        return file.read().decode()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.txt", "a"),
        ("./sub/../a.txt", "a"),
        ("sub//b.txt", "b"),
        ("in", "a"),
        ("in-folder/b.txt", "b"),
        ("absolute/b.txt", "b"),
        ("absolute/up", "a"),
        ("twice", "b"),
        ("in-folder/../a.txt", "a"),
        ("sub/deep/../../a.txt", "a"),
    ],
)
def test_paths_that_stay_inside(root: Path, path: str, text: str) -> None:
    assert _read(Folder(root), path) == text
    assert _read(Folder(root), str(root / path)) == text


def test_the_root_may_be_a_link(root: Path) -> None:
    link = root.parent / "link"
    link.symlink_to(root)
    assert _read(Folder(link), str(link / "a.txt")) == "a"
    assert _read(Folder(link), str(root / "a.txt")) == "a"


OUTSIDE = [
    "..",
    "../secret",
    "sub/../../secret",
    "out",
    "out-folder/secret",
    "out-absolute/secret",
    "out-by-two",
    "sub/out",
    "in-folder/out",
    "/etc/passwd",
    "/",
    "dangling-out",
]


@pytest.mark.parametrize("path", OUTSIDE)
@pytest.mark.parametrize("way", ["read", "list", "write", "write below"])
def test_paths_that_lead_out(root: Path, path: str, way: str) -> None:
    before = sorted(root.parent.iterdir())
    folder = Folder(root)
    ways: dict[str, Callable[[], object]] = {
        "read": lambda: _read(folder, path),
        "list": lambda: folder.folder(path).__enter__(),
        "write": lambda: folder.write(path, b"x"),
        "write below": lambda: folder.write(f"{path}/new/file", b"x"),
    }
    with pytest.raises(FolderError, match="outside of the working folder"):
        ways[way]()
    assert sorted(root.parent.iterdir()) == before
    assert (root.parent / "secret").read_text() == "secret"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nowhere", "'nowhere': no such file or directory"),
        ("dangling", "'dangling': no such file or directory"),
        ("a.txt/x", "'a.txt/x': not a directory"),
        ("sub", "'sub' is a folder, expected a file"),
        ("", "'' is a folder, expected a file"),
        ("pipe", "'pipe' is something else, expected a file"),
        ("loop", "'loop' goes through more than 40 links"),
        ("a\0b", "embedded null byte"),
        ("x" * 300, "file name too long"),
        ("\ud800", "surrogates not allowed"),
    ],
)
def test_paths_that_lead_to_no_file(root: Path, path: str, message: str) -> None:
    with pytest.raises(FolderError) as caught:
        _read(Folder(root), path)
    assert message in str(caught.value)


def test_writing(root: Path) -> None:
    folder = Folder(root)
    (root / "a.txt").chmod(0o640)
    assert not folder.write("in", b"new")
    assert (root / "a.txt").read_bytes() == b"new"
    assert (root / "a.txt").stat().st_mode & 0o777 == 0o640
    assert (root / "in").is_symlink()
    assert folder.write("x/y/z.txt", b"deep")
    assert (root / "x/y/z.txt").read_bytes() == b"deep"
    assert folder.write("dangling", b"made")
    assert (root / "nowhere").read_bytes() == b"made"
    assert not [name for name in os.listdir(root) if name.endswith(".new")]  # noqa: PTH208 - names are enough


@pytest.mark.parametrize("path", ["sub", ".", "pipe"])
def test_writing_over_what_is_no_file(root: Path, path: str) -> None:
    with pytest.raises(FolderError, match="expected a file"):
        Folder(root).write(path, b"x")


def test_another_name_of_a_file_outside_keeps_its_content(root: Path) -> None:
    os.link(root.parent / "secret", root / "same")
    Folder(root).write("same", b"changed")
    assert (root.parent / "secret").read_text() == "secret"


def test_no_descriptor_is_left_open(root: Path) -> None:
    folder = Folder(root)
    before = len(os.listdir("/dev/fd"))  # noqa: PTH208 - a path is not closed in time
    for path in ("twice", "out", "sub", "loop", "pipe", "absolute/up", "a.txt/x"):
        with suppress(FolderError):
            _read(folder, path)
        with suppress(FolderError):
            folder.write(path, b"x")
    assert len(os.listdir("/dev/fd")) == before  # noqa: PTH208


EXCHANGE = """
import shutil, sys
from pathlib import Path
root = Path(sys.argv[1])
while True:
    for name in ("spare", "trap"):
        try:
            (root / name).rename(root / "moving")
        except OSError:  # it was made anew by who writes
            shutil.rmtree(root / "moving", ignore_errors=True)
        else:
            (root / "moving").rename(root / name)
"""


def test_a_folder_that_becomes_a_link_in_the_meantime(root: Path) -> None:
    """Somebody exchanges a folder for a link to the outside, again and again, while it is used."""
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "b.txt").write_text("secret")
    (root / "trap").symlink_to(outside)
    (root / "spare").mkdir()
    (root / "spare" / "b.txt").write_text("b")
    folder, read = Folder(root), set[str]()
    with subprocess.Popen([sys.executable, "-c", EXCHANGE, str(root)]) as exchange:
        try:
            for _ in range(4000):
                with suppress(FolderError):
                    read.add(_read(folder, "moving/b.txt"))
                with suppress(FolderError):
                    folder.write("moving/new.txt", b"x")
        finally:
            exchange.kill()
    assert read <= {"b"}
    assert os.listdir(outside) == ["b.txt"]  # noqa: PTH208
