"""`materiac diff`: say what is another in meaning from one loadout to another."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from materiac.cli import reading

if TYPE_CHECKING:
    from collections.abc import Mapping

    from materiac.cli.loading import Offer
    from materiac.program import Program

FORMATS = ("text", "json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "old", metavar="A", help="a loadout file, a compiled machine, or - for standard input"
    )
    parser.add_argument("new", metavar="B", help="what it has become: the same")
    reading.add_arguments(parser)
    parser.add_argument(
        "--loadout", metavar="NAME", help="the loadout in both, by name or id (default: each, by its name)"
    )
    parser.add_argument("--format", choices=FORMATS, default="text", help="how it is shown (default: text)")
    parser.add_argument(
        "--breaking",
        action="store_true",
        help="exit with 1 when a cast that began with A could not be resumed with B",
    )
    parser.add_argument("--exit-code", action="store_true", help="exit with 1 when the meaning is another")


def run(options: argparse.Namespace) -> int:
    """0: compared; 1: what the options ask for is so; 2: one of the two cannot be read, or has errors."""
    from materiac.cli import loading
    from materiac.comparison import as_json, compare_all, text
    from materiac.environment import unsecret

    if options.old == options.new == loading.STANDARD_INPUT:
        loading.complain("one of the two may come through standard input, not both")
        return 2
    how = reading.reading(options)
    old, new = (loading.offer_or_report(file, options.loadout, how) for file in (options.old, options.new))
    if old is None or new is None:
        return 2
    compared = compare_all(*_matched(old, new), (old.graphs, new.graphs))
    as_text = options.format == "text"
    shown = text.render(compared, colour=sys.stdout.isatty()) if as_text else as_json.render(compared)
    print(unsecret(shown), end="")
    differs = options.exit_code and not all(part.same for part in compared)
    return int(differs or (options.breaking and any(part.breaks for part in compared)))


def _matched(old: Offer, new: Offer) -> tuple[Mapping[str, Program], Mapping[str, Program]]:
    """The programs of both; what is compared with a machine is the loadout of its name, if there is one."""
    was, now = ({name: image.program for name, image in part.images.items()} for part in (old, new))
    if old.is_machine:
        now = {name: program for name, program in now.items() if name in was} or now
    if new.is_machine:
        was = {name: program for name, program in was.items() if name in now} or was
    return was, now
