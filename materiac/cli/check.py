"""`materiac check`: find what is wrong with loadouts."""

from __future__ import annotations

import argparse
import atexit
import contextlib
import gc
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from materiac.cli import allowing, certifying, mending, reading

if TYPE_CHECKING:
    from materiac.cli.loading import Layers
    from materiac.diagnostic import Located
    from materiac.fixing.pieces import TextEdit
    from materiac.pipeline import Checked, Text

FORMATS = ("text", "json", "sarif", "github")
LEVELS = ("info", "warning", "error")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="a loadout file, or - for standard input")
    parser.add_argument("--loadout", metavar="NAME", help="look at this loadout alone")
    parser.add_argument("--format", choices=FORMATS, default="text", help="how findings are shown")
    parser.add_argument(
        "--fail-on",
        choices=LEVELS,
        default="error",
        help="exit with 1 when there is a finding of this severity or worse (default: error)",
    )
    parser.add_argument("--strict", action="store_true", help="the same as --fail-on warning")
    allowing.add_arguments(parser)
    mending.add_arguments(parser)
    certifying.add_arguments(parser)
    reading.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """0: nothing at or above the level; 1: something is; 2: a file could not be looked at."""
    from materiac import collector

    atexit.register(gc.freeze)  # or the collector's last round would go through all that was loaded
    with collector.paused():
        return _run(options)


def _run(options: argparse.Namespace) -> int:
    from materiac.diagnostic import Severity

    used = (part.wrong_use(options) for part in (allowing, mending, certifying))
    if (wrong := next((words for words in used if words is not None), None)) is not None:
        print(f"materiac: {wrong}", file=sys.stderr)
        return 2
    files = list(dict.fromkeys(options.files))
    looked_at, found, suppressed = _look(files, options)
    whole = looked_at == len(files) and all(part.finding.rule != "encoding" for part in found)
    if looked_at or options.format != "text":
        fills_output = mending.fills_output(options) or certifying.fills_output(options)
        with contextlib.redirect_stdout(sys.stderr if fills_output else sys.stdout):
            _show(found, suppressed, options.format, whole=whole)
    if not whole:
        return 2
    level = Severity[options.fail_on.upper()]
    level = min(level, Severity.WARNING) if options.strict else level
    if any(part.finding.severity >= level for part in found):
        return 1
    return certifying.write(options) if options.certificate is not None else 0


def _look(files: Iterable[str], options: argparse.Namespace) -> tuple[int, list[Located], list[Located]]:
    """How many files could be looked at, what was found in them, and what of that is suppressed."""
    from materiac import report
    from materiac.cli import loading
    from materiac.cli.made import made_by_people

    how = reading.reading(options)
    found: list[Located] = []
    suppressed: list[Located] = []
    looked_at = 0
    try:
        below = loading.surroundings()
    except loading.UnreadableError as error:
        loading.complain(str(error))
        return 0, [], []
    for file in files:
        try:
            mending.refuse_to_write(file, options)
            text = made_by_people(loading.read_text(file, how.language))
            if options.fix:
                text = mending.mended(file, text, options, lambda new: _examine(new, below, options))
            checked = _examine(text, below, options)
        except loading.UnreadableError as error:
            loading.complain(str(error))
            continue
        looked_at += 1
        suppressed += checked.suppressed
        found += report.ordered(checked.findings, checked.suppressed)
    return looked_at, found, suppressed


def _examine(text: Text, below: Layers, options: argparse.Namespace) -> Checked:
    """What is wrong in a text above the layers below it, and in its scenarios."""
    from materiac import pipeline

    layers = below.on_top(text, allow_outside=options.allow_outside)
    checked = pipeline.examine(layers.texts, options.loadout, allowing.allowance(options))
    return replace(checked, findings=(*checked.findings, *_scenarios(text)))


def _scenarios(text: Text) -> list[Located]:
    """What is wrong in the scenarios of a file, which no machine is made of."""
    if b"scenario" not in text.raw and b'"name"' not in text.raw and "scenario" not in text.name:
        return []
    from materiac.scenario.read import findings_of

    return findings_of(text.name, text.raw, text.language)


def _show(found: Sequence[Located], known: Sequence[Located], form: str, *, whole: bool) -> None:
    if form == "text":
        from materiac.report import text

        print(text.render(found, colour=sys.stdout.isatty(), suppressed=known), end="")
        print(text.summary(found) + (f", {len(known)} suppressed" if known else ""))
    elif form == "json":
        from materiac.report import as_json

        print(as_json.render(found, len(known)), end="")
    elif form == "sarif":
        from materiac.report import sarif

        print(sarif.render(found, _root(found), whole=whole, mend=_mend), end="")
    else:
        from materiac.report import github

        print(github.render(found, _root(found)), end="")


def _mend(located: Located) -> Sequence[TextEdit] | None:
    """What the fix of a finding changes in its text."""
    from materiac.fixing import text_edits

    fix, place = located.finding.fix, located.place
    return None if fix is None or place is None else text_edits(place.source, fix)


def _root(found: Sequence[Located]) -> Path:
    """The folder that others look for files from: the checkout of a workflow that we are in, or this one."""
    if not found:
        return Path()  # also where the working folder is gone, and nothing could be found
    here, checkout = Path.cwd(), os.environ.get("GITHUB_WORKSPACE")
    return Path(checkout) if checkout and here.is_relative_to(checkout) else here
