"""`materiac rules`: the rules of `check`, one a line."""

from __future__ import annotations

import argparse
import json

from materiac.rules import RULES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command line takes."""
    parser.add_argument("--format", choices=["text", "json"], default="text", help="how to print them")


def run(options: argparse.Namespace) -> int:
    """List all rules."""
    if options.format == "json":
        rows = [{"name": r.name, "severity": r.severity.word, "summary": r.summary} for r in RULES]
        print(json.dumps({"version": 1, "rules": rows}, ensure_ascii=False, indent=2))
        return 0
    width = max(len(rule.name) for rule in RULES)
    for rule in RULES:
        print(f"{rule.name:<{width}}  {rule.severity.word:<7}  {rule.summary}")
    return 0
