"""Files that are written anew keep what they were: rights, owner, group, links."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from materiac.cli.writing import write_whole

NOBODY = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")


def test_a_new_file(tmp_path: Path) -> None:
    path = tmp_path / "new"
    before = os.umask(0o027)
    try:
        write_whole(path, b"x")
    finally:
        os.umask(before)
    assert path.read_bytes() == b"x"
    assert path.stat().st_mode & 0o777 == 0o640


def test_rights_stay(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o604)
    write_whole(path, b"new")
    assert path.stat().st_mode & 0o777 == 0o604


@pytest.mark.parametrize("content", [b"", b"n", b"much longer than before"], ids=["none", "less", "more"])
def test_links_stay(content: bytes, tmp_path: Path) -> None:
    path, other = tmp_path / "a", tmp_path / "b"
    path.write_bytes(b"old")
    path.chmod(0o640)
    other.hardlink_to(path)
    write_whole(path, content)
    assert other.read_bytes() == content
    assert other.samefile(path)
    assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]  # noqa: PTH208


@as_root
def test_owner_and_group_stay(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o640)
    os.chown(path, NOBODY, NOBODY)
    write_whole(path, b"new")
    status = path.stat()
    assert (status.st_uid, status.st_gid, status.st_mode & 0o777) == (NOBODY, NOBODY, 0o640)
    assert path.read_bytes() == b"new"


@as_root
def test_what_may_not_be_given_away_is_written_in_its_place() -> None:
    """The file is of a group that its owner is not in."""
    folder = Path(tempfile.mkdtemp())
    try:
        path = folder / "a"
        path.write_bytes(b"old")
        os.chown(path, NOBODY, 0)
        os.chown(folder, NOBODY, NOBODY)
        inode = path.stat().st_ino
        with nobody():
            write_whole(path, b"new")
        status = path.stat()
        assert (path.read_bytes(), status.st_ino, status.st_uid, status.st_gid) == (b"new", inode, NOBODY, 0)
        assert os.listdir(folder) == ["a"]  # noqa: PTH208
    finally:
        shutil.rmtree(folder)


@contextmanager
def nobody() -> Iterator[None]:
    groups = os.getgroups()
    os.setgroups([])
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)


@contextmanager
def no_file_longer_than(size: int) -> Iterator[None]:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)


@pytest.mark.parametrize("linked", [False, True], ids=["alone", "linked"])
def test_where_writing_fails_the_file_is_as_it_was(linked: bool, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    if linked:
        (tmp_path / "b").hardlink_to(path)
    names = sorted(os.listdir(tmp_path))  # noqa: PTH208
    with no_file_longer_than(5), pytest.raises(OSError, match="too large"):
        write_whole(path, b"much longer than before")
    assert path.read_bytes() == b"old"
    assert sorted(os.listdir(tmp_path)) == names  # noqa: PTH208
