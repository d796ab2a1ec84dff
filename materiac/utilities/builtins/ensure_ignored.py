"""`project.ensureIgnored`: patterns into an ignore file, once each.

It looks at lines, not at what they do: a later `!pattern` of the project's own stays in force.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from materiac.utilities.builtins.call import UtilityError, follow, kind, params, text, working_folder


def run(call: dict[str, Any]) -> dict[str, Any]:
    """Add the patterns that are missing, and say which those were."""
    given = params(call)
    patterns = _patterns(given.get("patterns"))
    name = given.get("file", ".gitignore")
    added = add_lines(_file(working_folder(call), name), patterns)
    result = {"ok": True, "file": name, "changed": bool(added), "added": added}
    return {**result, "state": {"artifactIgnore": result}}


def add_lines(path: Path, lines: Sequence[str]) -> list[str]:
    """Append the lines that a file does not have, with its own line ends, and return them."""
    try:
        old = path.read_bytes() if path.exists() else b""
        known = {_bare(line) for line in old.removeprefix(b"\xef\xbb\xbf").split(b"\n")}
        missing = [line for line in dict.fromkeys(lines) if _bare(line.encode()) not in known]
        if missing:
            with path.open("ab") as file:
                file.write(_addition(old, missing))
    except OSError as error:
        raise UtilityError(f"'{path}' cannot be changed: {error.strerror}") from error
    return missing


def _bare(line: bytes) -> bytes:
    line = line.removesuffix(b"\r")
    bare = line.rstrip(b" ")
    # A space after a backslash belongs to the pattern.
    return line[: len(bare) + 1] if bare.endswith(b"\\") else bare


def _addition(old: bytes, lines: Sequence[str]) -> bytes:
    end = b"\r\n" if b"\r\n" in old else b"\n"
    first = end if old and not old.endswith(b"\n") else b""
    return first + b"".join(line.encode() + end for line in lines)


def _patterns(value: Any) -> list[str]:
    if not isinstance(value, list):
        raise UtilityError(f"'params.patterns' is {kind(value)}, expected a list of patterns")
    for pattern in value:
        if set("\r\n") & set(text("a pattern", pattern)):
            raise UtilityError(f"the pattern {pattern!r} is more than one line")
    return value


def _file(cwd: Path, name: Any) -> Path:
    path = follow("'params.file'", cwd, name)
    if Path(name).is_absolute() or not path.is_relative_to(cwd):
        raise UtilityError(f"'params.file' leads to '{path}', outside the working folder '{cwd}'")
    if path.exists() and not path.is_file():
        raise UtilityError(f"'params.file' leads to '{path}', which is no file")
    if not path.parent.is_dir():
        raise UtilityError(f"'params.file' leads to a folder '{path.parent}' that does not exist")
    return path
