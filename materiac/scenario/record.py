"""From the folder of a cast to the scenario that plays it again."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from materiac.program import ImageError, Program, image_from_data
from materiac.runtime.chronicle import COMMAND, TURN, WORDS
from materiac.runtime.journal import JournalError, Record, read

Json = dict[str, Any]

_FAILED: Final = "the agent failed: "


class RecordError(Exception):
    """A folder that holds no cast, or none that can be played again; the message says why."""


@dataclass
class _Answers:
    agents: dict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))
    utilities: dict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))
    person: list[str | None] = field(default_factory=list)


def scenario_of(folder: Path) -> Json:
    """The scenario of a cast that is over, without the file of its loadout. Raises `RecordError`."""
    program, records = _program(folder), _records(folder)
    started, ended = records[0].fields, records[-1]
    if records[0].type != "cast_started" or ended.type != "cast_finished":
        raise RecordError(f"the cast in '{folder}' is not over")
    if ended.fields["status"] == "stopped":
        raise RecordError(f"the cast in '{folder}' was stopped, which no scenario can do")
    if len({record.fields["stream"] for record in records if "stream" in record.fields}) > 1:
        raise RecordError(f"the cast in '{folder}' had streams side by side, which come in any order")
    answers = _Answers()
    for record in records:
        _take(record, answers, program, folder)
    return {
        "name": f"as in {started['castId']}",
        "loadout": {"name": started["loadout"]},
        "request": started["request"],
        **({"state": started["state"]} if started.get("state") else {}),
        **_listed(answers),
        "expect": _expect(records, ended),
    }


def _program(folder: Path) -> Program:
    try:
        data = json.loads((folder / "machine.json").read_bytes())
        return image_from_data(data).program
    except (OSError, ValueError, ImageError) as error:
        raise RecordError(f"'{folder}' has no machine that can be read: {error}") from error


def _records(folder: Path) -> tuple[Record, ...]:
    try:
        records = read(folder / "events.jsonl").records
    except JournalError as error:
        raise RecordError(str(error)) from error
    if not records:
        raise RecordError(f"the journal of '{folder}' is empty")
    return records


def _take(record: Record, answers: _Answers, program: Program, folder: Path) -> None:
    fields = record.fields
    if record.type == TURN:
        _turn(fields, answers, folder)
    elif record.type == WORDS:
        answers.person.append(next((_text(folder, part["file"]) for part in fields["files"]), None))
    elif record.type == COMMAND:
        answers.utilities[fields["socket"]].append(_command(fields, folder))
    elif record.type == "socket_failed" and fields.get("socket") in program.sockets:
        for silence in _silence(fields):
            answers.agents[fields["socket"]].append(silence)


def _turn(fields: Json, answers: _Answers, folder: Path) -> None:
    socket, kept = fields["socket"], {part["kind"]: part["file"] for part in fields["files"]}
    if "output" in kept:
        answer = _answer(_text(folder, kept["output"]))
        if fields["usage"] is not None:
            answer = {**({"text": answer} if isinstance(answer, str) else answer), "usage": fields["usage"]}
        answers.agents[socket].append(answer)


def _silence(fields: Json) -> Iterator[Json]:
    """A turn that gave no answer."""
    failure = fields["failure"]
    if failure["kind"] in ("utility-start", "utility-timeout"):
        raise RecordError(f"a failure of kind '{failure['kind']}' cannot be played again")
    if failure["kind"] == "agent":
        yield {"error": failure["message"].removeprefix(_FAILED)}


def _command(fields: Json, folder: Path) -> Any:
    kept = {part["kind"]: part["file"] for part in fields["files"]}
    if fields["code"] != 0:
        return {"error": _text(folder, kept["stderr"]).strip() or "it failed"}
    return _answer(_text(folder, kept["stdout"]))


def _text(folder: Path, file: str) -> str:
    try:
        return (folder / file).read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise RecordError(f"'{folder / file}' cannot be read: {error}") from error


def _answer(text: str) -> Any:
    """A text, as an object where it is nothing else, in a spelling that a program may give it."""
    try:
        data = json.loads(text)
        spellings = {
            json.dumps(data, ensure_ascii=ascii_, separators=separators)
            for ascii_ in (False, True)
            for separators in (None, (",", ":"))
        }
    except (ValueError, RecursionError):
        return text
    return {"json": data} if isinstance(data, dict) and text.strip() in spellings else text


def _listed(answers: _Answers) -> Json:
    data: Json = {}
    if answers.agents:
        data["agent"] = {"sockets": {id_: _short(listed) for id_, listed in answers.agents.items()}}
    if answers.utilities:
        data["utilities"] = {id_: _short(listed) for id_, listed in answers.utilities.items()}
    if answers.person:
        data["person"] = answers.person
    return data


def _short(listed: list[Any]) -> Any:
    return listed[0] if len(listed) == 1 else listed


def _expect(records: tuple[Record, ...], ended: Record) -> Json:
    visits = [record.fields for record in records if record.type == "socket_started"]
    failure = ended.fields["failure"]
    expect: Json = {"status": ended.fields["status"]}
    if failure:
        expect = {"failure": failure["kind"]}
    expect["path"] = [visit["socket"] for visit in visits]
    if any(visit["itemKey"] is not None for visit in visits):
        expect["items"] = [visit["itemKey"] for visit in visits]
    return expect
