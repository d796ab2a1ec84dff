"""`materiac resume`: go on with a cast."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from materiac.cli import places

if TYPE_CHECKING:
    from materiac.agents.protocol import Agent
    from materiac.cli.loading import Loaded
    from materiac.cli.stopping import Stopping
    from materiac.runtime.bench import Person
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
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object at the end, and nothing else"
    )


def _whole(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _dollars(text: str) -> float:
    number = float(text)
    if not 0 < number < float("inf"):
        raise ValueError
    return number


def run(options: argparse.Namespace) -> int:
    """As `run`; 2 where the cast cannot go on like this."""
    from materiac.runtime.resume import Allowed

    allowed = Allowed(
        max_tokens=options.budget_tokens,
        max_cost_usd=options.budget_usd,
        edge=options.allow_edge,
        retry=options.retry,
        rerun=options.rerun,
        change=options.accept_change,
    )
    talks = sys.stdin.isatty() if options.interactive is None else options.interactive
    return go_on(options, allowed, talks=talks)


def go_on(options: argparse.Namespace, allowed: Allowed, *, talks: bool, words: Person | None = None) -> int:
    """Go on with the cast of the options; `words` answer the talk that it waits in."""
    from materiac.cli import loading
    from materiac.cli.run import NOT_STARTED, WAITING
    from materiac.cli.stopping import Stopping

    folder = places.cast_folder(options)
    if folder is None:
        return places.NO_CAST
    with Stopping() as stopping:
        try:
            return _attempt(options, folder, allowed, stopping, talks=talks, words=words)
        except _RefusedError as refused:
            loading.complain(str(refused))
            return NOT_STARTED if refused.status is None else refused.status
        except KeyboardInterrupt:
            loading.complain("stopped")
            return WAITING


class _RefusedError(Exception):
    """The cast cannot go on; `status` is the exit code of one that rests."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


def _attempt(
    options: argparse.Namespace,
    folder: Path,
    allowed: Allowed,
    stopping: Stopping,
    *,
    talks: bool,
    words: Person | None,
) -> int:
    from materiac.cli import loading
    from materiac.cli.person import Terminal
    from materiac.cli.progress import Progress
    from materiac.cli.run import EXIT_CODES, OWN_FAULT, report
    from materiac.runtime.artifacts import ArtifactError
    from materiac.runtime.journal import JournalError
    from materiac.runtime.resume import ResumeError, Resumption, resume

    past = _past(folder)
    loaded = _definition(options, past)
    agent = _agent(options, past)
    try:
        with Progress(loaded, quiet=options.json) as progress:
            progress.begin(folder.parent)
            progress.recall(past.records)
            order = Resumption(
                folder=folder,
                agent=agent,
                environ=dict(os.environ),
                image=None if loaded.source is None else loaded.image,
                allowed=allowed,
                person=words or (Terminal(progress) if talks else None),
                talked_to=words is not None,
                watchers=[progress],
            )
            result = resume(order)
            stopping.too_late()
    except ResumeError as error:
        raise _RefusedError(str(error), EXIT_CODES.get(error.status or "")) from error
    except (ArtifactError, JournalError) as error:
        loading.complain(str(error))
        return OWN_FAULT
    return report(result, as_json=options.json)


def _past(folder: Path) -> Past:
    from materiac.runtime.journal import JournalError, read
    from materiac.runtime.past import Past, PastError

    try:
        return Past.of(folder, read(folder / "events.jsonl").records)
    except (JournalError, PastError) as error:
        raise _RefusedError(str(error)) from error


def _definition(options: argparse.Namespace, past: Past) -> Loaded:
    """The loadout as it is now; the stored one, with no source, where that is gone or not asked for."""
    from materiac.cli import loading
    from materiac.runtime.past import PastError

    source: dict[str, Any] | None = past.began.get("source")
    if source is not None and not options.stored:
        try:
            loaded = loading.load_again(source)
        except loading.UnreadableError as gone:
            loading.complain(f"{gone}: the cast goes on with the loadout that it has stored")
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


def _agent(options: argparse.Namespace, past: Past) -> Agent:
    from materiac.agents import choose
    from materiac.agents.nobody import Nobody
    from materiac.agents.protocol import AgentError
    from materiac.environment import MASK

    spec = options.agent or os.environ.get("MATERIAC_AGENT")
    recorded = str(past.agent)
    try:
        if spec:
            return choose.make(spec)
        if recorded == Nobody.spec:
            return Nobody()
        if MASK in recorded:
            raise _RefusedError(f"say who answers, with --agent: in '{recorded}' there was a secret")
        with _in_folder(past.began.get("source")):
            return choose.make(recorded)
    except AgentError as error:
        raise _RefusedError(str(error)) from error


@contextlib.contextmanager
def _in_folder(source: dict[str, Any] | None) -> Iterator[None]:
    """Files that were named when the cast began were named from there."""
    folder = Path(source["folder"]) if source else Path.cwd()
    with contextlib.chdir(folder if folder.is_dir() else Path.cwd()):
        yield
