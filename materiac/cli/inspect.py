"""`materiac inspect`: the way that a cast took, or one of its visits with all that belongs to it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from materiac.cli import places

if TYPE_CHECKING:
    from materiac.runtime.journal import Record
    from materiac.runtime.summary import Summary
    from materiac.runtime.visits import Visited

NOT_DONE = 1
_HEADINGS = ("", "socket", "visit", "item", "verdict", "next", "turns", "tokens", "cost", "took")
_NUMBERS = ("", "visit", "turns", "tokens", "cost", "took")
_ITEM = 40


def add_arguments(parser: argparse.ArgumentParser) -> None:
    places.add_arguments(parser)
    parser.add_argument(
        "--socket", metavar="S", help="a visit of this socket, with what went in and came out"
    )
    parser.add_argument("--visit", type=places.count, metavar="N", help="which of them (default: the last)")
    parser.add_argument(
        "--rebuild", action="store_true", help="make manifest.json and usage.json anew from the journal"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def run(options: argparse.Namespace) -> int:
    """0 shown or rebuilt; 1 the journal is broken, or is being written; 2 no such cast, socket or visit."""
    from materiac.cli.loading import complain
    from materiac.cli.wording import one_line
    from materiac.runtime.artifacts import ArtifactError
    from materiac.runtime.find import JOURNAL
    from materiac.runtime.journal import JournalError, read

    if options.visit is not None and options.socket is None:
        complain("--visit needs --socket, which says of what")
        return places.NO_CAST
    folder = places.cast_folder(options)
    if folder is None:
        return places.NO_CAST
    try:
        if options.rebuild:
            return _rebuild(options, folder)
        journal = folder / JOURNAL
        records = read(journal).records if journal.exists() else ()
    except (JournalError, ArtifactError) as error:
        complain(one_line(str(error)))
        return NOT_DONE
    return _shown(options, folder, records)


def _rebuild(options: argparse.Namespace, folder: Path) -> int:
    from materiac.cli.printing import print_json
    from materiac.cli.wording import one_line
    from materiac.runtime.rebuild import rebuild

    rebuilt = rebuild(folder)
    if options.json:
        files = [{"file": part.file, "differed": part.differed} for part in rebuilt]
        print_json({"version": 1, "castId": folder.name, "rebuilt": files})
    else:
        for part in rebuilt:
            print(f"{part.file}: {one_line(part.differed or 'as it was')}")
    return 0


def _shown(options: argparse.Namespace, folder: Path, records: Sequence[Record]) -> int:
    from materiac.runtime.summary import RUNNING, folded
    from materiac.runtime.visits import visits

    cast = folded(folder, records)
    known = visits(records, running=cast.state == RUNNING)
    if options.socket is not None:
        return _one(options, folder, known)
    if options.json:
        _way_as_json(cast, known)
    else:
        _way(options, cast, known)
    return 0


def _one(options: argparse.Namespace, folder: Path, known: Sequence[Visited]) -> int:
    from materiac.cli import visit_page
    from materiac.cli.loading import complain
    from materiac.cli.printing import print_json
    from materiac.cli.wording import one_line

    here = [visit for visit in known if visit.place["socket"] == options.socket]
    meant = [visit for visit in here if options.visit in (None, visit.place["visit"])]
    if not meant:
        complain(one_line(_no_visit(options, folder, known)))
        return places.NO_CAST
    chosen = meant if options.visit is not None else meant[-1:]
    if options.json:
        data = [visit_page.as_data(folder, visit) for visit in chosen]
        print_json({"version": 1, "castId": folder.name, "visits": data})
    else:
        print("\n\n".join("\n".join(visit_page.lines(folder, visit, len(known))) for visit in chosen))
    return 0


def _no_visit(options: argparse.Namespace, folder: Path, known: Sequence[Visited]) -> str:
    from materiac.cli.wording import count
    from materiac.names import suggestion
    from materiac.runtime.contents import definition

    name = options.socket
    times = sum(visit.place["socket"] == name for visit in known)
    if times:
        there = f"there is no visit {options.visit} of '{name}' in '{folder.name}'"
        return f"{there}: it has {count(times, 'visit')}"
    sockets = definition(folder, "machine.json").sockets
    if name in sockets:
        return f"'{name}' has not been visited in '{folder.name}'"
    guess = suggestion(name, {*sockets, *(str(visit.place["socket"]) for visit in known)})
    return f"there is no socket '{name}' in '{folder.name}'" + (f": {guess}" if guess else "")


def _way_as_json(cast: Summary, known: Sequence[Visited]) -> None:
    from materiac.cli.printing import print_json
    from materiac.cli.why import why
    from materiac.runtime.contents import definition

    machines = {name: definition(cast.folder, name) for name in {visit.machine for visit in known}}
    way = [{**visit.as_data(), "why": why(visit, machines[visit.machine])} for visit in known]
    print_json({"version": 1, "cast": cast.as_data(), "visits": way})


def _way(options: argparse.Namespace, cast: Summary, known: Sequence[Visited]) -> None:
    from materiac.cli import standing
    from materiac.cli.onward import name_of, onward
    from materiac.cli.printing import print_table
    from materiac.runtime.contents import definition

    following = onward(cast, definition(cast.folder, cast.machine), name_of(cast, options))
    print("\n".join(standing.lines(cast, following)))
    if known:
        print()
        print_table(_HEADINGS, [_row(visit) for visit in known], right=_NUMBERS, tight=("item", "next"))


def _row(visit: Visited) -> list[str]:
    from materiac.cli.why import briefly, verdict
    from materiac.cli.wording import clipped, cost, duration, item

    place, used = visit.place, visit.used
    stream = f"[{place['stream']}] " if place["stream"] else ""
    attempt = f", attempt {visit.attempt}" if visit.attempt > 1 and place["itemKey"] is not None else ""
    known = used.turns > used.unknown
    return [
        f"{visit.number:,}",
        f"{stream}{place['socket']}",
        str(place["visit"]),
        clipped(item(place["itemKey"], place["itemLabel"]), _ITEM) + attempt,
        verdict(visit),
        briefly(visit),
        f"{used.turns:,}" if used.turns else "",
        f"{used.tokens:,}" if known else "",
        cost(used.cost) if known else "",
        duration(visit.seconds),
    ]
