"""What came of an earlier cast, read from its folder, for the cast that follows it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from materiac.runtime.handoff import excerpt
from materiac.runtime.journal import JournalError, Record, read

LONGEST: Final = {"request": 1000, "lastOutput": 3000, "context": 2500, "text": 1000, "message": 500}
"""How many characters there are of each; 8,000 in all."""

Json = dict[str, Any]


class PreviousError(Exception):
    """A folder that holds no cast; the message names it."""


def outcome(folder: Path) -> Json:
    """Status, failure, loadout, request, last output, context and shown texts. Raises `PreviousError`."""
    try:
        records = read(folder / "events.jsonl").records
    except JournalError as error:
        raise PreviousError(f"'{folder}' holds no cast: {error}") from error
    if not records or records[0].type != "cast_started":
        raise PreviousError(f"'{folder}' holds no cast: its journal does not begin with one")
    started, finished = records[0].fields, records[-1]
    over = finished.type == "cast_finished"
    found = {
        "castId": started.get("castId"),
        "loadout": started.get("loadout"),
        "status": finished.fields.get("status") if over else "interrupted",
        "failure": _failure(finished.fields.get("failure") if over else None),
        "request": excerpt(str(started.get("request", "")), LONGEST["request"]),
        "lastOutput": excerpt(_last_output(folder, records), LONGEST["lastOutput"]),
        "context": _newest(_context(folder, records), LONGEST["context"]),
        "text": _newest(_texts(records), LONGEST["text"]),
    }
    return {key: value for key, value in found.items() if value}


def _failure(failure: Any) -> Json | None:
    if not isinstance(failure, dict):
        return None
    message = excerpt(str(failure.get("message", "")), LONGEST["message"])
    return {**{key: failure.get(key) for key in ("kind", "socket", "visit", "item")}, "message": message}


def _last_output(folder: Path, records: Sequence[Record]) -> str:
    for record in reversed(records):
        if record.type == "socket_finished":
            return _content(folder, record, "output")
    return ""


def _context(folder: Path, records: Sequence[Record]) -> list[str]:
    """The paragraphs of context that sockets sent, in order."""
    paragraphs = []
    for record in records:
        if record.type == "socket_finished" and (parsed := _content(folder, record, "parsed")):
            context = _object(parsed).get("context")
            if isinstance(context, str) and context.strip():
                paragraphs.append(f"[{record.fields.get('socket')}] {context}")
    return paragraphs


def _texts(records: Sequence[Record]) -> list[str]:
    return [str(record.fields.get("text", "")) for record in records if record.type == "answer_shown"]


def _object(text: str) -> Json:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _content(folder: Path, record: Record, kind: str) -> str:
    """The file of a kind that a record lists; empty where there is none, or it is gone."""
    names = [part["file"] for part in record.fields.get("output", ()) if part.get("kind") == kind]
    try:
        return (folder / names[0]).read_text(encoding="utf-8", errors="replace") if names else ""
    except OSError:
        return ""


def _newest(paragraphs: Sequence[str], limit: int) -> str:
    """The last paragraphs, of which the first may be cut at its start."""
    text = "\n\n".join(paragraphs)
    return text if len(text) <= limit else f"…{text[-(limit - 1) :]}"
