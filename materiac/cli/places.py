"""Which cast a command is about: the one that is named, in the folder where casts are kept."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

NO_CAST = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The cast, as `options.cast`, and where casts are kept."""
    parser.add_argument(
        "cast",
        nargs="?",
        metavar="CAST",
        help="its id, the beginning of it, with or without the date, or its folder (default: the newest)",
    )
    add_artifacts(parser)


def add_artifacts(parser: argparse.ArgumentParser) -> None:
    """Where casts are kept."""
    parser.add_argument(
        "--artifacts",
        metavar="DIR",
        help="where casts are kept (default: the artifactDir of the configuration)",
    )


def count(text: str) -> int:
    """A number of things on the command line, at least one."""
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def artifact_folder(options: argparse.Namespace) -> Path:
    """The folder that casts lie in: the one that was named, else what the configuration says here.

    A configuration that is missing or broken says nothing, and the default of the language counts.
    """
    if options.artifacts:
        return Path(options.artifacts).resolve()
    return Path.cwd() / _configured()


def _configured() -> str:
    from materiac.cli import loading
    from materiac.model import Frame
    from materiac.pipeline import merged

    try:
        layers = loading.surroundings()
        if named := os.environ.get("MATERIA_CONFIG"):
            layers = layers.on_top(loading.read_text(named))
        found: Any = merged(text for text in layers.texts if not text.shipped).get("artifactDir")
    except loading.UnreadableError:
        found = None
    return _sound(found) or Frame.model_fields["artifact_dir"].default


def _sound(folder: Any) -> str | None:
    """A folder as the language takes it, or None."""
    from materiac.model import Frame

    try:
        return Frame.model_validate({"artifactDir": folder}).artifact_dir
    except ValueError:
        return None


def cast_folder(options: argparse.Namespace) -> Path | None:
    """The folder of the cast that was named, the newest where none was; None after complaining."""
    from materiac.cli.loading import complain
    from materiac.cli.wording import one_line
    from materiac.runtime.find import NoCastError, casts, find

    root = artifact_folder(options)
    try:
        if options.cast is not None:
            return find(root, options.cast)
        known = casts(root)
        if known:
            return known[0]
        complain(f"there is no cast in '{one_line(str(root))}'")
    except NoCastError as error:
        complain(one_line(str(error)))
    return None
