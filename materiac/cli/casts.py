"""`materiac casts`: list the casts, the newest first."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from materiac.cli import places

if TYPE_CHECKING:
    from materiac.runtime.summary import Summary

_HEADINGS = ("cast", "state", "loadout", "request", "age", "cost")
_TEXT = 40
"""The most characters of a loadout or a request where they go into a pipe."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    places.add_artifacts(parser)
    parser.add_argument("-n", type=places.count, metavar="N", help="only the newest N (default: all)")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def run(options: argparse.Namespace) -> int:
    """0 listed, also where there are none; 2 the folder cannot be read."""
    from materiac.cli.loading import complain
    from materiac.cli.printing import print_json
    from materiac.cli.wording import one_line
    from materiac.runtime.find import NoCastError, casts
    from materiac.runtime.summary import summary

    root = places.artifact_folder(options)
    try:
        folders = casts(root)[: options.n]
    except NoCastError as error:
        complain(one_line(str(error)))
        return places.NO_CAST
    found = [summary(folder) for folder in folders]
    if options.json:
        print_json({"version": 1, "artifacts": str(root), "casts": [cast.as_data() for cast in found]})
    elif found:
        _print(found)
    else:
        complain(f"there is no cast in '{one_line(str(root))}'")
    return 0


def _print(found: list[Summary]) -> None:
    from materiac.cli.printing import print_table

    print_table(
        _HEADINGS, [_row(cast) for cast in found], right=("age", "cost"), tight=("request", "loadout")
    )


def _row(cast: Summary) -> list[str]:
    from materiac.cli.wording import age, clipped, cost

    total = cast.usage
    known = total.turns > total.unknown
    return [
        cast.id,
        cast.state,
        clipped(cast.loadout or "", _TEXT),
        clipped(cast.request or "", _TEXT),
        age(cast.age),
        cost(total.cost) if known else "unknown" if total.turns else "",
    ]
