"""The records of a cast as updates: sockets are a plan, visits are tool calls, texts are messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import acp
from acp.schema import (
    AgentMessageChunk,
    AgentThoughtChunk,
    PlanEntryStatus,
    SessionInfoUpdate,
    ToolCallStatus,
    ToolKind,
    UserMessageChunk,
)

from materiac.agents.protocol import Usage
from materiac.runtime.contents import Definition, content, definition
from materiac.runtime.summary import usage
from materiac.runtime.usage import Total

Json = dict[str, Any]
Update = Any
"""One of the updates of the protocol."""

_MAX_TEXT: Final = 20_000
"""How many characters of an output a tool call shows."""
_MAX_TITLE: Final = 80
_MAX_LINES: Final = 20
"""How many of the last things that an agent did are shown while it works."""
_FAILURES: Final = ("error", "aborted")
_OUTPUTS: Final = ("output", "stdout")
_VERDICTS: Final = {True: ", satisfied", False: ", not satisfied"}


@dataclass
class _Visit:
    """A visit under way: the id of its tool call, what its agent does, its last answer."""

    id: str
    fields: Json
    doing: list[str] = field(default_factory=list)
    turn: int = 1
    was_heard: bool = False
    answer: str | None = None


class Telling:
    """Makes updates of what a cast does.

    `folder` is that of the cast, once it is known; `end` is how the cast rests, once that is told; `used`
    is what was used until then. Both are told anew after `prepare`.
    """

    def __init__(self) -> None:
        self.folder: Path | None = None
        self.end: Json | None = None
        self.used = Total()
        self._is_past = False
        self._artifacts = Path()
        self._definition = Definition({}, {}, {}, {}, {})
        self._plan: dict[str, tuple[str, PlanEntryStatus]] = {}
        self._visits: dict[str | None, _Visit] = {}
        self._tellers: Final[dict[str, Callable[[Json], Iterator[Update]]]] = {
            "cast_started": self._started,
            "cast_resumed": self._resumed,
            "socket_started": self._visit_began,
            "socket_restarted": self._visit_began_again,
            "turn_finished": self._turn,
            "turn_retried": self._retried,
            "person_said": self._said,
            "answer_shown": self._shown,
            "budget_warning": self._warned,
            "socket_finished": self._visit_finished,
            "socket_failed": self._visit_failed,
            "socket_waits": self._visit_waits,
            "cast_finished": self._ended,
        }

    def prepare(self) -> None:
        """Somebody is about to work on the cast, or begin one."""
        self.end, self.used = None, Total()

    def begin(self, artifacts: Path, *, is_past: bool = False) -> None:
        """What is told from now on lies in a folder of casts; of the past it has what a person said."""
        self._artifacts, self._is_past = artifacts, is_past

    def tell(self, kind: str, fields: Json) -> Iterator[Update]:
        """The updates that a record is."""
        teller = self._tellers.get(kind)
        return teller(fields) if teller is not None else iter(())

    def hear(self, stream: str | None, kind: str, text: str) -> Iterator[Update]:
        """The updates that something is that an agent does."""
        visit = self._visits.get(stream)
        if visit is None:
            return
        if kind not in ("text", "thinking"):
            visit.doing = [*visit.doing, text if kind == "tool" else f"  {text}"][-_MAX_LINES:]
            yield acp.update_tool_call(visit.id, content=_content("\n".join(visit.doing)))
        elif stream is None:  # of streams side by side the pieces would be mixed
            is_answer = kind == "text" and self._reads_text(visit)
            visit.was_heard |= is_answer
            yield self._message(visit, text) if is_answer else _thought(text)

    # The cast

    def _started(self, fields: Json) -> Iterator[Update]:
        self.folder = self._artifacts / fields["castId"]
        self._define("machine.json")
        title = " ".join(str(fields["request"]).split())[:_MAX_TITLE]
        yield SessionInfoUpdate(session_update="session_info_update", title=title or fields["loadout"])
        if self._is_past:
            yield _from_user(fields["request"])
        yield self._whole_plan()

    def _resumed(self, fields: Json) -> Iterator[Update]:
        self._define(fields["machine"])
        yield self._whole_plan()
        for visit in self._visits.values():
            yield acp.update_tool_call(visit.id, status="in_progress")
            yield self._marked(visit.fields, "in_progress")

    def _ended(self, fields: Json) -> Iterator[Update]:
        self.end = fields
        for visit in self._visits.values():
            yield acp.update_tool_call(visit.id, status="pending")
            yield self._marked(visit.fields, "pending")

    def _define(self, machine: str) -> None:
        """Take the sockets of a definition into the plan, in their order."""
        if self.folder is None:
            return
        self._definition = definition(self.folder, machine)
        before = self._plan
        self._plan = {
            socket: before.get(socket, (_named(socket, part.get("materia")), "pending"))
            for socket, part in self._definition.sockets.items()
        }

    # Visits

    def _visit_began(self, fields: Json) -> Iterator[Update]:
        visit = self._begun(fields)
        utility = self._definition.materia.get(fields["materia"], {}).get("utility")
        kind: ToolKind = "execute" if utility else "think"
        yield acp.start_tool_call(visit.id, _title(fields), kind=kind, status="in_progress")
        yield self._marked(fields, "in_progress")

    def _visit_began_again(self, fields: Json) -> Iterator[Update]:
        visit = self._begun(fields)
        yield acp.update_tool_call(visit.id, title=_title(fields), status="in_progress")
        yield self._marked(fields, "in_progress")

    def _begun(self, fields: Json) -> _Visit:
        stream = fields.get("stream")
        cast = self.folder.name if self.folder else ""
        parts = (cast, stream, fields["socket"], str(fields["visit"]))
        self._visits[stream] = _Visit("/".join(part for part in parts if part), fields)
        return self._visits[stream]

    def _turn(self, fields: Json) -> Iterator[Update]:
        used: Usage | None = usage(fields.get("usage"))
        self.used.add(used)
        visit = self._visits.get(fields.get("stream"))
        if visit is None or fields["stop"] in _FAILURES:
            return
        visit.answer = self._text_of(fields["files"], "output")
        if self._reads_text(visit) and not visit.was_heard and visit.answer:
            yield self._message(visit, visit.answer)
        visit.turn, visit.was_heard = visit.turn + 1, False

    def _retried(self, fields: Json) -> Iterator[Update]:
        yield _thought(f"{fields['socket']} is asked again: {fields['error'] or 'no reason was given'}\n")

    def _said(self, fields: Json) -> Iterator[Update]:
        if self._is_past:
            yield _from_user(self._text_of(fields["files"], "said") or "/continue")

    def _shown(self, fields: Json) -> Iterator[Update]:
        yield acp.update_agent_message_text(f"{fields['text']}\n\n")

    def _warned(self, fields: Json) -> Iterator[Update]:
        yield _thought(f"{fields['message']}\n")

    def _visit_finished(self, fields: Json) -> Iterator[Update]:
        to = f"{_title(fields)}{_VERDICTS.get(fields['verdict'], '')} → {fields['route']['to']}"
        output = self._text_of(fields.get("output") or fields["files"], *_OUTPUTS)
        yield from self._visit_over(fields, "completed", to, output)
        yield self._marked(fields, "completed")

    def _visit_failed(self, fields: Json) -> Iterator[Update]:
        failure = fields["failure"]
        yield from self._visit_over(fields, "failed", None, f"{failure['kind']}: {failure['message']}")
        yield self._marked(fields, "pending")

    def _visit_over(
        self, fields: Json, status: ToolCallStatus, title: str | None, text: str | None
    ) -> Iterator[Update]:
        visit = self._visits.pop(fields.get("stream"), None)
        if visit is not None:
            yield acp.update_tool_call(visit.id, status=status, title=title, content=_content(text))

    def _visit_waits(self, fields: Json) -> Iterator[Update]:
        visit = self._visits.get(fields.get("stream"))
        if visit is not None and fields["reason"] == "person" and not self._reads_text(visit):
            yield self._message(visit, visit.answer or fields["message"])

    # What they are made of

    def _reads_text(self, visit: _Visit) -> bool:
        return self._definition.sockets.get(visit.fields["socket"], {}).get("parse") == "text"

    def _text_of(self, files: list[Json], *kinds: str) -> str | None:
        """The text of the last of some files that is of one of these kinds."""
        listed = next((file for file in reversed(files) if file.get("kind") in kinds), None)
        return None if listed is None or self.folder is None else content(self.folder, listed).text

    def _message(self, visit: _Visit, text: str) -> AgentMessageChunk:
        chunk = acp.update_agent_message_text(text)
        chunk.message_id = f"{visit.id}/{visit.turn}"
        return chunk

    def _mark(self, fields: Json, status: PlanEntryStatus) -> None:
        if fields["socket"] in self._plan:
            self._plan[fields["socket"]] = (_title(fields), status)

    def _marked(self, fields: Json, status: PlanEntryStatus) -> Update:
        self._mark(fields, status)
        return self._whole_plan()

    def _whole_plan(self) -> Update:
        entries = [acp.plan_entry(label, status=status) for label, status in self._plan.values()]
        return acp.update_plan(entries)


def _named(socket: str, materia: Any) -> str:
    return f"{socket} ({materia})" if isinstance(materia, str) else socket


def _title(fields: Json) -> str:
    item = fields.get("itemLabel") or fields.get("itemKey")
    stream = f"[{fields['stream']}] " if fields.get("stream") else ""
    title = f"{stream}{_named(fields['socket'], fields.get('materia'))}" + (f": {item}" if item else "")
    return " ".join(title.split())


def _content(text: str | None) -> list[Any] | None:
    if text is None:
        return None
    shown = text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}\n…"
    return [acp.tool_content(acp.text_block(shown))]


def _thought(text: str) -> AgentThoughtChunk:
    return acp.update_agent_thought_text(text)


def _from_user(text: str) -> UserMessageChunk:
    return acp.update_user_message_text(text)
