"""`materiac status`: say how a cast stands, and what can be done with it."""

from __future__ import annotations

import argparse

from materiac.cli import places


def add_arguments(parser: argparse.ArgumentParser) -> None:
    places.add_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def run(options: argparse.Namespace) -> int:
    """0 said; 1 the journal is broken; 2 there is no such cast."""
    from materiac.cli import standing
    from materiac.cli.onward import name_of, onward
    from materiac.cli.printing import print_json
    from materiac.runtime.contents import definition
    from materiac.runtime.summary import BROKEN, summary

    folder = places.cast_folder(options)
    if folder is None:
        return places.NO_CAST
    cast = summary(folder)
    following = onward(cast, definition(folder, cast.machine), name_of(cast, options))
    if options.json:
        print_json({"version": 1, **cast.as_data(), "next": following})
    else:
        print("\n".join(standing.lines(cast, following)))
    return 1 if cast.state == BROKEN else 0
