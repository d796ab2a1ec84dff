"""What a program may do of what it asks for: tools and files, as far as the tools of the materia go.

A program is believed what kind a tool is of. What it does without asking is not seen here.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from acp import RequestError
from acp.schema import (
    AllowedOutcome,
    DeniedOutcome,
    PermissionOption,
    ReadTextFileResponse,
    RequestPermissionResponse,
    ToolCallUpdate,
    WriteTextFileResponse,
)

from materiac.agents.acp.news import News
from materiac.agents.llm.folder import Folder, FolderError
from materiac.agents.protocol import Json, Request

_NEEDS: Final[Mapping[str, tuple[str, ...]]] = {
    "read": ("read",),
    "search": ("grep", "find", "ls"),
    "edit": ("edit", "write"),
    "think": ("read", "grep", "find", "ls", "bash", "edit", "write"),
}
"""Which tools of ours allow a tool of theirs, by its kind: each of them does."""
_ELSE: Final = ("bash",)
"""What allows all other kinds: with a shell one can do what they do."""
_KINDLESS: Final = (None, "other")
_MAX_FILE: Final = 10 * 1024**2
_FAILED: Final = -32603


class Warden:
    """Answers the requests of a program. A session that has no turn gets nothing."""

    def __init__(self) -> None:
        self._turns: dict[str, tuple[Request, News]] = {}
        self._kinds: dict[str, str] = {}
        self._names: dict[str, set[str]] = {}

    def begin(self, session: str, request: Request, news: News) -> None:
        """From now on a session is asked for a request."""
        self._turns[session] = request, news

    def end(self, session: str) -> None:
        """The turn of a session is over."""
        self._turns.pop(session, None)
        if not self._turns:
            self._kinds, self._names = {}, {}

    def hear(self, session: Any, update: Json) -> None:
        """Take an update: it is news of the turn, and tells of tools what a request may leave out."""
        if session not in self._turns:
            return
        if update.get("sessionUpdate") in ("tool_call", "tool_call_update"):
            self._note(str(update.get("toolCallId")), update.get("kind"), [update.get("title")])
        self._turns[session][1].hear(update)

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: Sequence[PermissionOption], **_: Any
    ) -> RequestPermissionResponse:
        """Allow a tool this once, or refuse it; there may be no option for that."""
        self._note(tool_call.tool_call_id, tool_call.kind, [tool_call.title, tool_call.tool_call_id])
        turn = self._turns.get(session_id)
        allowed = turn is not None and self._allows(turn[0], tool_call.tool_call_id)
        if turn is not None and not allowed:
            turn[1].tell("note", f"refused: {tool_call.title or tool_call.kind or 'a tool'}")
        option = _chosen(
            options, ("allow_once", "allow_always") if allowed else ("reject_once", "reject_always")
        )
        if option is None:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=option))

    async def read_text_file(
        self, session_id: str, path: str, line: int | None = None, limit: int | None = None, **_: Any
    ) -> ReadTextFileResponse:
        """The text of a file in the working folder, or some lines of it."""
        folder = self._folder(session_id, ("read",))
        try:
            with folder.file(path) as file:
                raw = file.read(_MAX_FILE + 1)
        except (FolderError, OSError) as error:
            raise _refusal(path, error) from error
        if len(raw) > _MAX_FILE:
            raise RequestError(_FAILED, f"'{path}' has more than {_MAX_FILE} bytes")
        lines = raw.decode(errors="replace").split("\n")
        first = max(1, line or 1) - 1
        return ReadTextFileResponse(
            content="\n".join(lines[first : None if limit is None else first + limit])
        )

    async def write_text_file(
        self, session_id: str, path: str, content: str, **_: Any
    ) -> WriteTextFileResponse:
        """Write a file in the working folder anew."""
        folder = self._folder(session_id, ("edit", "write"))
        try:
            folder.write(path, content.encode())
        except (FolderError, OSError, UnicodeError) as error:
            raise _refusal(path, error) from error
        return WriteTextFileResponse()

    async def create_terminal(self, **_: Any) -> None:
        """Refused: terminals are not offered."""
        raise RequestError.method_not_found("terminal/create")

    def _note(self, call: str, kind: Any, names: Iterable[Any]) -> None:
        if isinstance(kind, str):
            self._kinds[call] = kind
        self._names.setdefault(call, set()).update(name for name in names if isinstance(name, str))

    def _allows(self, request: Request, call: str) -> bool:
        kind = self._kinds.get(call)
        if kind in _KINDLESS and self._hands_over(request, call):
            return True
        return not set(_NEEDS.get(kind or "", _ELSE)).isdisjoint(request.tools)

    def _hands_over(self, request: Request, call: str) -> bool:
        """Whether a tool is the one of our tool server, which programs name in many ways."""
        server = request.tool_server
        if server is None:
            return False
        word = re.compile(rf"(?<![A-Za-z]){re.escape(server.tool)}(?![A-Za-z])")
        return any(word.search(name) for name in self._names.get(call, ()))

    def _folder(self, session: str, needs: tuple[str, ...]) -> Folder:
        """The working folder of a session. Raises where its materia has none of the tools for that."""
        request, news = self._turns.get(session, (None, None))
        if request is None or news is None:
            raise RequestError(_FAILED, "the session has no turn")
        if set(needs).isdisjoint(request.tools):
            news.tell("note", f"refused: to {needs[0]} a file")
            raise RequestError(_FAILED, f"not allowed: the tools here are '{request.scope}'")
        return Folder(request.cwd)


def _chosen(options: Sequence[PermissionOption], kinds: tuple[str, ...]) -> str | None:
    """The first option of the first kind that there is one of."""
    found = (option.option_id for kind in kinds for option in options if option.kind == kind)
    return next(found, None)


def _refusal(path: str, error: Exception) -> RequestError:
    cause = error.__cause__ if isinstance(error, FolderError) else error
    if isinstance(cause, OSError) and cause.errno in (errno.ENOENT, errno.ENOTDIR):
        return RequestError.resource_not_found(path)
    return RequestError(_FAILED, str(error))
