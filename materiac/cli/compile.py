"""`materiac compile`: compile a loadout to a machine."""

from __future__ import annotations

import argparse
import json

from materiac.cli import reading


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a loadout file, or - for standard input")
    parser.add_argument(
        "--loadout", metavar="NAME", help="the loadout, by name or id (default: the active one)"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="where to write the machine (default: standard output)"
    )
    reading.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """0: compiled; 2: the loadout has errors, or a file cannot be read or written."""
    from materiac.cli import loading
    from materiac.program import image_data

    image = loading.image_or_report(options.file, options.loadout, reading.reading(options))
    if image is None:
        return 2
    text = json.dumps(image_data(image), ensure_ascii=False, indent=1) + "\n"
    return loading.write_output(options.output, text.encode(), made_from=options.file)
