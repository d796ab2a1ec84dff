"""`materiac link`: chain loadouts and single materia into one loadout, which may run at once."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from materiac.cli.loading import Layers, Loaded
    from materiac.link import Part

OF_OTHERS = ("undefined-state",)
"""The rules that a part cannot be held to by itself: what it reads, a part before it may write."""
FRAME = ("artifactDir", "budget", "limits", "parallelism", "agents", "recovery", "eventing")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from materiac.cli import run as run_command

    parser.usage = "materiac link PART [PART ...] [options] [-- REQUEST]"
    parser.add_argument(
        "parts",
        nargs="+",
        metavar="PART",
        help="a file with one loadout, or FILE#LOADOUT, or FILE@MATERIA for a materia alone",
    )
    parser.add_argument("--name", metavar="NAME", help="how to call the loadout (default: as its parts)")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="where to write it (default: standard output, unless it runs)",
    )
    parser.add_argument(
        "--from",
        dest="previous",
        metavar="CAST",
        help="the folder of an earlier cast, whose outcome becomes state.previousCast",
    )
    parser.add_argument("--request", metavar="TEXT", help="run it with this request, as `-- REQUEST` does")
    run_command.add_surroundings(parser)


def arrange(words: Sequence[str]) -> list[str]:
    """The words of a call, with what stands behind `--` as the request."""
    if "--" not in words:
        return list(words)
    cut = list(words).index("--")
    return [*words[:cut], f"--request={' '.join(words[cut + 1 :])}"]


def run(options: argparse.Namespace) -> int:
    """As `run` where there is a request; else 0: written, 2: the parts cannot be linked, read or written."""
    from materiac.cli import loading
    from materiac.cli import run as run_command

    if options.previous is not None and options.request is None:
        loading.complain("'--from' needs a request: the outcome of a cast is for the cast that follows it")
        return 2
    loaded, text = _linked(options.parts, options.name)
    state = None if loaded is None else _state(options)
    if loaded is None or state is None:
        return 2
    if options.request is None or options.output is not None:
        code = loading.write_output(options.output, _laid_out(text, options.output).encode())
        if code or options.request is None:
            return code
    return run_command.cast(options, lambda: loaded, state)


def _laid_out(text: str, output: str | None) -> str:
    """The file in the language that its ending asks for."""
    import json

    from materiac import formatting

    return formatting.written(json.loads(text), "dsl" if (output or "").endswith(".materia") else "json")


def _linked(specs: Sequence[str], name: str | None) -> tuple[Loaded | None, str]:
    """The one loadout, compiled, and its text; without the first after saying what is wrong."""
    from materiac import json_print, link
    from materiac.cli import loading
    from materiac.names import fault

    try:
        below = loading.surroundings()
        parts = [part for spec in specs if (part := _part(below, spec)) is not None]
    except loading.UnreadableError as error:
        loading.complain(str(error))
        return None, ""
    called = name or "-".join(part.program.name for part in parts)[:64].strip(" .-_")
    wrong = fault(called, spaces=True)
    if len(parts) < len(specs) or wrong is not None:
        if wrong is not None and len(parts) == len(specs):
            loading.complain(f"the name '{called}' {wrong}")
        return None, ""
    linked = link.link(parts, called, _shipped())
    for words in (*linked.problems, *linked.notes):
        loading.complain(words)
    if linked.data is None:
        return None, ""
    text = json_print.written(linked.data)
    return _compiled(below, "<linked>", text.encode(), called), text


def _shipped() -> dict[str, Any]:
    from materiac import pipeline
    from materiac.cli import loading

    materia: dict[str, Any] = pipeline.merged(loading.bundled()).get("materia", {})
    return materia


def _part(below: Layers, spec: str) -> Part | None:
    """What a word of the call stands for; None after saying why it stands for nothing."""
    from materiac.cli import loading

    file, mark, name = _divided(spec)
    if mark == "@":
        return _single(below.on_top(loading.read_text(file)), spec, name)
    loaded = loading.load_or_report(file, name or None, tolerated=OF_OTHERS)
    if loaded is not None and not loaded.resolved:
        loading.complain(f"'{file}' is a compiled machine, expected a loadout file")
        return None
    return None if loaded is None else _made(spec, loaded)


def _divided(spec: str) -> tuple[str, str, str]:
    """A file, and behind `#` a loadout or behind `@` a materia; a file may have these in its name."""
    marks = [match.start() for match in re.finditer("[#@]", spec) if 0 < match.start() < len(spec) - 1]
    ways = [(spec[:at], spec[at], spec[at + 1 :]) for at in reversed(marks)]
    known = (way for way in [(spec, "", ""), *ways] if Path(way[0]).exists())
    return next(known, ways[0] if ways else (spec, "", ""))


def _single(layers: Layers, spec: str, name: str) -> Part | None:
    """A materia as a loadout of one socket."""
    import json

    from materiac import pipeline
    from materiac.cli import loading
    from materiac.names import suggestion

    known = pipeline.merged(layers.texts).get("materia", {})
    if name not in known:
        guess = suggestion(name, known) or "see which there are in the file"
        loading.complain(f"'{spec}' names no materia: {guess}")
        return None
    id_ = name.replace(" ", "-")
    alone = {"loadouts": {id_: {"entry": id_, "sockets": {id_: {"materia": name}}}}}
    loaded = _compiled(layers, f"<{spec}>", json.dumps(alone).encode(), id_, OF_OTHERS)
    return None if loaded is None else _made(spec, loaded)


def _made(spec: str, loaded: Loaded) -> Part | None:
    from materiac.cli import loading
    from materiac.link import Part
    from materiac.modern import forms_of_today

    program = loaded.image.program
    own = {"loadouts": {program.name: loaded.resolved["loadouts"][program.name]}}
    data, changes = forms_of_today({**loaded.resolved, **own})
    for change in changes:
        loading.complain(f"'{spec}' cannot be written in the forms of today: {change}")
    if changes:
        return None
    return Part(
        called=spec,
        program=program,
        loadout=data["loadouts"][program.name],
        materia=data["materia"],
        frame={key: data[key] for key in FRAME if key in data},
    )


def _compiled(
    layers: Layers, name: str, raw: bytes, loadout: str | None, tolerated: Collection[str] = ()
) -> Loaded | None:
    """A loadout on top of layers, after its findings have been shown."""
    from materiac import report
    from materiac.cli.loading import Loaded
    from materiac.diagnostic import Severity
    from materiac.pipeline import Text, compile_loadout
    from materiac.report import text

    on_top = layers.on_top(Text(name, raw))
    compiled = compile_loadout(on_top.texts, loadout, tolerated=tolerated)
    told = [part for part in compiled.findings if part.finding.severity >= Severity.WARNING]
    if told:
        shown = text.render(report.ordered(told), colour=sys.stderr.isatty())
        print(shown, end="", file=sys.stderr)
    return None if compiled.image is None else Loaded(compiled.image, compiled.resolved, on_top.names)


def _state(options: argparse.Namespace) -> dict[str, Any] | None:
    """What the cast begins with; None after saying why the earlier cast cannot be read."""
    from materiac.cli import loading
    from materiac.runtime import previous

    if options.previous is None:
        return {}
    try:
        return {"previousCast": previous.outcome(Path(options.previous))}
    except previous.PreviousError as error:
        loading.complain(str(error))
        return None
