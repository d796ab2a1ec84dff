"""`materiac lsp`: serve editors, by the Language Server Protocol."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from typing import Final

NO_EDITOR: Final = 2
_MISSING: Final = "'lsp' needs pygls: install it with pip install 'materiac[lsp]'"
_COMMAND: Final = ("-P", "-m", "materiac.cli.lsp_check")
"""What checks; no module of the folder that it works in takes a place in it."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--stdio", action="store_true", help="speak on standard input and output, as it does anyway"
    )


def run(options: argparse.Namespace) -> int:  # noqa: ARG001 (there is one way to speak)
    """0 the editor has gone; 1 it left in the midst, or is not understood; 2 there is none, or no library."""
    from materiac.cli.loading import complain

    try:
        from materiac.lsp.messages import HeaderError
        from materiac.lsp.serving import serve
    except ModuleNotFoundError as error:
        complain(f"{_MISSING} ('{error.name}' is missing)")
        return NO_EDITOR
    if sys.stdin.isatty():
        complain("standard input is no pipe from an editor: docs/editors.md tells how")
        return NO_EDITOR
    if not os.environ.get("MATERIAC_DEBUG"):
        logging.getLogger().addHandler(logging.NullHandler())  # the library logs tracebacks
    own = os.dup(1)
    os.dup2(2, 1)  # whatever is printed must not come between messages
    try:
        return serve((sys.executable, *_COMMAND), sys.stdin.buffer, os.fdopen(own, "wb"))
    except HeaderError as error:
        complain(f"what came is no header of a message: {error}")
        return 1
