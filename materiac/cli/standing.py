"""How a cast stands, for a person: a label and a text a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from materiac.cli.wording import age, clipped, count, item, one_line, used
from materiac.runtime.summary import BROKEN, INTERRUPTED, NOT_BEGUN, RUNNING, Summary, since

Json = dict[str, Any]

_LABEL: Final = 12
_LONG: Final = 200


def lines(cast: Summary, onward: Sequence[str]) -> Iterator[str]:
    """What `status` prints; `onward` are the commands that go on with the cast."""
    for label, text in _labelled(cast):
        if text:
            yield f"{label:<{_LABEL}}{text}".rstrip()
    for index, command in enumerate(onward or ["nothing"]):
        yield f"{'' if index else 'next':<{_LABEL}}{one_line(command)}"


def _labelled(cast: Summary) -> Iterator[tuple[str, str]]:
    yield one_line(cast.state), _what(cast) or " "
    yield "cast", one_line(cast.id)
    yield "loadout", clipped(cast.loadout or "")
    yield "request", clipped(cast.request or "", _LONG)
    yield "agent", clipped(cast.agent or "", _LONG)
    yield "began", f"{age(cast.age)} ago, at {one_line(cast.began)}" if cast.began else ""
    yield "visits", f"{cast.visits:,}" if cast.visits else ""
    yield "usage", used(cast.usage.as_data()) if cast.usage.turns else ""
    yield "resumed", count(cast.resumes, "time") if cast.resumes else ""
    yield "written by", one_line(str(cast.holder)) if cast.holder else ""
    yield "files", one_line(str(cast.folder))


def _what(cast: Summary) -> str:
    """The state in more words: where the cast is and for how long, or why it goes no further."""
    where = f"at {place(cast.at)}" if cast.at else "before the first visit"
    told = {
        RUNNING: f"{where}, for {age(since((cast.at or {}).get('began') or cast.began))}",
        INTERRUPTED: f"{where}: its process has gone, the last record is {age(since(cast.last))} old",
        NOT_BEGUN: "no record has been written",
        BROKEN: one_line(cast.reason or ""),
        "complete": f"after {count(cast.visits, 'visit')}",
        "waiting": one_line(cast.waiting or "for a person"),
        "failed": failure(cast.failure or {}),
    }
    return told.get(cast.state, where)


def failure(told: Mapping[str, Any]) -> str:
    """A failure as records have it: its kind, the place, the message."""
    at = {"socket": told.get("socket"), "visit": told.get("visit"), "itemKey": told.get("item")}
    where = f" at {place(at)}" if at["socket"] else ""
    return f"{one_line(str(told.get('kind')))}{where}: {one_line(str(told.get('message')))}"


def place(at: Mapping[str, Any] | None) -> str:
    """The place of a visit: the socket, the stream, the visit, the item."""
    if at is None:
        return ""
    stream = f"[{one_line(str(at['stream']))}] " if at.get("stream") else ""
    visit = f", visit {at['visit']}" if at.get("visit") is not None else ""
    what = item(at.get("itemKey"), at.get("itemLabel"))
    return f"{stream}'{one_line(str(at.get('socket')))}'{visit}" + (f", {what}" if what else "")
