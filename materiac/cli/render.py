"""`materiac render`: draw a loadout."""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import PurePath
from typing import TYPE_CHECKING

from materiac.cli import reading

if TYPE_CHECKING:
    from materiac.program import Image, Program
    from materiac.render.against import Before
    from materiac.render.covered import Covered

FORMATS = ("svg", "png", "pdf", "dot", "mermaid", "text")
_BINARY = ("svg", "png", "pdf")
_ENDINGS = {".svg": "svg", ".png": "png", ".pdf": "pdf", ".dot": "dot", ".gv": "dot", ".mmd": "mermaid"}
_ENDINGS |= {".mermaid": "mermaid", ".txt": "text"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", help="a loadout file, a compiled machine, or - for standard input"
    )
    reading.add_arguments(parser)
    parser.add_argument(
        "--loadout", metavar="NAME", help="the loadout, by name or id (default: the active one)"
    )
    parser.add_argument(
        "--format",
        choices=FORMATS,
        help="svg, png and pdf need Graphviz (default: by the ending of the output file, else text)",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="where to write the picture (default: standard output)"
    )
    marks = parser.add_mutually_exclusive_group()
    marks.add_argument(
        "--coverage",
        metavar="FILE",
        help="mark what no test came to: FILE is from `materiac test --coverage --format json`",
    )
    marks.add_argument(
        "--against", metavar="A", help="mark what is new, gone or another since the loadout file or machine A"
    )
    parser.add_argument("--overview", action="store_true", help="fold each loop and each group to one node")
    parser.add_argument(
        "--timeout",
        type=_seconds,
        default=60,
        metavar="SECONDS",
        help="how long a layout may take (default: 60)",
    )


def run(options: argparse.Namespace) -> int:
    """0: drawn; 2: the loadout has errors, or it cannot be drawn, or a file cannot be read or written."""
    from materiac.cli import loading
    from materiac.render.draw import DrawError

    chosen = options.format or _format_of(options.output)
    refused = _unfit(options, chosen)
    if refused is not None:
        loading.complain(refused)
        return 2
    image = loading.image_or_report(options.file, options.loadout, reading.reading(options))
    try:
        picture = None if image is None else _picture(options, image, chosen)
    except (DrawError, loading.UnreadableError) as error:
        loading.complain(str(error))
        return 2
    return 2 if picture is None else loading.write_output(options.output, picture, made_from=options.file)


def _unfit(options: argparse.Namespace, chosen: str) -> str | None:
    """What is wrong with a call, before anything is read."""
    from materiac.cli.loading import STANDARD_INPUT

    if chosen in _BINARY and options.output in (None, STANDARD_INPUT) and sys.stdout.isatty():
        return f"{chosen} is nothing for a terminal: name a file with -o, or use --format text"
    if options.file == options.against == STANDARD_INPUT:
        return "one of the two may come through standard input, not both"
    return None


def _picture(options: argparse.Namespace, image: Image, chosen: str) -> bytes | None:
    """The picture with the marks that are asked for; None after complaining."""
    from materiac.render import render

    seen = _seen(options.coverage, image.program) if options.coverage is not None else None
    was = _before(options, image) if options.against is not None else None
    if was is None and options.against is not None:
        return None
    return render(image, chosen, overview=options.overview, seen=seen, before=was, timeout_s=options.timeout)


def _before(options: argparse.Namespace, image: Image) -> Before | None:
    """What the loadout was: the one of its name, else the only one; None after complaining."""
    from materiac.cli import loading
    from materiac.comparison.marking import before

    offer = loading.offer_or_report(options.against, options.loadout, reading.reading(options))
    if offer is None:
        return None
    name, images = image.program.name, offer.images
    old = images.get(name) or (next(iter(images.values())) if len(images) == 1 else None)
    if old is None:
        loading.complain(f"there is no loadout '{name}' in '{options.against}'")
        return None
    return before(old, image)


def _seen(file: str, program: Program) -> Covered:
    """What a file of coverage says of a program. Raises `UnreadableError`."""
    from materiac.cli import loading
    from materiac.render.covered import CoverageError, covered

    raw = loading.read_text(file).raw
    try:
        return covered(json.loads(raw), program.digest(), program.name)
    except (CoverageError, RecursionError) as error:
        raise loading.UnreadableError(f"'{file}' cannot be used: {error}") from error
    except ValueError as error:
        raise loading.UnreadableError(f"'{file}' is no JSON: {error}") from error


def _format_of(output: str | None) -> str:
    return _ENDINGS.get(PurePath(output or "").suffix.lower(), "text")


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' is no time: a number of seconds above 0 is needed")
    return seconds
