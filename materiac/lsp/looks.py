"""What the process that checks is asked, and what it tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from materiac.diagnostic import Located, Place
from materiac.fixing.pieces import TextEdit
from materiac.source import Language, Span


@dataclass(frozen=True)
class Job:
    """A text to be looked at, under the name that its file has below `folder`.

    `opened` are the files that are open in the editor, by their real paths, as they are there.
    """

    name: str
    raw: bytes
    language: Language
    folder: Path
    opened: Mapping[Path, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Visits:
    """The question how often a cast visits a socket at most, in the text of a job."""

    job: Job
    loadout: str
    socket: str


@dataclass(frozen=True)
class Trials:
    """The question which fixes hold, each for itself: the findings that they mend, and their edits."""

    job: Job
    fixes: tuple[tuple[Located, tuple[TextEdit, ...]], ...]


@dataclass(frozen=True)
class Mending:
    """The question what becomes of the text of a job, with all fixes made that are safe and hold."""

    job: Job


@dataclass(frozen=True)
class Behaviour:
    """A materia of any layer: its fields, and where it is written."""

    fields: Mapping[str, Any]
    place: Place | None


@dataclass(frozen=True)
class Station:
    """What a socket comes to: its materia, how its output is read, in which loop it is."""

    materia: str
    parse: str
    loop: str | None
    place: Place | None


@dataclass(frozen=True)
class Look:
    """What was found in a text, and what is known of the names in it.

    `files` leads from the names of texts to their files; `imports` has where each is imported; `sockets` has
    the materia of sockets by loadout and id. Of a text that is not `sound` the names of the layers below it
    are known alone.
    """

    found: tuple[Located, ...] = ()
    files: Mapping[str, Path] = field(default_factory=dict)
    imports: tuple[tuple[Span, str], ...] = ()
    materia: Mapping[str, Behaviour] = field(default_factory=dict)
    loadouts: Mapping[str, Place | None] = field(default_factory=dict)
    stations: Mapping[tuple[str, str], Station] = field(default_factory=dict)
    sockets: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    sound: bool = True

    def after(self, before: Look) -> Look:
        """This look; of a text that is not sound any more, with the names that were known before."""
        if self.sound:
            return self
        return replace(
            self,
            materia={**self.materia, **before.materia},
            loadouts={**self.loadouts, **before.loadouts},
            sockets={**self.sockets, **before.sockets},
        )
