"""`materiac import`: write a loadout of an older implementation in the forms of today."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from materiac.cli.loading import Layers
    from materiac.diagnostic import Located
    from materiac.source import Language


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a file as it was written then, or - for standard input")
    parser.add_argument("-o", "--output", metavar="FILE", help="where to write it (default: standard output)")


def run(options: argparse.Namespace) -> int:
    """0: written, without errors; 1: written, and errors are left in it; 2: nothing could be written."""
    from materiac import formatting, pipeline
    from materiac.cli import loading
    from materiac.modern import modernise

    try:
        below, text = loading.surroundings(), loading.read_text(options.file)
    except loading.UnreadableError as error:
        loading.complain(str(error))
        return 2
    modern = modernise(text.name, text.raw, pipeline.merged(below.texts))
    _show(modern.findings)
    if modern.data is None:
        return 2
    language: Language = "dsl" if (options.output or "").endswith(".materia") else "json"
    written = formatting.written(modern.data, language).encode()
    if loading.write_output(options.output, written):
        return 2
    loading.complain(f"{modern.rewritten} early forms rewritten")
    return _left(below, options.output or "<imported>", written)


def _left(below: Layers, name: str, written: bytes) -> int:
    """Show what is wrong with the outcome; 1 where there is an error."""
    from materiac import pipeline, report
    from materiac.diagnostic import Severity

    found = report.ordered(pipeline.check(below.on_top(pipeline.Text(name, written)).texts))
    _show(found)
    return int(any(part.finding.severity is Severity.ERROR for part in found))


def _show(findings: Iterable[Located]) -> None:
    from materiac.report import ordered, text

    listed = ordered(findings)
    if listed:
        print(text.render(listed, colour=sys.stderr.isatty()), end="", file=sys.stderr)
