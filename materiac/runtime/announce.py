"""What of an accepted output is for whoever watches: its text, its events, and what was dropped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from materiac.runtime.contract import Accepted
from materiac.runtime.visit import Json

MAX_SHOWN: Final = 4000
"""How many characters of a `text` the journal holds; all of it is in the file of the answer."""


def announced(accepted: Accepted, files: Sequence[Json]) -> Iterator[tuple[str, Json]]:
    """The types and fields of the records that say so; `files` are those of the output."""
    text = accepted.fields.get("text", "")
    if text.strip():
        file = next((part["file"] for part in files if part["kind"] == "parsed"), None)
        yield "answer_shown", {"text": text[:MAX_SHOWN], "length": len(text), "file": file}
    for event in accepted.events:
        yield "event", {"event": event}
    if accepted.dropped:
        yield "handoff_field_dropped", {"fields": list(accepted.dropped)}
    if accepted.dropped_state:
        yield "state_field_dropped", {"fields": list(accepted.dropped_state)}
