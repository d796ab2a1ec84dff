"""The seven tools of an agent, on one folder; what they give is bounded, and text for the model.

The docstrings of the tools are what the model reads of them.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from materiac.agents.llm.folder import Folder
from materiac.process import Completed, StartError, StoppedError, run

_MAX_LINES: Final = 2000
_MAX_BYTES: Final = 50 * 1024
_MAX_EDITED: Final = 10 * 1024**2
_MAX_ENTRIES: Final = 500
_SEARCH_S: Final = 30.0
_BASH_S: Final = 120.0
_LONGEST_BASH_S: Final = 3600.0

_QUIET: Final = 'exec "$0" -c "$1" 1>&2'
"""Both streams of a command as one, of which the end is kept."""


class ToolError(Exception):
    """A tool could not do what it was asked. The message is for the model."""


class Tools:
    """The tools of one turn. `stop` ends what runs; `env` is what commands see, who belong to `owner`."""

    def __init__(self, root: Path, env: Mapping[str, str], stop: threading.Event, owner: str = "") -> None:
        self._root = root
        self._folder = Folder(root)
        self._env = env
        self._stop = stop
        self._owner = owner

    def named(self, name: str) -> Callable[..., str] | None:
        """The tool of a name; None where there is none."""
        tools: dict[str, Callable[..., str]] = {
            "read": self.read,
            "grep": self.grep,
            "find": self.find,
            "ls": self.ls,
            "bash": self.bash,
            "edit": self.edit,
            "write": self.write,
        }
        return tools.get(name)

    def read(self, path: str, offset: int = 1, limit: int = _MAX_LINES) -> str:
        """Read a text file. At most 2000 lines or 50 KB are given at once.

        Args:
            path: The file, relative to the working folder.
            offset: The line to begin with, from 1.
            limit: How many lines to give.
        """
        first, most = max(1, offset), min(max(1, limit), _MAX_LINES)
        lines: list[str] = []
        size = 0
        with self._folder.file(path) as file:
            for number, raw in enumerate(iter(lambda: file.readline(_MAX_BYTES), b""), 1):
                if b"\0" in raw:
                    raise ToolError(f"'{path}' is no text")
                if number < first:
                    self._look()
                    continue
                size += len(raw)
                if number - first >= most or (lines and size > _MAX_BYTES):
                    return "".join(lines) + f"\n[there is more: go on with offset={number}]"
                lines.append(raw.decode(errors="replace"))
        if not lines and first > 1:
            raise ToolError(f"'{path}' has fewer than {first} lines")
        return "".join(lines)

    def grep(
        self, pattern: str, path: str = ".", glob: str = "*", ignore_case: bool = False, limit: int = 100
    ) -> str:
        """Find lines by a regular expression, in a file or in all files of a folder and those below it.

        Args:
            pattern: A regular expression of Python.
            path: The file or folder, relative to the working folder.
            glob: Which files to look into, for instance '*.py' or 'src/**/*.ts'.
            ignore_case: Whether small and capital letters are the same.
            limit: How many lines to give at most.
        """
        query = {"regex": pattern, "path": path, "glob": glob, "ignore_case": ignore_case}
        return self._search(query, limit) or "no line matches"

    def find(self, pattern: str, path: str = ".", limit: int = 500) -> str:
        """Find files and folders by their names.

        Args:
            pattern: A pattern such as '*.py' for names at any depth, or 'src/**/*.ts' for paths.
            path: The folder to look in, relative to the working folder.
            limit: How many to give at most.
        """
        return self._search({"glob": pattern, "path": path}, limit) or "nothing matches"

    def ls(self, path: str = ".") -> str:
        """List a folder. Folders end with '/', links with '@'.

        Args:
            path: The folder, relative to the working folder.
        """
        with self._folder.folder(path) as folder, os.scandir(folder) as found:
            entries = sorted(entry.name + _sign(entry) for entry in found)
        more = len(entries) - _MAX_ENTRIES
        text = "\n".join(entries[:_MAX_ENTRIES]) + (f"\n[and {more} more]" if more > 0 else "")
        return text.encode(errors="backslashreplace").decode() or "the folder is empty"

    def bash(self, command: str, timeout: float = _BASH_S) -> str:
        """Run a command in a shell, in the working folder. Gives the end of what it writes, 50 KB at most.

        Args:
            command: The command.
            timeout: After how many seconds it is ended.
        """
        shell = shutil.which("bash", path=self._env.get("PATH")) or "sh"
        seconds = min(max(0.1, timeout), _LONGEST_BASH_S)
        done = self._run([shell, "-c", _QUIET, shell, command], b"", self._root, seconds)
        text = done.stderr.decode(errors="replace")
        if done.stderr_bytes > len(done.stderr):
            text = f"[the first {done.stderr_bytes - len(done.stderr)} bytes are left out]\n{text}"
        return text + _end(done, seconds) or "[no output]"

    def edit(self, path: str, old: str, new: str) -> str:
        """Replace a text in a file. The old text has to be there exactly once.

        Args:
            path: The file, relative to the working folder.
            old: The text that is there, with all its white space.
            new: The text to put in its place.
        """
        text = self._text(path)
        if "\r\n" in text and old not in text:
            old, new = (part.replace("\r\n", "\n").replace("\n", "\r\n") for part in (old, new))
        count = text.count(old) if old else 0
        if count != 1:
            raise ToolError(f"the old text is {count} times in '{path}', expected once")
        self._folder.write(path, text.replace(old, new).encode())
        return f"edited '{path}' at line {text[: text.index(old)].count(chr(10)) + 1}"

    def write(self, path: str, content: str) -> str:
        """Write a file anew, with the folders above it that are missing.

        Args:
            path: The file, relative to the working folder.
            content: The whole text of the file.
        """
        raw = content.encode()
        is_new = self._folder.write(path, raw)
        return f"{'wrote' if is_new else 'replaced'} '{path}', {len(raw)} bytes"

    def _look(self) -> None:
        if self._stop.is_set():
            raise StoppedError

    def _text(self, path: str) -> str:
        with self._folder.file(path) as file:
            raw = file.read(_MAX_EDITED + 1)
        if len(raw) > _MAX_EDITED:
            raise ToolError(f"'{path}' has more than {_MAX_EDITED} bytes")
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            raise ToolError(f"'{path}' is no UTF-8: byte {error.start} of it") from error

    def _search(self, query: dict[str, object], limit: int) -> str:
        query |= {"root": str(self._root), "limit": min(max(1, limit), _MAX_LINES)}
        program = [sys.executable, "-P", "-m", "materiac.agents.llm.search"]
        done = self._run(program, json.dumps(query).encode(), Path("/"), _SEARCH_S)
        if done.timed_out:
            raise ToolError(f"the search took longer than {_SEARCH_S:g} s: look for less, or in fewer files")
        if done.code != 0:
            raise ToolError(done.stderr.decode(errors="replace").strip() or "the search failed")
        text = done.stdout.decode(errors="replace")
        return text + ("\n[there is more: ask for fewer]" if done.stdout_bytes > _MAX_BYTES else "")

    def _run(self, command: list[str], stdin: bytes, cwd: Path, seconds: float) -> Completed:
        try:
            return run(
                command,
                stdin=stdin,
                cwd=cwd,
                env={**self._env, "PWD": str(cwd)},
                timeout_s=seconds,
                max_bytes=_MAX_BYTES,
                stop=self._stop,
                owner=self._owner,
            )
        except StartError as error:
            raise ToolError(str(error)) from error


def _sign(entry: os.DirEntry[str]) -> str:
    return "@" if entry.is_symlink() else "/" if entry.is_dir(follow_symlinks=False) else ""


def _end(done: Completed, seconds: float) -> str:
    if done.timed_out:
        return f"\n[ended after {seconds:g} s]"
    if done.signal is not None:
        return f"\n[ended by signal {done.signal}]"
    return f"\n[exit code {done.code}]" if done.code else ""
