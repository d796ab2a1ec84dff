"""`materiac abort`: stop a cast from outside."""

from __future__ import annotations

import argparse
import os
import signal
import socket
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from materiac.cli import places

if TYPE_CHECKING:
    from materiac.runtime.holder import Holder

_PATIENCE_S: Final = 10.0
"""How long the end of a cast is waited for; its commands have two seconds."""
_POLL_S: Final = 0.02
_DEAF: Final = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    places.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """0 stopped, or at rest for good; 1 a broken journal, 2 out of reach, 3 it did not stop."""
    from materiac.cli import loading
    from materiac.cli.wording import one_line
    from materiac.runtime.artifacts import ArtifactError
    from materiac.runtime.holder import holder
    from materiac.runtime.journal import JournalError
    from materiac.runtime.resume import ResumeError, stop

    folder = places.cast_folder(options)
    if folder is None:
        return places.NO_CAST
    journal = folder / "events.jsonl"
    try:
        found = holder(journal)
        if found is not None and (code := _end(journal, found)):
            return code
        print(f"{folder.name} {stop(folder, os.environ)}")
    except (ArtifactError, JournalError, ResumeError) as error:
        loading.complain(one_line(str(error)))
        return 1
    return 0


def _end(journal: Path, found: Holder) -> int:
    """Have the process end that runs a cast; 0 when it has."""
    from materiac.cli import loading
    from materiac.runtime.holder import holder

    if not found.pid or found.host != socket.gethostname():
        loading.complain(f"the cast is run by {found}, which cannot be reached from here")
        return 2
    try:
        os.kill(found.pid, signal.SIGTERM)
        os.kill(found.pid, signal.SIGCONT)  # one that stands still hears nothing else
    except ProcessLookupError:
        pass
    except PermissionError:
        loading.complain(f"the cast is run by {found}, which is somebody else's")
        return 2
    until = time.monotonic() + _PATIENCE_S
    while holder(journal) is not None:
        if time.monotonic() > until:
            loading.complain(f"the cast is run by {found}, which has not stopped yet")
            return _DEAF
        time.sleep(_POLL_S)
    return 0
