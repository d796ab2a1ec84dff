"""Writing whole files, so that no half of one is ever left."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Give a file new content all at once; write into what is none, like `/dev/null` or a pipe.

    A file that is there keeps its rights, its owner, its group and its links.
    """
    target = path.resolve()
    there = target.stat() if target.exists() else None
    if there is not None and not stat.S_ISREG(there.st_mode):
        target.write_bytes(content)
    elif there is not None and there.st_nlink > 1:
        _write_into(target, content)
    else:
        _replace(target, content, there)


def _replace(target: Path, content: bytes, there: os.stat_result | None) -> None:
    """Let a new file take the place of one; where it cannot belong to the same, write into the old one."""
    temporary = _beside(target, content)
    try:
        if there is None or _given(temporary, there):
            temporary.chmod(0o666 & ~_umask() if there is None else there.st_mode & 0o777)
            temporary.replace(target)
            return
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    temporary.unlink()
    _write_into(target, content)


def _given(file: Path, like: os.stat_result) -> bool:
    """Give a file the owner and the group of another; whether that may be."""
    mine = file.stat()
    if (mine.st_uid, mine.st_gid) == (like.st_uid, like.st_gid):
        return True
    try:
        os.chown(file, like.st_uid, like.st_gid)
    except PermissionError:
        return False
    return True


def _write_into(target: Path, content: bytes) -> None:
    """Write over what is in a file. That is kept beside it meanwhile, and comes back where this fails."""
    with target.open("r+b") as file:
        old = file.read()
        kept = _beside(target, old)
        try:
            _fill(file.fileno(), content)
        except BaseException:
            _put_back(file.fileno(), old, kept)
            raise
    kept.unlink()


def _put_back(file: int, old: bytes, kept: Path) -> None:
    try:
        _fill(file, old)
    except OSError as error:
        raise OSError(error.errno, f"{error.strerror}; what it held is in '{kept}'") from error
    kept.unlink()


def _fill(file: int, content: bytes) -> None:
    os.lseek(file, 0, os.SEEK_SET)
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(file, rest) :]
    os.ftruncate(file, len(content))
    os.fsync(file)


def _beside(target: Path, content: bytes) -> Path:
    """A new file in the same folder, for this process alone."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".materiac-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
    except BaseException:
        Path(name).unlink()
        raise
    return Path(name)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
