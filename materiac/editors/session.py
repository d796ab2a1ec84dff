"""A session: a talk in an editor, the casts that came of it, and what its next prompt means."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from materiac.editors.casting import Casting, Job
from materiac.editors.desk import Desk, Offered
from materiac.editors.telling import Telling, Update
from materiac.runtime.find import JOURNAL, NoCastError, casts
from materiac.runtime.journal import JournalError, Record, parse, read
from materiac.runtime.summary import summary

Json = dict[str, Any]

RESUME, CONTINUE = "/resume", "/continue"
_MAX_LISTED: Final = 200


class PromptError(Exception):
    """A prompt that nothing can be done about. The message says why."""


@dataclass
class Session:
    """A session in a folder. `telling` tells of its latest cast.

    While a prompt `is_busy`, `casting` runs the cast, once its process is there; before that, `is_stopped`
    says that it shall stop.
    """

    id: str
    cwd: Path
    offered: list[Offered] = field(default_factory=list)
    loadout: str | None = None
    telling: Telling | None = None
    casting: Casting | None = None
    is_busy: bool = False
    is_stopped: bool = False

    def job(self, text: str, desk: Desk) -> Job:
        """What is to be done about a prompt. Raises `PromptError`."""
        command, options = [*text.split(maxsplit=1), "", ""][:2]
        if not command:
            raise PromptError("there is nothing to do in an empty prompt")
        if command in (RESUME, CONTINUE):
            job = self._going_on(command, options)
        elif self.waits:
            job = Job(("say", str(self._folder())), text, self.id)
        else:
            self.telling = Telling()
            job = Job(tuple(desk.words(self.loadout)), text, self.id)
        if self.telling is not None:
            self.telling.prepare()
        return job

    @property
    def waits(self) -> bool:
        """Whether its cast waits for what a person says, also where somebody else went on with it."""
        folder = self.telling.folder if self.telling else None
        return folder is not None and summary(folder).waiting_for == "person"

    def stop(self) -> None:
        """Have its cast stop, or not begin."""
        self.is_stopped = self.is_busy
        if self.casting is not None:
            self.casting.stop()

    def take(self, line: Json) -> Iterator[Update]:
        """The updates that a line of a casting is."""
        if self.telling is None:
            return
        if "artifacts" in line:
            self.telling.begin(Path(line["artifacts"]))
        elif "record" in line:
            yield from self.telling.tell(line["record"]["type"], line["record"])
        elif "heard" in line:
            yield from self.telling.hear(**line["heard"])

    def recall(self, folder: Path) -> Iterator[Update]:
        """The updates that an earlier cast of the session is."""
        self.telling = Telling()
        self.telling.begin(folder.parent, is_past=True)
        for record in _records(folder):
            if record.fields.get("loadout") in [loadout.name for loadout in self.offered]:
                self.loadout = record.fields["loadout"]
            with suppress(KeyError, TypeError, AttributeError):  # of another version
                yield from self.telling.tell(record.type, record.fields)

    def _going_on(self, command: str, options: str) -> Job:
        folder = str(self._folder())
        if command == CONTINUE:
            return Job(("say", folder), None, self.id)
        try:
            return Job(("resume", folder, *shlex.split(options)), None, self.id)
        except ValueError as error:
            raise PromptError(f"the options of {RESUME} cannot be read: {error}") from error

    def _folder(self) -> Path:
        folder = self.telling.folder if self.telling else None
        if folder is None:
            raise PromptError("this session has no cast yet to go on with")
        return folder


def of(root: Path, session: str) -> list[Path]:
    """The casts of a session, the oldest first: those that were begun in it, or the one of that id."""
    found = [folder for folder, began in _begun(root) if session in (_session(began), folder.name)]
    return found[::-1]


def known(root: Path) -> dict[str, tuple[Path, Record]]:
    """The sessions that casts were begun in, by id, each with its newest cast and how that began.

    A cast that was not begun in one is a session of its own, by its own id.
    """
    sessions: dict[str, tuple[Path, Record]] = {}
    for folder, began in _begun(root):
        sessions.setdefault(_session(began) or folder.name, (folder, began))
        if len(sessions) >= _MAX_LISTED:
            break
    return sessions


def _begun(root: Path) -> Iterator[tuple[Path, Record]]:
    """The casts of a folder with their first records, the newest first."""
    with suppress(NoCastError):
        for folder in casts(root):
            with suppress(JournalError, OSError), (folder / JOURNAL).open("rb") as journal:
                yield folder, parse(journal.readline().rstrip(b"\n"), 1, folder / JOURNAL)


def _session(began: Record) -> str | None:
    source = began.fields.get("source")
    session = source.get("session") if isinstance(source, dict) else None
    return session if isinstance(session, str) else None


def _records(folder: Path) -> tuple[Record, ...]:
    try:
        return read(folder / JOURNAL).records
    except (JournalError, OSError):
        return ()
