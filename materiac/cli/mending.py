"""`materiac check --fix`: files are fixed before they are looked at."""

from __future__ import annotations

import argparse
import codecs
import contextlib
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from materiac.fixing.rounds import Mended
    from materiac.pipeline import Checked, Text
    from materiac.report.veil import Veil
    from materiac.source import Source


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--fix",
        action="store_true",
        help="mend what can be mended without a change of meaning, then look at what is left; "
        "from standard input it goes to standard output",
    )
    parser.add_argument("--unsafe", action="store_true", help="with --fix: also what may change the meaning")
    parser.add_argument(
        "--dry-run", action="store_true", help="with --fix: write nothing, show what would change"
    )


def wrong_use(options: argparse.Namespace) -> str | None:
    """What is wrong with these options together."""
    for option in ("unsafe", "dry_run"):
        if getattr(options, option) and not options.fix:
            return f"--{option.replace('_', '-')} goes with --fix"
    if options.fix and "-" in options.files and len(options.files) > 1:
        return "with --fix, standard input is the only file"
    return None


def fills_output(options: argparse.Namespace) -> bool:
    """Whether standard output is for what is fixed, or for what would be, and not for findings."""
    return options.fix and (options.dry_run or "-" in options.files)


def refuse_to_write(file: str, options: argparse.Namespace) -> None:
    """Raises `UnreadableError` where nothing can be written back to what a file is, like a pipe."""
    from materiac.cli import loading

    if not options.fix or options.dry_run or file == loading.STANDARD_INPUT:
        return
    with contextlib.suppress(OSError, ValueError):  # reading it says what is wrong
        if not stat.S_ISREG(Path(file).stat().st_mode):
            raise loading.UnreadableError(f"'{file}' is no regular file, which --fix could write to")


def mended(file: str, text: Text, options: argparse.Namespace, look: Callable[[Text], Checked]) -> Text:
    """Fix a file and write it, or show how that would change it. Raises `UnreadableError` where it cannot."""
    from materiac import languages
    from materiac.cli import loading
    from materiac.fixing.rounds import mend
    from materiac.report.veil import Veil

    source, document, _ = languages.read(text.name, text.raw, text.language)
    if document is None:
        return _passed_on(file, text, options)
    mark = codecs.BOM_UTF8 if text.raw.startswith(codecs.BOM_UTF8) else b""

    def looked(new: str) -> Checked:
        return look(replace(text, raw=mark + new.encode()))

    result = mend(source, lambda new: looked(new).findings, unsafe=options.unsafe)
    new = replace(text, raw=mark + result.text.encode())
    shown = (source.text, result.text) if options.dry_run or result.left_out else ()
    veil = Veil(part for one in map(looked, shown) for part in (*one.findings, *one.suppressed))
    is_masked = options.dry_run and _show(source, result.text, veil)
    if not options.dry_run and (file == loading.STANDARD_INPUT or new.raw != text.raw):
        _write(file, new)
    # What is said is done.
    for line in _notes(result, dry=options.dry_run, masked=is_masked):
        loading.complain(f"'{text.name}': {veil.words(line)}")
    return new


def _show(source: Source, new: str, veil: Veil) -> bool:
    """Show how a text would change; whether there were secrets in that, which are not shown."""
    from materiac.cli import text_diff

    def veiled(text: str) -> str:
        return veil.over(replace(source, text=text)).text

    diff = text_diff.unified(source.text, new, source.name, source.name, veiled)
    sys.stdout.writelines(diff.lines)
    return diff.masked


def _write(file: str, text: Text) -> None:
    from materiac.cli import loading

    output = None if file == loading.STANDARD_INPUT else file
    if loading.write_output(output, text.raw) != 0:
        raise loading.UnreadableError(f"'{file}' stays as it was")


def _passed_on(file: str, text: Text, options: argparse.Namespace) -> Text:
    """What cannot be read stays as it is, on its way through too."""
    from materiac.cli import loading

    if file == loading.STANDARD_INPUT and not options.dry_run:
        _write(file, text)
    return text


def _notes(result: Mended, *, dry: bool, masked: bool) -> Iterator[str]:
    from materiac.cli import text_diff

    if result.mended:
        yield f"{len(result.mended)} {'would be fixed' if dry else 'fixed'}"
    if masked:
        yield text_diff.MASKED
    for located, why in result.left_out:
        fix = located.finding.fix
        yield f"not fixed: {located.finding.rule}: {fix.title if fix else ''}: {why}"
