"""`materiac test`: play scenarios, and say what does not come out as they expect."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from materiac.diagnostic import Located
    from materiac.scenario.coverage import Coverage
    from materiac.scenario.loadouts import Loadouts
    from materiac.scenario.read import Placed
    from materiac.scenario.suite import Verdict

PASSED, FAILED, UNUSABLE = 0, 1, 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="a scenario file, or a folder of them (default: here); with --record the loadout's file",
    )
    parser.add_argument("--only", metavar="TEXT", help="play the scenarios that have this in their names")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    parser.add_argument("-v", "--verbose", action="store_true", help="name what passes too")
    coverage = parser.add_argument_group("coverage")
    coverage.add_argument(
        "--coverage", action="store_true", help="say what of the loadouts no scenario came to"
    )
    coverage.add_argument(
        "--casts", action="append", default=[], metavar="DIR", help="count the casts in this folder too"
    )
    coverage.add_argument("--format", choices=("text", "json"), help="of the coverage (default: text)")
    coverage.add_argument(
        "--min", type=_percent, metavar="PERCENT", help="fail where a loadout is covered less than this"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="where to write what was asked for (default: stdout)"
    )
    making = parser.add_argument_group("making scenarios").add_mutually_exclusive_group()
    making.add_argument(
        "--generate", metavar="LOADOUT", help="write scenarios that take every way of it: a file, or a name"
    )
    making.add_argument("--record", metavar="CAST", help="write a scenario of the cast in this folder")
    parser.add_argument(
        "--loadout", metavar="NAME", help="the loadout of the file that scenarios are made for"
    )


def _percent(text: str) -> float:
    try:
        percent = float(text)
    except ValueError:
        percent = -1
    if not 0 <= percent <= 100:
        raise argparse.ArgumentTypeError(f"'{text}' is no percentage")
    return percent


def run(options: argparse.Namespace) -> int:
    """0: all passed; 1: some did not, or too little is covered; 2: something could not be played."""
    from materiac.cli import loading
    from materiac.cli.scenario_loadouts import from_here
    from materiac.scenario.loadouts import LoadoutError
    from materiac.scenario.record import RecordError

    try:
        loadouts = from_here()
        if options.generate is not None:
            return _generate(options, loadouts)
        if options.record is not None:
            return _record(options)
        return _test(options, loadouts)
    except (loading.UnreadableError, LoadoutError, RecordError) as error:
        loading.complain(str(error))
        return UNUSABLE


# Playing scenarios


def _test(options: argparse.Namespace, loadouts: Loadouts) -> int:
    from materiac.cli import loading
    from materiac.scenario.coverage import Coverage

    missing = next((folder for folder in options.casts if not Path(folder).is_dir()), None)
    if missing is not None:
        raise loading.UnreadableError(f"'{missing}' is no folder")
    placed, findings, bare = _read(options.paths or ["."], options.only)
    if not placed and not findings and not options.casts:
        where = ", ".join(f"'{path}'" for path in options.paths or ["."])
        named = f" that has '{options.only}' in its name" if options.only is not None else ""
        loading.complain(f"there is no scenario in {where}{named}")
        return UNUSABLE
    for path in bare:
        loading.complain(f"there is no scenario in '{path}'")
    to_stdout = not options.json and not (_wanted(options) and _data_to_stdout(options))
    verdicts = _judged(placed, findings, loadouts, options, sys.stdout if to_stdout else sys.stderr)
    coverage = _coverage(verdicts, loadouts, options) if _wanted(options) else Coverage()
    if options.json:
        data = _data(verdicts, findings, coverage if _wanted(options) else None)
        code = loading.write_output(options.output, f"{json.dumps(data, indent=2)}\n".encode())
        if code:
            return code
    elif _wanted(options) and (code := _write_coverage(coverage, options)):
        return code
    code = _code(verdicts, findings, coverage, options.min)
    return UNUSABLE if bare else code


def _wanted(options: argparse.Namespace) -> bool:
    asked = options.coverage or options.casts or options.format is not None
    return bool(asked or options.min is not None)


def _data_to_stdout(options: argparse.Namespace) -> bool:
    return options.format == "json" and options.output in (None, "-")


def _read(paths: list[str], only: str | None) -> tuple[list[Placed], list[Located], list[str]]:
    """The scenarios of all files, what is wrong in these, and which named file has none of either.

    Raises `UnreadableError`.
    """
    from materiac.cli import loading
    from materiac.scenario.read import read
    from materiac.scenario.suite import files_below

    placed: list[Placed] = []
    findings: list[Located] = []
    bare: list[str] = []
    try:
        files = [file for path in dict.fromkeys(paths) for file in files_below(Path(path))]
    except OSError as error:
        raise loading.UnreadableError(f"cannot read '{error.filename}': {error.strerror}") from error
    named = {str(Path(path)) for path in paths}
    for file in dict.fromkeys(files):
        found, wrong = read(str(file), loading.read_text(str(file)).raw)
        placed += [part for part in found if only is None or only in part.scenario.name]
        findings += wrong
        if not found and not wrong and str(file) in named:
            bare.append(str(file))
    return placed, findings, bare


def _judged(
    placed: list[Placed],
    findings: list[Located],
    loadouts: Loadouts,
    options: argparse.Namespace,
    stream: TextIO,
) -> list[Verdict]:
    """Play everything, and say what does not come out as expected as soon as that is known."""
    from materiac.report import text
    from materiac.scenario import wording
    from materiac.scenario.suite import judge

    if not options.json:
        print(text.render(findings, colour=False), end="", file=stream)
    verdicts = []
    for part in placed:
        verdict = judge(part, loadouts, os.environ)
        verdicts.append(verdict)
        if not options.json and (options.verbose or verdict.outcome != "passed"):
            print("\n".join(wording.lines(verdict)), file=stream, flush=True)
    if not options.json:
        print(wording.summary(verdicts, len({part.place for part in findings})), file=stream)
    return verdicts


def _coverage(verdicts: list[Verdict], loadouts: Loadouts, options: argparse.Namespace) -> Coverage:
    from materiac.scenario.coverage import Coverage

    coverage = Coverage()
    for verdict in verdicts:
        if verdict.compiled is not None:
            coverage.add(verdict.compiled, verdict.played.records if verdict.played else None)
    for folder in options.casts:
        coverage.add_casts(Path(folder), loadouts)
    return coverage


def _write_coverage(coverage: Coverage, options: argparse.Namespace) -> int:
    from materiac.cli import loading

    if options.format == "json":
        text = json.dumps(coverage.as_data(), ensure_ascii=False, indent=1)
    else:
        text = "\n".join(coverage.lines())
    sys.stdout.flush()
    return loading.write_output(options.output, f"{text}\n".encode())


def _data(verdicts: list[Verdict], findings: list[Located], coverage: Coverage | None) -> dict[str, Any]:
    from materiac.scenario import wording

    return {
        "scenarios": [wording.as_data(verdict) for verdict in verdicts],
        "findings": [wording.finding_data(located) for located in findings],
        **({"coverage": coverage.as_data()} if coverage is not None else {}),
    }


def _code(verdicts: list[Verdict], findings: list[Located], coverage: Coverage, least: float | None) -> int:
    from materiac.cli import loading

    outcomes = {verdict.outcome for verdict in verdicts}
    if findings or "broken" in outcomes:
        return UNUSABLE
    thin = [part for part in coverage.of.values() if least is not None and part.percent < least]
    for part in thin:
        loading.complain(f"'{part.program.name}' is covered to {part.percent:.1f} %, expected {least:g} %")
    return FAILED if thin or "failed" in outcomes else PASSED


# Making scenarios


def _generate(options: argparse.Namespace, loadouts: Loadouts) -> int:
    from materiac.cli import loading
    from materiac.report import ordered, text
    from materiac.scenario.generate import generate
    from materiac.scenario.model import Target, is_file
    from materiac.scenario.search import MOST_PLACES

    file, name = (
        (options.generate, options.loadout) if is_file(options.generate) else (None, options.generate)
    )
    target = Target(file=file, name=name)
    compiled = loadouts.get(target, Path())
    if compiled.image is None:
        print(text.render(ordered(compiled.findings), colour=False), end="", file=sys.stderr)
        return UNUSABLE
    made = generate(compiled.image, os.environ)
    named = _named(_from_output(file, options.output) if file is not None else None, name)
    about = f"Made by `materiac test --generate` for '{compiled.image.program.name}'."
    data = {"about": about, "loadout": named, "scenarios": made.scenarios}
    for element in made.missed:
        loading.complain(f"no scenario was found for: {element.words}")
    if made.cut:
        loading.complain(f"the search was cut at {MOST_PLACES:,} places: there may be one all the same")
    return loading.write_output(options.output, _spelt(data, options.output), made_from=file)


def _spelt(data: dict[str, Any], output: str | None) -> bytes:
    """Scenarios in the language that the name of the output ends with."""
    from materiac.formatting import written
    from materiac.languages import ENDING
    from materiac.scenario.spelling import spelled

    return (written(data, "dsl") if output and output.endswith(ENDING) else spelled(data)).encode()


def _named(file: str | None, name: str | None) -> str | dict[str, str] | None:
    """A loadout as a scenario names it."""
    return {"file": file, "name": name} if file is not None and name is not None else file or name


def _record(options: argparse.Namespace) -> int:
    from materiac.cli import loading
    from materiac.scenario.record import scenario_of

    if len(options.paths) > 1:
        loading.complain("a cast has one loadout: name one file beside --record")
        return UNUSABLE
    data = scenario_of(Path(options.record))
    if options.paths:
        data["loadout"] = {"file": _from_output(options.paths[0], options.output), **data["loadout"]}
    return loading.write_output(options.output, _spelt(data, options.output))


def _from_output(file: str, output: str | None) -> str:
    """A file as it is named from the folder of the output."""
    folder = Path(output).parent if output not in (None, "-") else Path()
    name = os.path.relpath(file, folder) if not Path(file).is_absolute() else file
    return name if "/" in name else f"./{name}"
