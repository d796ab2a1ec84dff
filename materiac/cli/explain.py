"""`materiac explain`: the page of a rule."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from materiac.cli import USAGE_ERROR
from materiac.names import suggestion
from materiac.resources import folder
from materiac.rules import RULES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command line takes."""
    parser.add_argument("rule", metavar="RULE", help="a rule, as findings and `materiac rules` name it")


def run(options: argparse.Namespace) -> int:
    """Print a page."""
    names = [rule.name for rule in RULES]
    if options.rule not in names:
        print(f"materiac: no rule is called '{options.rule}', {_guess(options.rule, names)}", file=sys.stderr)
        return USAGE_ERROR
    page = folder("rules") / f"{options.rule}.md"
    print(page.read_text(encoding="utf-8"), end="")
    return 0


def _guess(wrong: str, names: Sequence[str]) -> str:
    """The rules that may have been meant: those whose names have all of this in them, or the nearest."""
    asked = wrong.casefold().strip("-")
    having = [name for name in sorted(names) if asked and f"-{asked}-" in f"-{name}-"]
    if having:
        return f"did you mean {' or '.join(repr(name) for name in having)}?"
    return suggestion(wrong, names) or "`materiac rules` lists them"
