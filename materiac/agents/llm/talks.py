"""What was said, kept from turn to turn: the messages of a talk, in files of the cast or in memory.

A session is the talk as it was after one turn. It is never changed: a turn that goes on from it makes
another, so a cast that is resumed finds the one that its journal names as it was.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelRequest

from materiac.agents.protocol import AgentError
from materiac.environment import Mask
from materiac.environment import secrets as secrets_of

_SESSION: Final = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Past:
    """The messages so far. `unanswered` is the digest of the prompt that a turn broke off at, or empty."""

    messages: tuple[ModelMessage, ...] = ()
    unanswered: str = ""

    def goes_on_with(self, prompt: str) -> bool:
        """Whether this is the prompt of the turn that broke off: it is in the messages already."""
        return self.unanswered == digest(prompt)


class Talks:
    """The sessions of an agent: those without a folder last as long as it does."""

    def __init__(self) -> None:
        self._kept: dict[str, Past] = {}

    def read(self, session: str | None, folder: Path | None) -> Past:
        """The past of a session; an empty one where there is none yet. Raises `AgentError`."""
        if session is None:
            return Past()
        if session in self._kept:
            return self._kept[session]
        if folder is None or not _SESSION.fullmatch(session):
            raise AgentError(f"there is no session '{session}' to go on with")
        path = _path(session, folder)
        try:
            data = json.loads(path.read_bytes())
            messages = ModelMessagesTypeAdapter.validate_python(data["messages"])
            return Past(tuple(messages), str(data["unanswered"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise AgentError(f"cannot go on with the session in '{path}': {_why(error)}") from error

    def keep(self, past: Past, folder: Path | None) -> str:
        """Keep a past; gives its session. Raises `AgentError`."""
        session = secrets.token_hex(16)
        if folder is None:
            self._kept[session] = past
            return session
        # The files of a cast hold no secret of the environment, whatever a tool has shown to the model.
        messages = ModelMessagesTypeAdapter.dump_python(list(past.messages), mode="json")
        masked = Mask(secrets_of(os.environ)).data(messages)
        try:
            _write(_path(session, folder), {"unanswered": past.unanswered, "messages": masked})
        except OSError as error:
            raise AgentError(f"cannot keep the session in '{folder}': {_why(error)}") from error
        return session


def digest(prompt: str) -> str:
    """What a prompt is known again by."""
    return hashlib.sha256(prompt.encode(errors="surrogatepass")).hexdigest()


def answerable(messages: Sequence[ModelMessage]) -> tuple[ModelMessage, ...]:
    """The messages of a turn that broke off, to the last one that asks, without half an answer."""
    count = len(messages)
    while count and not isinstance(messages[count - 1], ModelRequest):
        count -= 1
    return tuple(messages[:count])


def _path(session: str, folder: Path) -> Path:
    return folder / f"llm-{session}.json"


def _write(path: Path, data: dict[str, Any]) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    beside = path.with_suffix(".new")
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(json.dumps(data, ensure_ascii=False).encode(errors="surrogatepass"))
        beside.rename(path)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise


def _why(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else f"it is no session: {error}"
