"""What a turn of Pi has come to, gathered from what it tells."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from materiac.agents.pi.faults import fault_of, retry_after
from materiac.agents.protocol import AnswerLimitError, Fault, Progress, ProgressKind, Reply, Request, Usage

Json = dict[str, Any]

_SHOWN: Final = 200
"""How many characters of a call, and of what it gave, somebody is shown who looks on."""
_MAIN: Final = ("command", "path", "pattern")
"""The arguments that say what a call is about."""
_KEPT: Final = ("auto_retry_start", "auto_retry_end", "compaction_start", "compaction_end", "extension_error")
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")


class Course:
    """Hears the records of a turn. `settled` says that it is over."""

    def __init__(self, request: Request) -> None:
        self.settled = False
        self._request = request
        self._usage = Usage()
        self._last: Json | None = None
        self._events: list[Json] = []
        self._hear: dict[str, Callable[[Json], None]] = {
            "agent_settled": self._settle,
            "message_update": self._update,
            "message_end": self._message,
            "tool_execution_start": self._tool,
            "tool_execution_end": self._result,
            "auto_retry_start": self._retry,
            "compaction_start": self._compaction,
            "compaction_end": self._compacted,
        }

    def hear(self, record: Json) -> None:
        """Take in what Pi tells."""
        kind = record.get("type", "")
        if kind in _KEPT:
            self._events.append(record)
        hear = self._hear.get(kind)
        if hear is not None:
            hear(record)

    def reply(self, session: str | None) -> Reply:
        """The reply of a turn that has settled. Raises `AnswerLimitError`."""
        last = self._last
        if last is None:
            return self.failed("Pi gave no answer", session)
        stop, error = last.get("stopReason"), last.get("errorMessage")
        if stop in ("error", "aborted"):
            why = _sound(str(error)) if error else f"Pi says '{stop}' and no reason"
            return self.failed(why, session)
        text = _text(last)
        size = len(text.encode())
        if size > self._request.max_bytes:
            raise AnswerLimitError(f"Pi answered with {size} bytes, {self._request.max_bytes} are allowed")
        return Reply(
            text,
            self._usage if self._used else None,
            session,
            stop="length" if stop == "length" else "stop",
            model=last.get("model"),
            provider=last.get("provider"),
            events=tuple(self._events),
        )

    def failed(self, error: str, session: str | None, fault: Fault | None = None) -> Reply:
        """The reply of a turn that came to nothing, with what was used so far."""
        last = self._last or {}
        return Reply(
            "",
            self._usage,
            session,
            stop="error",
            error=error,
            model=last.get("model"),
            provider=last.get("provider"),
            fault=fault or fault_of(error),
            retry_after_s=retry_after(error),
            events=tuple(self._events),
        )

    def aborted(self, session: str | None) -> Reply:
        """The reply of a turn that somebody has ended."""
        failed = self.failed("it was stopped before it answered", session)
        return replace(failed, stop="aborted", fault=None, retry_after_s=None)

    @property
    def _used(self) -> bool:
        """Whether it was told what was used: no answer is free of tokens."""
        return (self._usage.input, self._usage.output, self._usage.cache_read) != (0, 0, 0)

    def _settle(self, _: Json) -> None:
        self.settled = True

    def _update(self, record: Json) -> None:
        event = record.get("assistantMessageEvent") or {}
        kinds: dict[str, ProgressKind] = {"text_delta": "text", "thinking_delta": "thinking"}
        kind = kinds.get(event.get("type", ""))
        if kind is not None and event.get("delta"):
            self._say(kind, _sound(event["delta"]))

    def _message(self, record: Json) -> None:
        message = record.get("message") or {}
        if message.get("role") in ("assistant", "toolResult"):
            self._events.append(record)
        if message.get("role") == "assistant":
            self._last = message
        self._count(message.get("usage"))

    def _tool(self, record: Json) -> None:
        arguments = record.get("args")
        arguments = arguments if isinstance(arguments, dict) else {}
        main = next((arguments[name] for name in _MAIN if name in arguments), None)
        about = main if isinstance(main, str) else json.dumps(arguments, ensure_ascii=False)
        self._say("tool", _short(f"{record.get('toolName')} {about}"))

    def _result(self, record: Json) -> None:
        text = _text(record.get("result") or {})
        self._say("result", _short(f"failed: {text}" if record.get("isError") else text))

    def _retry(self, record: Json) -> None:
        which = f"try {record.get('attempt')} of {record.get('maxAttempts')}"
        self._say("retry", _short(f"{which} in {record.get('delayMs', 0)} ms: {record.get('errorMessage')}"))

    def _compaction(self, record: Json) -> None:
        self._say("note", f"the talk is summed up ({record.get('reason')})")

    def _compacted(self, record: Json) -> None:
        self._count((record.get("result") or {}).get("usage"))

    def _count(self, usage: Json | None) -> None:
        if not isinstance(usage, dict):
            return
        old, cost = self._usage, usage.get("cost") or {}
        self._usage = Usage(
            old.input + int(usage.get("input") or 0),
            old.output + int(usage.get("output") or 0),
            old.cache_read + int(usage.get("cacheRead") or 0),
            old.cache_write + int(usage.get("cacheWrite") or 0),
            old.cost + float(cost.get("total") or 0.0),
        )

    def _say(self, kind: ProgressKind, text: str) -> None:
        if self._request.progress is not None:
            self._request.progress(Progress(kind, text))


def _text(message: Json) -> str:
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    return _sound("".join(str(part.get("text") or "") for part in parts if part.get("type") == "text"))


def _sound(text: str) -> str:
    """A text that can be written down: half a character pair is none."""
    return _SURROGATE.sub("\ufffd", text)


def _short(text: str) -> str:
    line = " ".join(_sound(text).split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"
