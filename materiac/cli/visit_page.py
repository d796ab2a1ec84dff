"""All that belongs to one visit: what went in, what came out, what it used, where control went and why."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from materiac.cli import standing
from materiac.cli.why import verdict, why
from materiac.cli.wording import count, duration, one_line, used
from materiac.cli.wording import lines as lines_of
from materiac.runtime.contents import Content, content, definition
from materiac.runtime.summary import usage
from materiac.runtime.usage import Total
from materiac.runtime.visits import Visited

Json = dict[str, Any]

_LABEL: Final = 12
_TITLES: Final = {
    "context": "prompt",
    "output": "answer",
    "parsed": "accepted object",
    "said": "words of a person",
    "words": "words of a person",
}


def as_data(folder: Path, visit: Visited) -> Json:
    """The visit as `--json` prints it: its turns, its commands, its files and what is in them."""
    files = [(part, content(folder, part)) for part in visit.files]
    parsed = next((read for part, read in files if part.get("kind") == "parsed" and not _earlier(part)), None)
    return {
        **visit.as_data(),
        "why": why(visit, definition(folder, visit.machine)),
        "object": _value(parsed),
        "turns": visit.turns,
        "commands": visit.commands,
        "said": visit.said,
        "files": [
            {**part, "state": read.state, "fault": read.fault, "text": read.text} for part, read in files
        ],
    }


def _earlier(part: Json) -> bool:
    return bool(part.get("earlier"))


def _value(parsed: Content | None) -> Any:
    try:
        return json.loads(parsed.text or "null") if parsed is not None else None
    except (ValueError, RecursionError):
        return None


def lines(folder: Path, visit: Visited, of: int) -> Iterator[str]:
    """The visit for a person; all of it is safe for a terminal. `of` is how many visits the cast has."""
    for label, text in _head(folder, visit, of):
        if text:
            yield f"{label:<{_LABEL}}{text}"
    for turn in visit.turns:
        yield f"{'turn ' + str(turn.get('turn')):<{_LABEL}}{_turn(turn)}"
    for command in visit.commands:
        yield f"{'command':<{_LABEL}}{_command(command)}"
    kinds = {part.get("kind") for part in visit.files}
    for part in visit.files:
        if part.get("kind") != "output" or "stdout" not in kinds:  # that of a utility is what it wrote
            yield ""
            yield from _file(part, content(folder, part))


def _head(folder: Path, visit: Visited, of: int) -> Iterator[tuple[str, str]]:
    place = visit.place
    attempt = f", attempt {visit.attempt}" if visit.attempt > 1 and place["itemKey"] is not None else ""
    yield "visit", f"{standing.place(place)}{attempt}: number {visit.number:,} of {of:,}"
    yield "materia", one_line(str(place["materia"] or ""))
    yield "state", visit.state + (f", begun {count(visit.tries, 'time')}" if visit.tries > 1 else "")
    yield "failure", standing.failure(visit.failure) if visit.failure else ""
    yield "waiting", one_line(visit.waiting or "")
    yield "verdict", verdict(visit)
    yield "next", why(visit, definition(folder, visit.machine))
    yield "began", f"at {one_line(visit.began)}, took {duration(visit.seconds)}"
    yield "usage", used(visit.used.as_data()) if visit.turns else ""


def _turn(turn: Json) -> str:
    total = Total()
    total.add(usage(turn.get("usage")))
    said = [one_line(str(turn[key])) for key in ("provider", "model") if turn.get(key)]
    said += [f"stop {one_line(str(turn['stop']))}"] if turn.get("stop") not in (None, "stop") else []
    said += [one_line(str(turn["error"]))] if turn.get("error") else []
    said += [f"session {one_line(str(turn['session']))}"] if turn.get("session") else []
    said += [] if total.unknown else [used(total.as_data()).partition(", ")[2]]
    said += [duration(turn["seconds"])] if isinstance(turn.get("seconds"), int | float) else []
    return ", ".join(said) or "finished"


def _command(command: Json) -> str:
    ended = [f"code {command['code']}"] if command.get("code") is not None else []
    ended += [f"signal {command['signal']}"] if command.get("signal") is not None else []
    ended += ["out of time"] if command.get("timedOut") else []
    ended += [duration(command["seconds"])] if isinstance(command.get("seconds"), int | float) else []
    sizes = [(name, command.get(f"{name}Bytes")) for name in ("stdout", "stderr")]
    return ", ".join([*ended, *(f"{count(size, 'byte')} of {name}" for name, size in sizes if size)])


def _file(part: Json, found: Content) -> Iterator[str]:
    kind = str(part.get("kind"))
    turn = f" of turn {part['turn']}" if part.get("turn", 1) != 1 else ""
    repair = ", a repair" if ".repair-" in found.file else ""
    earlier = ", of an earlier try" if _earlier(part) else ""
    yield f"{_TITLES.get(kind, one_line(kind))}{turn}{repair}{earlier}: {one_line(found.file)}"
    if found.fault is not None:
        yield f"  [{found.fault}]"
    text = found.text
    for line in lines_of(text) if text is not None else ():
        yield f"  {line}".rstrip()
    if text is not None and not text.strip():
        yield "  [empty]"
