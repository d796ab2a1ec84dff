"""What a visit is, and the ways in which it can end without an output."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from materiac.program import Materia, Socket
from materiac.runtime.contract import Accepted
from materiac.runtime.items import Item

Json = dict[str, Any]


class VisitFailed(Exception):
    """A visit has failed, and the cast with it.

    `kind` is one of the kinds of the language, `files` are those that no record has listed yet.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.files: list[Json] = []


class VisitWaits(Exception):
    """A visit can go on only when a person does something.

    `reason` says what is waited for: `person`, to say something to the `answer` of an agent; `budget`,
    to raise a limit; `uncertain`, to say whether a command that may have run shall run again.
    """

    def __init__(self, message: str, reason: str = "person", answer: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason
        self.answer = answer


def characters(text: str) -> str:
    """A text that can be written in UTF-8; typed bytes that are none come as half characters."""
    return text.encode("utf-8", "replace").decode()


@dataclass(frozen=True, slots=True)
class Visit:
    """One visit of a socket; `number` counts the visits of this socket, from 1."""

    socket: Socket
    materia: Materia
    number: int
    item: Item | None

    @property
    def id(self) -> tuple[str, int]:
        """The socket and the number: what the files of the visit are named by."""
        return self.socket.id, self.number

    def place(self) -> Json:
        """Where this is, as the fields of a journal record."""
        return {
            "socket": self.socket.id,
            "materia": self.materia.name,
            "visit": self.number,
            "itemKey": self.item.key if self.item else None,
            "itemLabel": self.item.label if self.item else None,
        }


@dataclass(frozen=True, slots=True)
class Output:
    """What came of a visit: the text as it was answered, and the object for a socket that reads JSON.

    `files` are the files that hold it, as journal records list them.
    """

    text: str
    accepted: Accepted | None = None
    files: list[Json] = field(default_factory=list)
