"""Starting a command, and saying in words why it could not be started."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path


class StartError(Exception):
    """A command could not be started. The message names it and says why."""


def start(command: Sequence[str], cwd: Path, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start a command with three pipes, in a session of its own. Raises `StartError`."""
    fault = _fault(command, cwd)
    if fault is not None:
        raise StartError(fault)
    try:
        return subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=cwd,
            env=env,
            start_new_session=True,
        )
    except ValueError as error:
        raise StartError(f"'{command[0]}' cannot be started: {error}") from error
    except OSError as error:
        raise StartError(_reason(command[0], cwd, env, error)) from error


def _fault(command: Sequence[str], cwd: Path) -> str | None:
    if not command:
        return "the command is empty"
    if not command[0]:
        return "the command has an empty name"
    if any("\0" in argument for argument in command):
        return f"an argument of '{_shown(command[0])}' has a NUL byte in it"
    if not _exists(cwd):
        return f"the working folder '{cwd}' does not exist"
    if not cwd.is_dir():
        return f"the working folder '{cwd}' is no folder"
    return None


def _exists(path: Path) -> bool:
    with suppress(OSError):  # of a name that is too long
        return path.exists()
    return False


def _shown(name: str) -> str:
    return name.replace("\0", "\\0")


def _reason(name: str, cwd: Path, env: Mapping[str, str], error: OSError) -> str:
    if error.filename == str(cwd) and error.errno in (errno.EACCES, errno.EPERM):
        return f"the working folder '{cwd}' cannot be entered"
    found = next((path for path in _candidates(name, cwd, env) if _exists(path)), None)
    if found is None:
        return f"'{name}' does not exist in '{cwd}'" if "/" in name else f"'{name}' is not on the PATH"
    return f"'{name}' cannot be started: {_about(found, error)}"


def _candidates(name: str, cwd: Path, env: Mapping[str, str]) -> Iterator[Path]:
    folders = [""] if "/" in name else os.get_exec_path(dict(env))
    return (cwd / folder / name for folder in folders)


def _about(path: Path, error: OSError) -> str:
    if path.is_dir():
        return f"'{path}' is a folder"
    if error.errno == errno.ENOENT:
        return f"the interpreter in the first line of '{path}' does not exist"
    if error.errno == errno.ENOEXEC:
        return f"'{path}' is no program; a script begins with a line like '#!/bin/sh'"
    if not os.access(path, os.X_OK):
        return f"'{path}' is not executable"
    return error.strerror or str(error)
