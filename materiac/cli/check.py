"""`materiac check`: find what is wrong with loadouts."""

from __future__ import annotations

import argparse
import sys

FORMATS = ("text", "json")
LEVELS = ("info", "warning", "error")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="a loadout file, or - for standard input")
    parser.add_argument("--loadout", metavar="NAME", help="look at this loadout alone")
    parser.add_argument("--format", choices=FORMATS, default="text", help="how findings are shown")
    parser.add_argument(
        "--fail-on",
        choices=LEVELS,
        default="error",
        help="exit with 1 when there is a finding of this severity or worse (default: error)",
    )
    parser.add_argument("--strict", action="store_true", help="the same as --fail-on warning")


def run(options: argparse.Namespace) -> int:
    """0: nothing at or above the level; 1: something is; 2: a file could not be looked at."""
    from materiac import pipeline, report
    from materiac.cli import loading
    from materiac.diagnostic import Located, Severity
    from materiac.report import as_json, text

    found: list[Located] = []
    unreadable = False
    below = loading.surroundings()
    for file in dict.fromkeys(options.files):
        try:
            layers = below.on_top(loading.read_text(file))
        except loading.UnreadableError as error:
            loading.complain(str(error))
            unreadable = True
            continue
        found += report.ordered(pipeline.check(layers.texts, options.loadout))
    if options.format == "json":
        print(as_json.render(found), end="")
    else:
        print(text.render(found, colour=sys.stdout.isatty()), end="")
        print(text.summary(found))
    level = Severity["WARNING" if options.strict else options.fail_on.upper()]
    if unreadable:
        return 2
    return int(any(part.finding.severity >= level for part in found))
