"""`materiac fmt`: write loadout files in the canonical layout."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from materiac.cli.reading import LANGUAGES

if TYPE_CHECKING:
    from materiac.pipeline import Text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="a loadout file, which is written anew, or - to go from standard input to standard output",
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit with 1 if a file would change"
    )
    parser.add_argument("--diff", action="store_true", help="write nothing; show what would change")
    parser.add_argument(
        "--language", choices=LANGUAGES, help="what FILE is written in (default: as it seems)"
    )


def run(options: argparse.Namespace) -> int:
    """0: all is laid out; 1: with --check, something is not; 2: a file cannot be read or written."""
    from materiac.cli import loading

    code = 0
    for file in dict.fromkeys(options.files):
        try:
            text = loading.read_text(file, options.language)
        except loading.UnreadableError as error:
            loading.complain(str(error))
            code = 2
            continue
        code = max(code, _one(file, text, options))
    return code


def _one(file: str, text: Text, options: argparse.Namespace) -> int:
    from materiac import formatting, languages, report
    from materiac.cli import loading
    from materiac.cli.text_diff import MASKED, unified
    from materiac.report import text as shown
    from materiac.secret_shapes import veiled

    document, findings = languages.document(text.name, text.raw, text.language)
    if document is None:
        print(shown.render(report.ordered(findings), colour=sys.stderr.isatty()), end="", file=sys.stderr)
        return 2
    source = document.source
    new = formatting.formatted(source.text, text.language or languages.language_of(source))
    changes = new.encode() != text.raw
    if options.diff:
        diff = unified(source.text, new, f"{text.name} as it is", f"{text.name} laid out", veiled)
        sys.stdout.writelines(diff.lines)
        if diff.masked:
            loading.complain(f"'{text.name}': {MASKED}")
    if options.check:
        if changes:
            loading.complain(f"'{text.name}' would change")
        return int(changes)
    if file == loading.STANDARD_INPUT and not options.diff:
        return loading.write_output(None, new.encode())
    return 0 if options.diff or not changes else _rewrite(Path(os.path.realpath(file)), new)


def _rewrite(file: Path, new: str) -> int:
    """Write a file anew, where a link leads to, with the rights that it had."""
    from materiac.cli import loading

    mode = file.stat().st_mode
    code = loading.write_output(str(file), new.encode())
    if code == 0:
        file.chmod(mode)
    return code
