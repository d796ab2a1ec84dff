"""`materiac bound`: say what a cast takes at most."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from materiac.cli import reading

if TYPE_CHECKING:
    from materiac.flow.bounds import Bound
    from materiac.program import Budget

FORMATS = ("text", "json")
MOST_ITEMS = 1_000_000_000
_ITEMS = f"whole numbers from 0 to {MOST_ITEMS}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a loadout file, or - for standard input")
    parser.add_argument(
        "--loadout", metavar="NAME", help="the loadout, by name or id (default: all of the file)"
    )
    parser.add_argument(
        "--items", type=count_of_items, metavar="N", help="say how much it is with so many items"
    )
    parser.add_argument("--format", choices=FORMATS, default="text", help="how it is shown (default: text)")
    reading.add_arguments(parser)


def count_of_items(text: str) -> int:
    """A number of items, as an option has it."""
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 12 else -1
    if not 0 <= number <= MOST_ITEMS:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of items, which are {_ITEMS}")
    return number


def run(options: argparse.Namespace) -> int:
    """0: told; 2: the loadout has errors, or a file cannot be read."""
    from materiac.cli import bound_page, loading
    from materiac.environment import unsecret
    from materiac.flow.bounds import bound

    offer = loading.offer_or_report(options.file, options.loadout, reading.reading(options))
    if offer is None:
        return 2
    if offer.is_machine:
        loading.complain(f"'{options.file}' is a compiled machine: name the loadout that it was made from")
        return 2
    programs = {name: image.program for name, image in offer.images.items()}
    bounds = {name: bound(offer.graphs[name], it.max_no_advance_cycles) for name, it in programs.items()}
    if options.format == "json":
        found = [_data(bounds[name], it.budget, options.items) for name, it in programs.items()]
        shown = json.dumps({"version": 1, "loadouts": found}, ensure_ascii=False, indent=2)
    else:
        pages = (bound_page.render(bounds[name], it.budget, options.items) for name, it in programs.items())
        shown = "\n\n".join(pages)
    print(unsecret(shown))
    return 0


def _data(bound: Bound, budget: Budget, items: int | None) -> dict[str, Any]:
    from materiac.cli import bound_page

    data = bound.as_data()
    # Replies of a person have no limit: no budget pays for any number of items with them.
    found = ((unit, most) for unit, most, _ in bound_page.funded(bound, budget))
    funded = {unit: most for unit, most in found if most is not None or not bound.talks}
    data["budgetPaysForItems"] = funded
    if items is not None:
        data["items"] = items
        data["withItems"] = {
            "agentTurns": bound.turns.at(items),
            "repairTurns": bound.repairs.at(items),
            "utilityRuns": bound.runs.at(items),
            **{spent.unit: float(spent.most.at(items)) for spent in bound.spent},
        }
    return data
