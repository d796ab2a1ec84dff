"""Looking through the files of a folder: a program of its own, since a pattern may take for ever.

    python -P -m materiac.agents.llm.search    the query as JSON on standard input

Links are not followed, and folders that nobody reads are left out unless the path goes into them.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO, Any, Final

from materiac.agents.llm.folder import Folder, FolderError

PASSED_OVER: Final = frozenset({".git", ".hg", ".jj", ".svn", ".venv", "__pycache__", "node_modules"})
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MAX_DEPTH: Final = 100
_MAX_LINE: Final = 64 * 1024
"""As much of a line as is searched."""
_SHOWN: Final = 400
_BINARY: Final = 8192
"""How much of a file is looked at to see whether it is text."""


class SearchError(Exception):
    """A query that cannot be answered. The message is for the model."""


def main() -> int:
    """Answer the query on standard input; 2 with a message where that cannot be done."""
    try:
        for count, line in enumerate(_found(json.load(sys.stdin.buffer))):
            sys.stdout.buffer.write(line.encode(errors="backslashreplace") + b"\n")
            if count % 100 == 0:
                sys.stdout.buffer.flush()
    except (SearchError, FolderError, re.error) as error:
        sys.stderr.write(str(error))
        return 2
    return 0


def _found(query: dict[str, Any]) -> Iterator[str]:
    found = _grep(query) if "regex" in query else _find(query)
    for count, line in enumerate(found, 1):
        if count > query["limit"]:
            yield f"[there are more than {query['limit']}: ask for fewer]"
            return
        yield line


def _find(query: dict[str, Any]) -> Iterator[str]:
    pattern = query["glob"].split("/")
    with Folder(Path(query["root"])).folder(query["path"]) as start:
        for names, _parent, is_folder in _below(start, ()):
            if _matches(names, pattern):
                yield "/".join(names) + ("/" if is_folder else "")


def _grep(query: dict[str, Any]) -> Iterator[str]:
    regex = re.compile(query["regex"], re.IGNORECASE if query["ignore_case"] else 0)
    folder, path = Folder(Path(query["root"])), query["path"]
    try:
        with folder.file(path) as file:
            yield from _lines(file, regex, path)
    except FolderError:
        with folder.folder(path) as start:
            yield from _in_files(start, regex, query["glob"].split("/"))


def _in_files(start: int, regex: re.Pattern[str], pattern: list[str]) -> Iterator[str]:
    for names, parent, is_folder in _below(start, ()):
        if not is_folder and _matches(names, pattern):
            try:
                number = os.open(names[-1], _FILE, dir_fd=parent)
            except OSError:
                continue
            with os.fdopen(number, "rb") as file:
                yield from _lines(file, regex, "/".join(names))


def _below(folder: int, above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], int, bool]]:
    """The files and folders below a folder, by name: their names, the folder they are in, what they are."""
    with os.scandir(folder) as entries:
        found = sorted(
            (entry.name, entry.is_dir(follow_symlinks=False), _is_file(entry)) for entry in entries
        )
    for name, is_folder, is_file in found:
        names = (*above, name)
        if is_file or is_folder:
            yield names, folder, is_folder
        if is_folder and name not in PASSED_OVER and len(names) < _MAX_DEPTH:
            yield from _inside(folder, names)


def _inside(folder: int, names: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], int, bool]]:
    try:
        number = os.open(names[-1], _FOLDER, dir_fd=folder)
    except OSError:
        return
    try:
        yield from _below(number, names)
    finally:
        os.close(number)


def _is_file(entry: os.DirEntry[str]) -> bool:
    return entry.is_file(follow_symlinks=False)


def _matches(names: tuple[str, ...], pattern: list[str]) -> bool:
    """Whether a path fits a pattern: one without a slash is for names, `**` is any number of folders."""
    if len(pattern) == 1:
        return fnmatchcase(names[-1], pattern[0])
    return _fits(names, pattern)


def _fits(names: tuple[str, ...], pattern: list[str]) -> bool:
    if not pattern or not names:
        return not names and all(part == "**" for part in pattern)
    if pattern[0] == "**":
        return _fits(names, pattern[1:]) or _fits(names[1:], pattern)
    return fnmatchcase(names[0], pattern[0]) and _fits(names[1:], pattern[1:])


def _lines(file: IO[bytes], regex: re.Pattern[str], name: str) -> Iterator[str]:
    """The lines of a text that have a match in them; a file that is no text has none."""
    if b"\0" in file.read(_BINARY):
        return
    file.seek(0)
    for number, raw in enumerate(iter(lambda: file.readline(_MAX_LINE), b""), 1):
        line = raw.decode(errors="replace").rstrip("\r\n")
        if regex.search(line):
            yield f"{name}:{number}: {line if len(line) <= _SHOWN else line[:_SHOWN] + ' …'}"


if __name__ == "__main__":
    sys.exit(main())
