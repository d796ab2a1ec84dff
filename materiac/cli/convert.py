"""`materiac convert`: write a loadout file in the other language."""

from __future__ import annotations

import argparse
import sys
from pathlib import PurePath
from typing import TYPE_CHECKING

from materiac.cli.reading import LANGUAGES

if TYPE_CHECKING:
    from materiac.source import Language


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a loadout file, or - for standard input")
    parser.add_argument(
        "--to",
        choices=LANGUAGES,
        help="what to write (default: by the ending of the output file, else the other language)",
    )
    parser.add_argument(
        "--language", choices=LANGUAGES, help="what FILE is written in (default: as it seems)"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="where to write it (default: standard output)")


def run(options: argparse.Namespace) -> int:
    """0: written; 2: the file cannot be read as what it is, or nothing can be written."""
    from materiac import formatting, languages, report
    from materiac.cli import loading
    from materiac.report import text as shown

    try:
        text = loading.read_text(options.file, options.language)
    except loading.UnreadableError as error:
        loading.complain(str(error))
        return 2
    document, findings = languages.document(text.name, text.raw, text.language)
    if document is None:
        print(shown.render(report.ordered(findings), colour=sys.stderr.isatty()), end="", file=sys.stderr)
        return 2
    source = text.language or languages.language_of(document.source)
    target = options.to or _by_ending(options.output) or ("json" if source == "dsl" else "dsl")
    content = formatting.converted(document.data, target, listed=formatting.has_list(document)).encode()
    return loading.write_output(options.output, content, made_from=options.file)


def _by_ending(output: str | None) -> Language | None:
    ending = PurePath(output or "").suffix.lower()
    return "dsl" if ending == ".materia" else "json" if ending == ".json" else None
