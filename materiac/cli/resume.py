"""`materiac resume`: go on with a cast."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from materiac.cli import places, tracing
from materiac.environment import MASK

if TYPE_CHECKING:
    from materiac.agents.protocol import Agent
    from materiac.cli.loading import Loaded
    from materiac.cli.onlooker import Onlooker
    from materiac.cli.progress import Progress
    from materiac.cli.stopping import Stopping
    from materiac.runtime.bench import Person
    from materiac.runtime.journal import Record
    from materiac.runtime.past import Past
    from materiac.runtime.resume import Allowed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    places.add_arguments(parser)
    add_surroundings(parser)
    parser.add_argument("--retry", action="store_true", help="run the socket that failed again")
    parser.add_argument(
        "--rerun",
        action="store_true",
        help="run a command again that may have run when the cast was interrupted",
    )
    parser.add_argument(
        "--allow-edge",
        action="store_true",
        help="take the edge that is used up once more, for the item that the cast stands at",
    )
    parser.add_argument(
        "--budget-tokens", type=_whole, metavar="N", help="the tokens that the cast may use in all"
    )
    parser.add_argument(
        "--budget-usd", type=_dollars, metavar="N", help="the US dollars that the cast may cost in all"
    )
    parser.add_argument(
        "--interactive",
        action=argparse.BooleanOptionalAction,
        help="talk with multi-turn agents: say a line, end with /continue (default: on a terminal)",
    )


def add_surroundings(parser: argparse.ArgumentParser) -> None:
    """The options of every command that goes on with a cast."""
    parser.add_argument("--agent", metavar="SPEC", help="who answers (default: who answered before)")
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--accept-change",
        action="store_true",
        help="go on with the loadout as it is now, though it was changed",
    )
    group.add_argument(
        "--stored",
        action="store_true",
        help="go on with the loadout that the cast has stored, whatever it is now",
    )
    tracing.add_argument(parser)
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object at the end, and nothing else"
    )


def _whole(text: str) -> int:
    number = int(text) if text.isascii() and text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number above 0")
    return number


def _dollars(text: str) -> float:
    with contextlib.suppress(ValueError):
        if 0 < (number := float(text)) < float("inf"):
            return number
    raise argparse.ArgumentTypeError(f"{text!r} is no amount above 0")


def run(options: argparse.Namespace) -> int:
    """As `run`; 2 where the cast cannot go on like this."""
    talks = sys.stdin.isatty() if options.interactive is None else options.interactive
    return go_on(options, allowed(options), talks=talks)


def allowed(options: argparse.Namespace) -> Allowed:
    """What the options allow the cast."""
    from materiac.runtime.resume import Allowed

    return Allowed(
        max_tokens=options.budget_tokens,
        max_cost_usd=options.budget_usd,
        edge=options.allow_edge,
        retry=options.retry,
        rerun=options.rerun,
        change=options.accept_change,
    )


def go_on(
    options: argparse.Namespace,
    allowed: Allowed,
    *,
    talks: bool,
    words: Person | None = None,
    onlooker: Onlooker | None = None,
) -> int:
    """Go on with the cast of the options; `words` answer the talk that it waits in.

    An `onlooker` is told of all that happens from now on, in place of the screen.
    """
    from materiac.cli import loading
    from materiac.cli.run import WAITING
    from materiac.cli.stopping import Stopping

    folder = places.cast_folder(options)
    if folder is None:
        return places.NO_CAST
    with Stopping() as stopping:
        try:
            return _attempt(options, folder, allowed, stopping, onlooker, talks=talks, words=words)
        except _RefusedError as refused:
            return _refuse(options, folder, refused)
        except KeyboardInterrupt:
            loading.complain("stopped")
            return WAITING


def _refuse(options: argparse.Namespace, folder: Path, refused: _RefusedError) -> int:
    """Say why a cast does not go on; a cast that rests has the exit code of that."""
    from materiac.cli.run import EXIT_CODES, NOT_STARTED

    _say(str(refused))
    if refused.status is None:
        return NOT_STARTED
    if options.json:
        told = {
            "castId": folder.name,
            "status": refused.status,
            "refused": str(refused),
            "artifacts": str(folder),
        }
        print(json.dumps(told, ensure_ascii=False, indent=2))
    return EXIT_CODES[refused.status]


def _say(message: str) -> None:
    """Complain in what may be several lines, with words in them that agents chose."""
    from materiac.cli import loading
    from materiac.cli.wording import lines

    loading.complain("\n".join(lines(message)))


class _RefusedError(Exception):
    """The cast cannot go on; `status` is what one is that rests."""

    def __init__(self, message: str, status: str | None = None) -> None:
        super().__init__(message)
        self.status = status


def _attempt(
    options: argparse.Namespace,
    folder: Path,
    allowed: Allowed,
    stopping: Stopping,
    onlooker: Onlooker | None,
    *,
    talks: bool,
    words: Person | None,
) -> int:
    from materiac.cli.person import Terminal
    from materiac.cli.progress import Progress
    from materiac.cli.run import OWN_FAULT, report
    from materiac.runtime.artifacts import ArtifactError
    from materiac.runtime.journal import JournalError
    from materiac.runtime.resume import ResumeError, Resumption, resume
    from materiac.tracing import TraceError

    past = _past(folder, talked_to=words is not None)
    loaded = _definition(options, past)
    agent = _agent(options, past, loaded)
    try:
        with (
            tracing.traced(options, loaded.image, folder.parent, past.records) as tracers,
            Progress(loaded, quiet=options.json) as progress,
        ):
            progress.recall(past.records)
            if onlooker is not None:
                onlooker.begin(folder.parent)
            order = Resumption(
                folder=folder,
                agent=agent,
                environ=dict(os.environ),
                image=None if loaded.source is None else loaded.image,
                allowed=allowed,
                person=words or (Terminal(progress) if talks else None),
                talked_to=words is not None,
                watchers=[
                    _Head(progress, folder.parent),
                    progress,
                    *tracers,
                    *([] if onlooker is None else [onlooker]),
                ],
                hears=progress.hear if onlooker is None else onlooker.hear,
            )
            result = resume(order)
            stopping.too_late()
    except ResumeError as error:
        raise _RefusedError(str(error), error.status) from error
    except TraceError as error:
        raise _RefusedError(str(error)) from error
    except (ArtifactError, JournalError) as error:
        _say(str(error))
        return OWN_FAULT
    return report(result, as_json=options.json)


class _Head:
    """A watcher that has the progress say what goes on, when it does: not where that is refused."""

    def __init__(self, progress: Progress, artifacts: Path) -> None:
        self._progress, self._artifacts = progress, artifacts

    def __call__(self, record: Record) -> None:
        from materiac.runtime.chronicle import RESUMED

        if record.type == RESUMED:
            self._progress.begin(self._artifacts)


def _past(folder: Path, *, talked_to: bool) -> Past:
    from materiac.runtime.artifacts import ArtifactError
    from materiac.runtime.journal import JournalError
    from materiac.runtime.resume import ResumeError, look

    try:
        return look(folder, talked_to=talked_to)
    except ResumeError as error:
        raise _RefusedError(str(error), error.status) from error
    except (ArtifactError, JournalError) as error:
        raise _RefusedError(str(error)) from error


def _definition(options: argparse.Namespace, past: Past) -> Loaded:
    """The loadout as it is now; the stored one, with no source, where that is gone or not asked for."""
    from materiac.cli import loading
    from materiac.runtime.past import PastError

    source: dict[str, Any] | None = past.began.get("source")
    if source is not None and not options.stored:
        try:
            loaded = loading.load_again(past.loadout, source)
        except loading.UnreadableError as gone:
            _say(f"{gone}: the cast goes on with the loadout that it has stored")
        except loading.NotThereError as gone:
            words = f"{gone} any more, there is {gone.known}"
            raise _RefusedError(f"{words}; --stored goes on with the one that the cast has") from gone
        else:
            if loaded is None:
                raise _RefusedError(
                    "the loadout has errors now; --stored goes on with the one that the cast has"
                )
            return loaded
    try:
        return loading.Loaded(past.images({})[past.machine], {}, (str(past.root / past.machine),))
    except PastError as error:
        raise _RefusedError(str(error)) from error


def _agent(options: argparse.Namespace, past: Past, loaded: Loaded) -> Agent:
    """Who answers: as asked for now, as asked for before, as the environment or the configuration says."""
    from materiac.agents.protocol import AgentError
    from materiac.cli.answering import answering, asked_for

    recorded, said = _recorded(past, loaded)
    spec = options.agent or (None if said else asked_for(None))
    try:
        if spec:
            return answering(spec, loaded.image)
        if recorded is not None and MASK in recorded:
            raise _RefusedError(f"say who answers, with --agent: in '{recorded}' there was a secret")
        with _in_folder(past.began.get("source")):
            return answering(recorded, loaded.image)
    except AgentError as error:
        raise _RefusedError(str(error)) from error


def _recorded(past: Past, loaded: Loaded) -> tuple[str | None, bool]:
    """Who answered before, and whether a person said so; None where the configuration says it anew."""
    from materiac.agents import several
    from materiac.agents.nobody import Nobody
    from materiac.program import Agents

    recorded = str(past.agent)
    if recorded == Nobody.spec:
        return None, False
    if recorded.startswith(f"{several.NAME}:"):
        return (None if loaded.image.settings.agents != Agents() else recorded), False
    return recorded, MASK not in recorded


@contextlib.contextmanager
def _in_folder(source: dict[str, Any] | None) -> Iterator[None]:
    """Files that were named when the cast began were named from there."""
    folder = Path(source["folder"]) if source else Path.cwd()
    with contextlib.chdir(folder if folder.is_dir() else Path.cwd()):
        yield
