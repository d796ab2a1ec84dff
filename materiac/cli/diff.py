"""`materiac diff`: say what is another in meaning from one loadout to another."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from materiac.cli import reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from materiac.change import Change
    from materiac.cli.loading import Offer
    from materiac.comparison import Comparison
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
    old, new = _offers(options)
    if old is None or new is None:
        return 2
    compared = compare_all(*_matched(old, new), (old.graphs, new.graphs), _again(old, new))
    runs, materia = _active(old, new, compared), _materia(old, new)
    if options.format == "text":
        around = (*([] if runs is None else [runs]), *materia)
        shown = text.render(compared, around, colour=sys.stdout.isatty())
    else:
        shown = as_json.render(compared, runs, materia)
    print(unsecret(shown), end="")
    differs = runs is not None or materia or not all(part.same for part in compared)
    breaks = any(part.breaks for part in compared)
    return int((options.exit_code and bool(differs)) or (options.breaking and breaks))


def _offers(options: argparse.Namespace) -> tuple[Offer | None, Offer | None]:
    """Both files, or the loadout that is asked for in each; None after complaining."""
    from materiac.cli import loading

    how = reading.reading(options)
    if options.loadout is not None:
        old, new = (
            loading.offer_or_report(file, options.loadout, how) for file in (options.old, options.new)
        )
        return old, new
    was = loading.whole_or_report(options.old, how)
    return was, loading.whole_or_report(options.new, how, () if was is None else was.casts)


def _again(old: Offer, new: Offer) -> Mapping[str, str] | None:
    """Where casts of the old file go on in the new one, where both say all that is in them."""
    return None if old.again is None or old.is_machine else new.again


def _active(old: Offer, new: Offer, compared: Iterable[Comparison]) -> Change | None:
    """What runs where nothing is asked for, if both files say that, and say another."""
    from materiac.comparison import active

    said = all(part.again is not None and part.images for part in (old, new))
    return active(old.active, new.active, compared) if said else None


def _materia(old: Offer, new: Offer) -> tuple[Change, ...]:
    """What is another in all materia of both, where one has nothing but materia."""
    from materiac.change import materia_changes

    return materia_changes(old.materia, new.materia) if old.is_materia or new.is_materia else ()


def _matched(old: Offer, new: Offer) -> tuple[Mapping[str, Program], Mapping[str, Program]]:
    """The programs of both; what is compared with a machine is the loadout of its name, if there is one."""
    was, now = ({name: image.program for name, image in part.images.items()} for part in (old, new))
    if old.is_machine:
        now = {name: program for name, program in now.items() if name in was} or now
    if new.is_machine:
        was = {name: program for name, program in was.items() if name in now} or was
    return was, now
