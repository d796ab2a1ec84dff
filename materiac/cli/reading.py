"""The options of commands that read loadouts."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Literal

LANGUAGES = ("json", "dsl")


@dataclass(frozen=True)
class Reading:
    """How a named file is read: in which language, if not by its name, and from where it may import."""

    language: Literal["json", "dsl"] | None = None
    allow_outside: bool = False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--language",
        choices=LANGUAGES,
        help="what FILE is written in (default: by its ending, else by how it begins)",
    )
    parser.add_argument(
        "--allow-outside",
        action="store_true",
        help="let imports leave the folder of FILE and the working folder",
    )


def reading(options: argparse.Namespace) -> Reading:
    """What the options of a call say."""
    return Reading(options.language, options.allow_outside)
