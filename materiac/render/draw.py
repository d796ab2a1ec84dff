"""Drawings made by Graphviz: by the system's `dot`, or where there is none by a package's."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from typing import Final

DRAWINGS: Final = ("svg", "png", "pdf")

_STAND_IN: Final = "graphviz-pure"
_STAND_IN_DRAWINGS: Final = ("svg", "png")
_WAYS_OUT: Final = "install Graphviz, or pip install graphviz-pure"
_INSTEAD: Final = "--format dot, mermaid or text work without it"


class DrawError(Exception):
    """A drawing that could not be made; the message says what would help."""


def draw(dot_text: str, format: str, *, timeout_s: float = 60) -> bytes:  # noqa: A002 (as on the command line)
    """Lay out a DOT graph and return it as one of `DRAWINGS`. Raises `DrawError`."""
    program = _program(format)
    # Formats that need no drawing, and errors, do without this import.
    from graphviz.backend import dot_command, execute  # noqa: PLC0415

    command = [program, *dot_command.command("dot", format)[1:]]
    try:
        done = execute.run_check(
            command, input=dot_text.encode(), capture_output=True, quiet=True, timeout=timeout_s
        )
    except subprocess.TimeoutExpired as error:
        raise DrawError(
            f"the layout took longer than {timeout_s:g} s: try --overview, or a longer --timeout"
        ) from error
    except subprocess.CalledProcessError as error:
        raise DrawError(f"'{program}' failed: {_last_line(error.stderr)}") from error
    except (OSError, execute.ExecutableNotFound) as error:
        raise DrawError(f"'{program}' cannot be started: {error}") from error
    return bytes(done.stdout)


def _program(drawing: str) -> str:
    dot = shutil.which("dot")
    if dot is not None:
        return dot
    stand_in = _stand_in()
    if stand_in is None:
        raise DrawError(f"no Graphviz found to make {drawing} with: {_WAYS_OUT}; {_INSTEAD}")
    if drawing not in _STAND_IN_DRAWINGS:
        raise DrawError(f"'{_STAND_IN}' cannot make {drawing}: install Graphviz, or draw svg or png")
    return stand_in


def _stand_in() -> str | None:
    """The program of `graphviz-pure`: beside this Python, in the user's folder, or on the path."""
    user = sysconfig.get_preferred_scheme("user")
    places = (sysconfig.get_path("scripts"), sysconfig.get_path("scripts", user), None)
    return next(filter(None, (shutil.which(_STAND_IN, path=place) for place in places)), None)


def _last_line(stderr: bytes) -> str:
    lines = stderr.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"
