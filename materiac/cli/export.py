"""`materiac export`: write a loadout in the language of another tool."""

from __future__ import annotations

import argparse

from materiac.cli import reading

FORMATS = ("mermaid", "plantuml", "scxml", "python")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", help="a loadout file, a compiled machine, or - for standard input"
    )
    reading.add_arguments(parser)
    parser.add_argument(
        "--loadout", metavar="NAME", help="the loadout, by name or id (default: the active one)"
    )
    parser.add_argument("--to", required=True, choices=FORMATS, help="the language to write")
    parser.add_argument("-o", "--output", metavar="FILE", help="where to write it (default: standard output)")
    parser.add_argument("--quiet", action="store_true", help="do not say what the language has no words for")


def run(options: argparse.Namespace) -> int:
    """0: written; 2: the loadout has errors, or a file cannot be read or written."""
    from materiac import export
    from materiac.cli import loading

    image = loading.image_or_report(options.file, options.loadout, reading.reading(options))
    if image is None:
        return 2
    chosen = export.FORMATS[options.to]
    code = loading.write_output(options.output, chosen.write(image).encode(), made_from=options.file)
    if code == 0 and not options.quiet:
        for loss in chosen.losses(image):
            loading.complain(f"{options.to} has no words for {loss.words}")
    return code
