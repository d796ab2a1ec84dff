"""`materiac acp`: be an agent for editors, by the Agent Client Protocol."""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Final

from materiac.cli import places

if TYPE_CHECKING:
    from materiac.editors.desk import Offered
    from materiac.runtime.summary import Summary

NO_EDITOR = 2
_PREFERRED: Final = "Full-Auto"
_ENDS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_MISSING: Final = "'acp' needs agent-client-protocol: install it with pip install 'materiac[acp]'"
_CAST: Final = "CAST"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file",
        nargs="?",
        metavar="FILE",
        help="a loadout file on top of those of each folder (default: the one that MATERIA_CONFIG names)",
    )
    parser.add_argument("--agent", metavar="SPEC", help="who answers (`materiac agents` lists them)")
    places.add_artifacts(parser)


def run(options: argparse.Namespace) -> int:
    """0 the editor has gone; 2 there is none, or the library is missing."""
    import asyncio

    from materiac.cli.loading import complain

    if options.file:
        os.environ["MATERIA_CONFIG"] = str(Path(options.file).resolve())
    try:
        from materiac.editors import door, server
    except ModuleNotFoundError as error:
        complain(f"{_MISSING} ('{error.name}' is missing)")
        return NO_EDITOR
    if not os.environ.get("MATERIAC_DEBUG"):
        logging.getLogger().addHandler(logging.NullHandler())  # the library logs tracebacks
    try:
        asyncio.run(_until_ended(server.serve(_Desk(options.agent, options.artifacts))))
    except door.NoEditorError as error:
        complain(str(error))
        return NO_EDITOR
    return 0


async def _until_ended(serving: Coroutine[None, None, None]) -> None:
    """Serve until the editor goes or a signal comes; the casts under way are stopped then."""
    import asyncio

    task = asyncio.ensure_future(serving)
    for number in _ENDS:
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await task


class _Desk:
    """What `materiac` in a folder knows of its loadouts and casts."""

    # No module of the folder that it works in takes a place in it.
    command = (sys.executable, "-P", "-m", "materiac.cli.acp_cast")

    def __init__(self, agent: str | None, artifacts: str | None) -> None:
        self._agent = agent
        self._artifacts = artifacts

    def loadouts(self, cwd: Path) -> tuple[list[Offered], str | None]:
        """The loadouts in the configuration of a folder; none where that cannot be read."""
        from materiac.cli import loading
        from materiac.editors.desk import Offered
        from materiac.pipeline import offered

        try:
            with contextlib.chdir(cwd):
                layers = loading.surroundings()
                if named := os.environ.get("MATERIA_CONFIG"):
                    layers = layers.on_top(loading.read_text(named))
        except (loading.UnreadableError, OSError):
            return [], None
        found, active = offered(layers.texts)
        names = [Offered(name, _description(loadout)) for name, loadout in found.items()]
        return names, active or (_PREFERRED if _PREFERRED in found else next(iter(found), None))

    def artifacts(self, cwd: Path) -> Path:
        """Where `materiac casts` looks for them in that folder."""
        with contextlib.chdir(cwd):
            return places.artifact_folder(argparse.Namespace(artifacts=self._artifacts))

    def words(self, loadout: str | None) -> list[str]:
        """`materiac run`, as it would be typed there."""
        options = {"--loadout": loadout, "--agent": self._agent, "--artifacts": self._artifacts}
        return ["run", *(f"{name}={value}" for name, value in options.items() if value)]

    def ending(self, folder: Path) -> str:
        """What `materiac status` says, in short, with commands as they are typed in the session."""
        from materiac.cli.onward import onward
        from materiac.cli.wording import one_line, used
        from materiac.runtime.contents import definition
        from materiac.runtime.summary import summary

        cast = summary(folder)
        told = []
        if cast.usage.turns:
            told.append(f"usage: {used(cast.usage.as_data())}")
        told.append(f"files: {one_line(str(folder))}")
        following = onward(cast, definition(folder, cast.machine), _CAST)
        told += [f"next: {_typed_here(command, cast.id)}" for command in following]
        return "\n- ".join([f"**{cast.state}** {_what(cast)}\n", *told])


def _description(loadout: object) -> str | None:
    found = loadout.get("description") if isinstance(loadout, dict) else None
    return found if isinstance(found, str) else None


def _what(cast: Summary) -> str:
    from materiac.cli.standing import failure
    from materiac.cli.wording import count, one_line

    if cast.failure:
        return failure(cast.failure)
    return one_line(cast.waiting) if cast.waiting else f"after {count(cast.visits, 'visit')}"


def _typed_here(command: str, cast: str) -> str:
    """A command line of ours as one types it in a session, or in a terminal where that is needed."""
    if command.startswith(f"materiac say {_CAST}"):
        return "answer here"
    if command == f"materiac continue {_CAST}":
        return "`/continue` ends the talk"
    return f"`{command.replace(f'materiac resume {_CAST}', '/resume').replace(_CAST, cast)}`"
