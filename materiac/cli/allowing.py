"""`materiac check --max-turns` and `--max-usd`: what casts may take at most."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from materiac.cli.bound import count_of_items

if TYPE_CHECKING:
    from materiac.flow.formula import Formula
    from materiac.rules.rule import Allowance


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--max-turns",
        type=_formula,
        metavar="FORMULA",
        help="find loadouts of which a cast may take more turns of agents, such as 50 or '5 + 20*N' "
        "for N items",
    )
    parser.add_argument(
        "--max-usd", type=_formula, metavar="FORMULA", help="the same for what a cast costs in US dollars"
    )
    parser.add_argument(
        "--items",
        type=count_of_items,
        metavar="N",
        help="with these: hold a cast of so many items against them (default: of any number from 1 on)",
    )


def _formula(text: str) -> Formula:
    from materiac.flow.formula import Formula

    try:
        formula = Formula.read(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    if formula.single < 0 or formula.per_item < 0:
        raise argparse.ArgumentTypeError(f"'{text}' allows less than nothing")
    return formula


def wrong_use(options: argparse.Namespace) -> str | None:
    """What is wrong with these options together."""
    if options.items is not None and options.max_turns is None and options.max_usd is None:
        return "--items goes with --max-turns or --max-usd"
    return None


def allowance(options: argparse.Namespace) -> Allowance | None:
    """What a call allows; None where it says nothing of that."""
    from materiac.rules.rule import Allowance

    if options.max_turns is None and options.max_usd is None:
        return None
    return Allowance(options.max_turns, options.max_usd, options.items)
