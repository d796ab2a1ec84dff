"""`materiac continue`: end the talk that a cast waits in."""

from __future__ import annotations

import argparse

from materiac.cli import places, resume
from materiac.cli.say import Once


def add_arguments(parser: argparse.ArgumentParser) -> None:
    places.add_arguments(parser)
    resume.add_surroundings(parser)


def run(options: argparse.Namespace) -> int:
    """As `resume`."""
    from materiac.runtime.resume import Allowed

    return resume.go_on(options, Allowed(change=options.accept_change), talks=False, words=Once(None))
