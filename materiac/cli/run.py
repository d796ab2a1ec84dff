"""`materiac run`: run a loadout to its end."""

from __future__ import annotations

import argparse
import errno
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from materiac.cli import certifying, reading, tracing

if TYPE_CHECKING:
    from materiac.agents.protocol import Agent
    from materiac.cli.loading import Loaded
    from materiac.cli.onlooker import Onlooker
    from materiac.cli.stopping import Stopping
    from materiac.runtime.run import Result

COMPLETE, FAILED, NOT_STARTED, OWN_FAULT, WAITING = 0, 1, 2, 3, 4
EXIT_CODES = {"complete": COMPLETE, "failed": FAILED, "waiting": WAITING, "stopped": WAITING}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file",
        nargs="?",
        metavar="FILE",
        help="a loadout file, a compiled machine, or - for standard input (default: the one that "
        "MATERIA_CONFIG names, else the project's)",
    )
    parser.add_argument("--request", required=True, metavar="TEXT", help="what the cast is asked to do")
    parser.add_argument(
        "--loadout", metavar="NAME", help="the loadout, by name or id (default: the active one)"
    )
    reading.add_arguments(parser)
    certifying.add_requirement(parser)
    add_surroundings(parser)


def add_surroundings(parser: argparse.ArgumentParser) -> None:
    """The options of a cast that have nothing to do with which loadout runs."""
    parser.add_argument("--agent", metavar="SPEC", help="who answers (`materiac agents` lists them)")
    parser.add_argument(
        "--artifacts", metavar="DIR", help="where casts are kept (default: the file's artifactDir)"
    )
    parser.add_argument(
        "--cwd", metavar="DIR", default=".", help="where agents and utilities work (default: here)"
    )
    parser.add_argument(
        "--interactive",
        action=argparse.BooleanOptionalAction,
        help="talk with multi-turn agents: say a line, end with /continue (default: on a terminal)",
    )
    tracing.add_argument(parser)
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object at the end, and nothing else"
    )


def run(options: argparse.Namespace) -> int:
    """0 complete, 1 failed, 2 could not start, 3 a fault of our own, 4 waiting or stopped."""
    from materiac.cli import loading

    how = reading.reading(options)

    def load() -> Loaded | None:
        loaded = loading.load_or_report(options.file, options.loadout, how)
        return loaded if loaded is None or _is_certified(loaded, options.require_certificate) else None

    return cast(options, load)


def _is_certified(loaded: Loaded, certificate: str | None) -> bool:
    """Whether a loadout may run under a certificate, if there has to be one; says why not."""
    from materiac.cli import loading

    words = certifying.refusal(certificate, loaded.image.program) if certificate is not None else None
    if words is not None:
        loading.complain(words)
    return words is None


def cast(
    options: argparse.Namespace,
    load: Callable[[], Loaded | None],
    state: dict[str, Any] | None = None,
    onlooker: Onlooker | None = None,
) -> int:
    """Run what `load` gives, with the options of `add_surroundings` and a `request`; the exit code of `run`.

    `load` gives None after it has said why there is nothing to run; `state` is what the cast begins with;
    an `onlooker` is told of all that happens, in place of the screen.
    """
    from materiac.cli import loading
    from materiac.cli.stopping import Stopping

    with Stopping() as stopping:
        try:
            return _start(options, load, state or {}, stopping, onlooker)
        except KeyboardInterrupt:
            loading.complain("stopped")
            return WAITING


def _start(
    options: argparse.Namespace,
    load: Callable[[], Loaded | None],
    state: dict[str, Any],
    stopping: Stopping,
    onlooker: Onlooker | None,
) -> int:
    from materiac.agents.protocol import AgentError
    from materiac.cli import loading

    try:
        loaded = load()
        if loaded is None:
            return NOT_STARTED
        agent = _agent(options, loaded)
    except AgentError as error:
        loading.complain(str(error))
        return NOT_STARTED
    return _cast(options, loaded, agent, state, stopping, onlooker)


def _agent(options: argparse.Namespace, loaded: Loaded) -> Agent:
    from materiac.cli import loading
    from materiac.cli.answering import answering, asked_for, unknown_models

    agent = answering(asked_for(options.agent), loaded.image)
    for words in unknown_models(agent, loaded.image.program):
        loading.complain(words)
    return agent


def _cast(
    options: argparse.Namespace,
    loaded: Loaded,
    agent: Agent,
    state: dict[str, Any],
    stopping: Stopping,
    onlooker: Onlooker | None,
) -> int:
    from materiac.cli import loading
    from materiac.cli.person import Terminal
    from materiac.cli.progress import Progress
    from materiac.runtime.artifacts import ArtifactError
    from materiac.runtime.journal import JournalError
    from materiac.runtime.run import Order, run
    from materiac.tracing import TraceError

    cwd = Path(options.cwd).resolve()
    if not cwd.is_dir():
        loading.complain(f"'{options.cwd}' is no folder")
        return NOT_STARTED
    own = Path(options.artifacts).resolve() if options.artifacts else None
    artifacts = own or cwd / loaded.image.settings.artifact_dir
    talks = sys.stdin.isatty() if options.interactive is None else options.interactive
    try:
        with (
            tracing.traced(options, loaded.image, artifacts) as tracers,
            Progress(loaded, quiet=options.json) as progress,
        ):
            progress.begin(artifacts)
            if onlooker is not None:
                onlooker.begin(artifacts)
            order = Order(
                image=loaded.image,
                request=options.request,
                agent=agent,
                cwd=cwd,
                artifacts=artifacts,
                environ=dict(os.environ),
                resolved=loaded.resolved,
                source=loaded.source,
                person=Terminal(progress) if talks else None,
                hears=progress.hear if onlooker is None else onlooker.hear,
                watchers=[progress, *tracers, *([] if onlooker is None else [onlooker])],
                state=state,
            )
            result = run(order)
            stopping.too_late()
    except TraceError as error:
        loading.complain(str(error))
        return NOT_STARTED
    except (ArtifactError, JournalError) as error:
        loading.complain(str(error))
        return OWN_FAULT
    return report(result, as_json=options.json)


def report(result: Result, *, as_json: bool) -> int:
    """Print what came of a cast; gives the exit code."""
    from materiac.cli import loading
    from materiac.runtime.journal import JournalError

    if result.broken:
        told = "; ".join(result.broken)
        loading.complain(f"{told}: `materiac inspect --rebuild` makes manifest.json and usage.json anew")
    try:
        _print(result, as_json=as_json)
    except JournalError as error:
        loading.complain(f"the cast is {result.status}, and {error}")
        return OWN_FAULT
    except OSError as error:
        _discard_output()
        if error.errno in (errno.EPIPE, errno.EIO):  # whoever read has gone, the terminal too
            return EXIT_CODES[result.status]
        loading.complain(f"the cast is {result.status}, and this cannot be written: {error.strerror}")
        return OWN_FAULT
    return EXIT_CODES[result.status]


def _print(result: Result, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(result.as_data(), ensure_ascii=False, indent=2))
    else:
        from materiac.cli.outcome import show

        show(result)
    sys.stdout.flush()


def _discard_output() -> None:
    """What is buffered must not fail again at the exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
