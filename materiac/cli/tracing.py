"""The option `--trace`, and the reader of a cast's journal that it stands for."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from materiac.program import Image
    from materiac.runtime.journal import Record, Subscriber


def add_argument(parser: argparse.ArgumentParser) -> None:
    """The option, for every command that works on a cast."""
    parser.add_argument(
        "--trace",
        action=argparse.BooleanOptionalAction,
        help="send spans to an OpenTelemetry collector (default: as MATERIAC_TRACE says)",
    )


@contextlib.contextmanager
def traced(
    options: argparse.Namespace, image: Image, artifacts: Path, records: Sequence[Record] = ()
) -> Iterator[list[Subscriber]]:
    """Gives the reader, if there is to be one; at the end it is told what could not be sent.

    Raises `TraceError`.
    """
    if options.trace is False or not (options.trace or os.environ.get("MATERIAC_TRACE")):
        yield []
        return
    from materiac.cli import loading
    from materiac.runtime.notify import mask_of
    from materiac.tracing import Watcher

    mask = mask_of(image.settings, os.environ)
    materia, environ = image.program.materia, os.environ
    watcher = Watcher.begin(artifacts, materia, mask, environ, records, asked=bool(options.trace))
    if watcher is None:
        yield []
        return
    try:
        yield [watcher]
    finally:
        lost = watcher.close()
        if lost:
            loading.complain(lost)
