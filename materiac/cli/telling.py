"""The records of a cast that is looked at, in words, each with the time at which it was written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from materiac.cli.news import Teller, words
from materiac.cli.standing import failure, place
from materiac.cli.wording import one_line
from materiac.program import ImageError, Program, image_from_data
from materiac.report.excerpt import safe
from materiac.runtime.contents import content
from materiac.runtime.journal import Record
from materiac.runtime.summary import moment

Json = dict[str, Any]

_CLOCK: Final = "%H:%M:%S"
_UNKNOWN: Final = Program("", "", {}, {})
_ASKED_FOR: Final = {
    "rerun": "to run what may have run",
    "retry": "to try again what failed",
    "allowEdge": "to take the edge that was used up",
}


class Telling:
    """Makes texts of the records of one cast, from the first to the last."""

    def __init__(self, folder: Path) -> None:
        self._teller = Teller(_program(folder))

    def tell(self, record: Record) -> str | None:
        """What a record says, safe for a terminal; None where it has nothing to say."""
        text = self._told(record)
        if text is None:
            return None
        now = moment(record.at)
        clock = now.astimezone().strftime(_CLOCK) if now is not None else "--:--:--"
        return f"{clock}  " + f"\n{' ' * (len(clock) + 2)}".join(map(safe, text.split("\n")))

    def _told(self, record: Record) -> str | None:
        """Our own words and those of a running cast; a record that cannot be told so is named."""
        now, own = moment(record.at), _OWN.get(record.type)
        try:
            told = self._teller.tell(record, now.timestamp() if now is not None else 0.0)
            texts = [own(record.fields) if own is not None else None, *map(words, told)]
        except (KeyError, TypeError, AttributeError, ValueError):
            return f"record {record.n}, '{one_line(record.type)}'"
        return "\n".join(text for text in texts if text is not None) or None


def _program(folder: Path) -> Program:
    """The program that ran; an empty one where it cannot be read, which is only missed in a few words."""
    data = content(folder, {"file": "machine.json"}).data
    try:
        return image_from_data(json.loads(data or b"{}")).program
    except (ImageError, ValueError, RecursionError):
        return _UNKNOWN


def _ended(fields: Json) -> str:
    status = one_line(str(fields.get("status")))
    if fields.get("failure"):
        return f"the cast is {status}: {failure(fields['failure'])}"
    waiting = one_line(fields.get("waiting") or "")
    return f"the cast is {status}" + (f": {waiting}" if waiting else "")


def _resumed(fields: Json) -> str:
    who = f"process {fields.get('pid')} on '{one_line(str(fields.get('host')))}'"
    asked = [words for key, words in _ASKED_FOR.items() if fields.get(key)]
    asked += [f"with a budget of {fields['maxTokens']:,} tokens"] if fields.get("maxTokens") else []
    asked += [f"with a budget of {fields['maxCostUsd']} US dollars"] if fields.get("maxCostUsd") else []
    asked += ["with another definition"] if fields.get("accepted") else []
    return f"{who} goes on with the cast" + (f", {', '.join(asked)}" if asked else "")


def _said(fields: Json) -> str:
    spoken = fields.get("file") is not None
    return f"a person {'has spoken' if spoken else 'asks for the final form'} at {place(fields)}"


def _joined(fields: Json) -> str | None:
    streams = fields.get("streams") or fields.get("fanIn") or ()
    states = ", ".join(f"'{one_line(part['name'])}' {one_line(part['status'])}" for part in streams)
    return f"streams: {states}" if states else None


_OWN: Final[dict[str, Callable[[Json], str | None]]] = {
    "cast_finished": _ended,
    "cast_resumed": _resumed,
    "person_said": _said,
    "streams_finished": _joined,
}
