"""A working folder that no path leads out of.

A path is walked one name after the other, each opened from the open folder before it and never through a
link. A link is read and walked like a path, so one that stays inside leads on and one that leaves is refused.
What others do to names in the meantime changes which folder inside is found, and nothing else.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""Without blocking: a pipe that was put in the place of a file is not waited for."""
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MAX_LINKS: Final = 40


class FolderError(Exception):
    """A path that leads nowhere, or out of the folder. The message names it and says why."""


class Folder:
    """The files below `root`, by paths relative to it; absolute ones may name what lies below it."""

    def __init__(self, root: Path) -> None:
        self._root = os.path.realpath(root)
        self._names = tuple(dict.fromkeys((str(root.absolute()), self._root)))

    @contextmanager
    def file(self, path: str) -> Iterator[IO[bytes]]:
        """An ordinary file, open for reading. Raises `FolderError`."""
        with _told(path), self._walked(path) as (parent, name):
            number = os.open(name, _FILE, dir_fd=parent)
        mode = os.fstat(number).st_mode
        if not stat.S_ISREG(mode):
            os.close(number)
            raise FolderError(f"'{path}' is {_kind(mode)}, expected a file")
        with os.fdopen(number, "rb") as file:
            yield file

    @contextmanager
    def folder(self, path: str) -> Iterator[int]:
        """The descriptor of a folder. Raises `FolderError`."""
        with _told(path), self._walked(path) as (parent, name):
            number = os.open(name, _FOLDER, dir_fd=parent)
        try:
            yield number
        finally:
            os.close(number)

    def write(self, path: str, content: bytes) -> bool:
        """Write a whole file, with the folders that are missing above it; whether it is new.

        It is written beside its place and then put there: another name of the same file keeps the old
        content. Raises `FolderError`.
        """
        with _told(path), self._walked(path, make=True) as (parent, name):
            mode = _mode(path, name, parent)
            beside = f".{secrets.token_hex(8)}.new"
            try:
                with os.fdopen(os.open(beside, _NEW, 0o666, dir_fd=parent), "wb") as file:
                    file.write(content)
                    if mode is not None:
                        os.fchmod(file.fileno(), mode)
                os.rename(beside, name, src_dir_fd=parent, dst_dir_fd=parent)
            except BaseException:
                with suppress(OSError):
                    os.unlink(beside, dir_fd=parent)
                raise
        return mode is None

    @contextmanager
    def _walked(self, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """The folder that a path ends in, and the name there, which is no link; `.` for a folder itself."""
        walk = _Walk(os.open(self._root, _FOLDER), self._names, path, make)
        try:
            name = walk.along()
            yield walk.parent, name
        finally:
            walk.close()


class _Walk:
    """The open folders from the root, whose names are `roots`, to where a path has come."""

    def __init__(self, root: int, roots: tuple[str, ...], path: str, make: bool) -> None:
        self._open = [root]
        self._roots = roots
        self._path = path
        self._make = make
        self._links = 0

    @property
    def parent(self) -> int:
        return self._open[-1]

    def along(self) -> str:
        """Walk the path; gives the name of its end in `parent`."""
        names = deque(self._names(self._path))
        while names:
            name = names.popleft()
            if name == "..":
                self._up()
            elif (target := _link(name, self.parent)) is not None:
                self._links += 1
                if self._links > _MAX_LINKS:
                    raise FolderError(f"'{self._path}' goes through more than {_MAX_LINKS} links")
                names.extendleft(reversed(self._names(target)))
            elif names:
                self._open.append(self._down(name))
            else:
                return name
        return "."

    def close(self) -> None:
        for number in self._open:
            os.close(number)

    def _names(self, path: str) -> list[str]:
        """The names on a path; an absolute one begins at the root again."""
        if path.startswith("/"):
            below = next((path[len(root) :] for root in self._roots if _is_below(path, root)), None)
            if below is None:
                raise self._outside()
            while len(self._open) > 1:
                os.close(self._open.pop())
            path = below
        return [name for name in path.split("/") if name not in ("", ".")]

    def _up(self) -> None:
        if len(self._open) == 1:
            raise self._outside()
        os.close(self._open.pop())

    def _outside(self) -> FolderError:
        return FolderError(f"'{self._path}' is outside of the working folder")

    def _down(self, name: str) -> int:
        if self._make:
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=self.parent)
        return os.open(name, _FOLDER, dir_fd=self.parent)


@contextmanager
def _told(path: str) -> Iterator[None]:
    """What the system says to a path, in words. A path with characters that no name has is one of those."""
    try:
        yield
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise FolderError(f"'{path}': {why[:1].lower()}{why[1:]}") from error


def _link(name: str, parent: int) -> str | None:
    """Where a link leads; None for what is no link, or is not there."""
    with suppress(OSError):
        return os.readlink(name, dir_fd=parent)
    return None


def _is_below(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")


def _mode(path: str, name: str, parent: int) -> int | None:
    """The permissions of a file that is there. Raises `FolderError` where something else is."""
    try:
        found = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found):
        raise FolderError(f"'{path}' is {_kind(found)}, expected a file")
    return stat.S_IMODE(found)


def _kind(mode: int) -> str:
    return "a folder" if stat.S_ISDIR(mode) else "something else"
