"""Who else is told of a cast: the sinks of its eventing, which never hold it up."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from materiac import eventing, tracing
from materiac.environment import Mask, secrets
from materiac.program import Settings
from materiac.runtime.journal import Journal, Record

NOTE: Final = "eventing_note"
"""The record of something about the sinks that a person should know."""


def mask_of(settings: Settings, environ: Mapping[str, str]) -> Mask:
    """Masks the secrets of the environment, and those that only the sinks and the collector know."""
    own = eventing.secrets(settings.eventing, environ)
    return Mask([*secrets(environ), *own, *tracing.secrets(environ)])


@contextlib.contextmanager
def notified(
    journal: Journal,
    root: Path,
    settings: Settings,
    mask: Mask,
    environ: Mapping[str, str],
    records: Sequence[Record] = (),
) -> Iterator[Sequence[str]]:
    """While this lasts, the sinks are told of all records, and of those before that they have not got.

    Gives what a person should know about them.
    """
    dispatcher = eventing.Dispatcher.begin(settings.eventing, root, root.name, mask, environ, records)
    if dispatcher is None:
        yield ()
        return
    journal.subscribe(dispatcher)
    try:
        yield dispatcher.notes
    finally:
        dispatcher.close()
