"""What happens in a turn, told while it happens and kept for the reply."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pydantic_ai.messages import (
    AgentStreamEvent,
    FunctionToolCallEvent,
    FunctionToolResultEvent,
    ModelResponsePart,
    ModelResponsePartDelta,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPartDelta,
)

from materiac.agents.protocol import AnswerLimitError, Json, Progress, ProgressKind

_SHOWN: Final = 200
_STREAMED: Final = ("text", "thinking")


class News:
    """Hears the events of a turn. Raises `AnswerLimitError` at an answer of more than `max_bytes`."""

    def __init__(self, progress: Callable[[Progress], None] | None, max_bytes: int) -> None:
        self.told: list[Json] = []
        self._progress = progress
        self._max_bytes = max_bytes
        self._bytes = 0

    def tell(self, kind: ProgressKind, text: str) -> None:
        """Tell something; what is no piece of a stream is kept too."""
        if kind not in _STREAMED:
            text = _line(text)
            self.told.append({"type": kind, "text": text})
        if self._progress is not None and text:
            self._progress(Progress(kind, text))

    def hear(self, event: AgentStreamEvent) -> None:
        """Tell an event, if it is one for others."""
        if isinstance(event, PartStartEvent):
            self._bytes = 0 if event.index == 0 else self._bytes
            self._piece(event.part)
        elif isinstance(event, PartDeltaEvent):
            self._piece(event.delta)
        elif isinstance(event, FunctionToolCallEvent):
            self.tell("tool", f"{event.part.tool_name} {event.part.args_as_json_str()}")
        elif isinstance(event, FunctionToolResultEvent):
            self.tell("result", str(event.part.content))

    def _piece(self, piece: ModelResponsePart | ModelResponsePartDelta) -> None:
        if isinstance(piece, TextPart):
            self._count(piece.content)
            self.tell("text", piece.content)
        elif isinstance(piece, TextPartDelta):
            self._count(piece.content_delta)
            self.tell("text", piece.content_delta)
        elif isinstance(piece, ThinkingPart):
            self.tell("thinking", piece.content)
        elif isinstance(piece, ThinkingPartDelta):
            self.tell("thinking", piece.content_delta or "")
        elif isinstance(piece, ToolCallPartDelta):
            self._count(str(piece.args_delta or ""))

    def _count(self, text: str) -> None:
        self._bytes += len(text.encode(errors="surrogatepass"))
        if self._bytes > self._max_bytes:
            raise AnswerLimitError(f"the answer has more than {self._max_bytes} bytes")


def _line(text: str) -> str:
    line = " ".join(text[: 4 * _SHOWN].split())
    return line if len(line) <= _SHOWN and len(text) <= 4 * _SHOWN else f"{line[:_SHOWN]} …"
