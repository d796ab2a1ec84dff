"""Casts that faults befall: what they are, how they are gone on with, and what has come of them."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from samples import compiled, loadout, order, socket

from materiac.agents.protocol import Reply, Request
from materiac.agents.scripted import Script, Scripted
from materiac.program import Image
from materiac.runtime.artifacts import ArtifactError
from materiac.runtime.journal import JournalError, Record, read
from materiac.runtime.resume import Allowed, ResumeError, Resumption, resume
from materiac.runtime.run import Result, run
from materiac.runtime.visit import VisitWaits

Json = dict[str, Any]

MOST_STEPS: Final = 20
LOG, ASKED, STEPS = "log.txt", "asked.txt", "steps.txt"
_PROCESS: Final = (
    *("cast_started", "cast_resumed", "cast_finished", "streams_resumed", "stream_resumed"),
    "socket_waits",  # it is said again when a process comes back to it
)
_STEP: Final[Json] = {"cursor": "workItemIndex", "items": "state.workItems"}
_write = os.write
_FILE: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT
_open = os.open


@dataclass(frozen=True)
class Sample:
    """A loadout, what its agents answer, and what a person says to an answer (None: the final form)."""

    name: str
    config: Json
    script: Json
    words: Mapping[str, str | None] = field(default_factory=dict)
    width: int = 1
    """How many visits may be under way at once."""

    @cached_property
    def image(self) -> Image:
        return compiled(self.config)


def command(name: str, printed: str, **fields: Any) -> Json:
    """A utility that adds its name, and the item's key, to a log in the working folder."""
    script = (
        'read -r line || exit 1; key=${line#*\\"itemKey\\": \\"}; key=${key%%\\"*}; '
        f'case $key in WI-*) ;; *) key=-;; esac; echo "{name} $key" >> {LOG}; '
        f"printf '%s' '{printed}'; echo noted >&2"
    )
    return {"command": ["sh", "-c", script], **fields}


def used(value: Any, tokens: int = 12) -> Json:
    """An answer that cost something."""
    kind = "text" if isinstance(value, str) else "json"
    return {kind: value, "usage": {"input": tokens - 2, "output": 2, "cacheRead": 3, "cost": 0.1}}


def items(count: int) -> list[Json]:
    return [{"title": f"T{n}", "context": f"about {n}"} for n in range(1, count + 1)]


YES, NO = {"satisfied": True, "context": "good"}, {"satisfied": False, "context": "a corner is missing"}
AGAIN: Final = [
    {"when": "satisfied", "to": "keep"},
    {"when": "not_satisfied", "to": "build", "maxTraversals": 2},
]


def _long() -> Sample:
    """15 visits: a loop over three items, a rework, a repair, utilities of both kinds, a warning, events."""
    sockets = {
        "seed": {"materia": "Seed", "edges": [{"to": "plan"}]},
        "plan": {"materia": "Planner", "edges": [{"to": "build"}]},
        "build": socket(edges=[{"to": "check"}], assign={"built": "lastOutput"}),
        "check": socket(parse="json", edges=AGAIN),
        "keep": {"materia": "Keep", "advance": _STEP, "edges": [{"to": "build"}]},
        "tell": socket(parse="json", assign={"told": "$.context"}, edges=[{"to": "note"}]),
        "note": {"materia": "Note"},
    }
    work = {
        "sockets": ["build", "check", "keep"],
        "consumes": {"from": "plan", "output": "workItems"},
        "exits": [{"from": "keep", "condition": "always", "targetSocketId": "tell"}],
    }
    seed = json.dumps(
        {"state": {"files": ["a", "b"]}, "context": "two files", "event": [{"type": "seed.ed"}]}
    )
    materia = {
        "Seed": command("seed", seed, parse="json", idempotent=True, writes=["files"]),
        "Keep": command("keep", "kept"),
        "Note": command("note", "noted down", idempotent=True),
        "Agent": {"prompt": "Work on {{item.title}} with {{state.files}} and {{state.built}}."},
    }
    told = {"text": "All is done.", "context": "three items", "odd": 1, "event": [{"type": "all.done"}]}
    script = {
        "plan": used({"workItems": items(3), "context": "a plan"}),
        "build": [used("built 1"), used("built 2"), used("built 2 again"), "built 3"],
        "check": [used(YES), "no object", used(NO), used(YES | {"text": "now it is good"}), used(YES)],
        "tell": used(told),
    }
    config = loadout(
        sockets, loops={"work": work}, materia=materia, budget={"maxTokens": 120, "warnAtPercent": 50}
    )
    return Sample("long", config, script)


def _resting() -> Sample:
    """A cast that rests again and again: a failed agent, an edge that is used up, a budget that is spent."""
    check = socket(
        parse="json",
        advance={**_STEP, "when": "satisfied"},
        edges=[
            {"when": "satisfied", "to": "check"},
            {"when": "not_satisfied", "to": "check", "maxTraversals": 1},
        ],
    )
    sockets = {
        "plan": {"materia": "Planner", "edges": [{"to": "check"}]},
        "check": check,
        "keep": {"materia": "Keep", "edges": [{"to": "tell"}]},
        "tell": socket(),
    }
    work = {
        "sockets": ["check"],
        "consumes": {"from": "plan"},
        "exits": [{"from": "check", "condition": "always", "targetSocketId": "keep"}],
    }
    script = {
        "plan": [{"error": "overloaded"}, used({"workItems": items(2)})],
        "check": [used(NO), used(NO), used(YES), "nothing", "nothing", used(YES, 40)],
        "tell": [{"error": "overloaded again"}, used("told")],
    }
    config = loadout(
        sockets, loops={"work": work}, materia={"Keep": command("keep", "kept")}, budget={"maxTokens": 60}
    )
    return Sample("rests", config, script)


def _talk() -> Sample:
    """A talk of several turns with a person who comes back for each, and a budget that is spent in it."""
    sockets = {
        "ask": {
            "materia": "Talker",
            "parse": "json",
            "assign": {"agreed": "$.context"},
            "edges": [{"to": "do"}],
        },
        "do": {"materia": "Talker", "edges": [{"to": "keep"}]},
        "keep": {"materia": "Keep"},
    }
    materia = {
        "Talker": {"prompt": "Talk about {{request}}.", "multiTurn": True},
        "Keep": command("keep", "ok"),
    }
    script = {
        "ask": [
            used("one?", 20),
            used("two?", 20),
            used("three?", 20),
            "no object",
            used({"context": "agreed"}, 20),
        ],
        "do": [used("first", 5), used("second", 5), used("final", 5)],
    }
    words = {"one?": "more", "two?": "yet more", "three?": None, "first": "and then?", "second": None}
    config = loadout(sockets, materia=materia, budget={"maxTokens": 50, "stopAtLimit": False})
    return Sample("talk", config, script, words)


def _streams() -> Sample:
    """Three streams, two at a time, with a rework, a repair and a command in them."""
    sockets = {
        "plan": {"materia": "Plan", "edges": [{"to": "build"}]},
        "build": {"materia": "Safe", "edges": [{"to": "check"}]},
        "check": {"materia": "Safe", "parse": "json", "edges": AGAIN},
        "keep": {"materia": "Keep", "advance": _STEP, "edges": [{"to": "build"}]},
        "tell": socket(),
    }
    work = {
        "sockets": ["build", "check", "keep"],
        "consumes": {"from": "plan"},
        "exits": [{"from": "keep", "condition": "always", "targetSocketId": "tell"}],
        "parallel": {"maxConcurrency": 2},
    }
    materia = {
        "Plan": {"prompt": "Plan.", "generator": True, "parallel": True},
        "Safe": {"prompt": "Do {{item.title}}.", "parallelSafe": True},
        "Keep": command("keep", "kept", parallelSafe=True),
    }
    lanes = [
        {"name": name, "workItemIndexes": part} for name, part in (("a", [0]), ("b", [2, 1]), ("c", [3]))
    ]
    plan = {"workItems": items(4), "parallelSchedule": {"version": 1, "streams": lanes}}
    script = {
        "plan": used(plan),
        "build": {"*": used("built")},
        "check": {"WI-2": [used(NO), used(YES)], "WI-4": ["no object", used(YES)], "*": used(YES)},
        "tell": used("told"),
    }
    return Sample("streams", loadout(sockets, loops={"work": work}, materia=materia), script, width=2)


SAMPLES: Final = {sample.name: sample for sample in (_long(), _resting(), _talk(), _streams())}


class _Counted:
    """A scripted agent that writes down what it is asked."""

    def __init__(self, sample: Sample, cwd: Path) -> None:
        self._agent = Scripted("scripted:here", Script.model_validate({"sockets": sample.script}))
        self.spec = self._agent.spec
        self._file = cwd / ASKED

    def turn(self, request: Request) -> Reply:
        note(self._file, f"{request.socket} {request.item_key} {request.visit} {request.turn}")
        return self._agent.turn(request)

    def close(self) -> None:
        self._agent.close()


def note(file: Path, line: str) -> None:
    """Add a line to a file, past all faults."""
    handle = _open(file, _FILE, 0o600)
    _write(handle, f"{line}\n".encode())
    os.close(handle)


class _Person:
    """Says one thing and is gone."""

    def __init__(self, words: Mapping[str, str | None]) -> None:
        self._words = dict(words)

    def say(self, answer: str) -> str | None:
        if not self._words:
            raise VisitWaits("nobody is there")
        words, self._words = self._words[answer], {}
        return words


def cast_folder(cwd: Path) -> Path | None:
    """The cast in a working folder; None where none has begun."""
    for folder in sorted((cwd / "casts").glob("*"), reverse=True):
        if (folder / "events.jsonl").is_file() and read(folder / "events.jsonl").records:
            return folder
    return None


def proceed(sample: Sample, cwd: Path) -> None:
    """Begin the cast, or go on with it, as a person would, until it is complete."""
    for _ in range(MOST_STEPS):
        if is_complete(cwd):
            return
        rest = read(step(sample, cwd).folder / "events.jsonl").records[-1].fields
        line = {"status": rest["status"], "for": rest["waitingFor"], "log": log(cwd)}
        note(cwd / STEPS, json.dumps(line))
    raise AssertionError(f"the cast is not complete after {MOST_STEPS} steps")


def is_complete(cwd: Path) -> bool:
    """Whether the journal says that the cast is complete."""
    folder = cast_folder(cwd)
    last = None if folder is None else read(folder / "events.jsonl").records[-1]
    return last is not None and (last.type, last.fields.get("status")) == ("cast_finished", "complete")


def step(sample: Sample, cwd: Path) -> Result:
    """What a person would do next, and what comes of it."""
    agent, folder = _Counted(sample, cwd), cast_folder(cwd)
    if folder is None:
        _refused(cwd, agent)
        return run(order(sample.image, cwd, agent))
    allowed, person = _onward(sample, read(folder / "events.jsonl").records[-1])
    environ = order(sample.image, cwd, agent).environ
    return resume(
        Resumption(folder, agent, environ, sample.image, allowed, person, talked_to=person is not None)
    )


def _refused(cwd: Path, agent: _Counted) -> None:
    """A cast that was never begun cannot be gone on with, and says so."""
    for folder in (cwd / "casts").glob("*"):
        try:
            resume(Resumption(folder, agent, {}))
        except (ResumeError, JournalError, ArtifactError):
            continue
        raise AssertionError("a cast that has not begun was gone on with")


def _onward(sample: Sample, last: Record) -> tuple[Allowed, _Person | None]:
    if last.type != "cast_finished":
        return Allowed(), None
    waits, failure = last.fields["waitingFor"], last.fields["failure"] or {}
    if waits == "person":
        return Allowed(), _Person(sample.words)
    if "budget" in (waits, failure.get("kind")):
        return Allowed(max_tokens=1000), None
    if failure.get("kind") == "edge-limit":
        return Allowed(edge=True), None
    return Allowed(rerun=waits == "uncertain", retry=bool(failure)), None


def log(cwd: Path) -> list[str]:
    """What the commands have written down."""
    return _lines(cwd / LOG)


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def look(cwd: Path) -> Json:
    """What has come of a cast, but for what has to differ: times, processes, places."""
    folder = cast_folder(cwd)
    assert folder is not None
    records = read(folder / "events.jsonl").records
    last = records[-1]
    return {
        "rest": [
            last.type,
            {key: last.fields.get(key) for key in ("status", "failure", "waiting", "stateHash")},
        ],
        "story": story(records),
        "files": dict(_tree(folder, (str(cwd), folder.name))),
        "usage": _usage(json.loads((folder / "usage.json").read_bytes())),
        "manifest": sorted(_manifest(folder)),
    }


def story(records: tuple[Record, ...]) -> dict[str, list[str]]:
    """The records of the cast and of each of its streams, but for those of its processes."""
    told: dict[str, list[str]] = {}
    rerun = {_place(one.fields) for one in records if one.fields.get("reason") == "uncertain"}
    for record in records:
        again = record.type == "socket_restarted" and _place(record.fields) in rerun
        if record.type in _PROCESS or again or _rests(record):
            continue
        fields = {key: value for key, value in record.fields.items() if key != "seconds"}
        fields["files"] = [_file(file) for file in fields.get("files", ())]
        fields["output"] = [_file(file) for file in fields.get("output", ())]
        lines, line = told.setdefault(str(fields.get("stream")), []), f"{record.type} {json.dumps(fields)}"
        if not (record.type == "socket_failed" and lines[-1:] == [line]):  # found spent, and found so again
            lines.append(line)
    return told


def _rests(record: Record) -> bool:
    """Whether streams end that are gone on with."""
    if record.type == "stream_finished":
        return bool(record.fields["status"] != "complete")
    streams = record.fields["streams"] if record.type == "streams_finished" else ()
    return any(stream["status"] != "complete" for stream in streams)


def _place(fields: Json) -> tuple[Any, ...]:
    return tuple(fields.get(key) for key in ("socket", "visit", "stream"))


def _file(file: Json) -> Json:
    """Of files that tell of times and places the name alone."""
    return {"file": file["file"]} if file["kind"] in ("stdin", "command") else file


def _tree(folder: Path, places: tuple[str, str]) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_file() and name not in ("events.jsonl", "manifest.json", "usage.json"):
            text = path.read_bytes().decode()
            for place in places:
                text = text.replace(place, "<here>")
            if name.endswith(".command.json"):
                text = re.sub(r'"seconds": [0-9.e-]+', '"seconds": 0', text)
            yield name, text


def _usage(data: Json) -> Json:
    return data | {"turns": sorted(data["turns"], key=json.dumps)}


def _manifest(folder: Path) -> Iterator[str]:
    """The entries; each has to be true of its file."""
    for entry in json.loads((folder / "manifest.json").read_bytes())["entries"]:
        assert (folder / entry["file"]).stat().st_size == entry["bytes"], entry
        place = {key: entry.get(key) for key in ("socket", "visit", "itemKey", "stream", "kind", "file")}
        yield json.dumps(place)


def differences(wanted: Json, got: Json) -> list[str]:
    """What two looks differ in, in words; files that were set aside may be there besides."""
    found: list[str] = []
    for key in wanted:
        if key == "files":
            found += _file_differences(wanted[key], got[key])
        elif key == "story":
            found += _story_differences(wanted[key], got[key])
        elif key == "manifest":
            listed = [entry for entry in got[key] if ".failed-" not in entry]
            kept = [entry for entry in wanted[key] if ".failed-" not in entry]
            found += [f"manifest: {entry}" for entry in Counter(kept) - Counter(listed)]
            found += [f"manifest, more: {entry}" for entry in Counter(listed) - Counter(kept)]
        elif wanted[key] != got[key]:
            found.append(f"{key}: {json.dumps(wanted[key])} is now {json.dumps(got[key])}")
    return found


def _file_differences(wanted: dict[str, str], got: dict[str, str]) -> Iterator[str]:
    yield from (f"'{name}' is missing" for name in wanted.keys() - got.keys())
    more = (name for name in got.keys() - wanted.keys() if ".failed-" not in name)
    yield from (f"'{name}' is there besides" for name in more)
    same = wanted.keys() & got.keys()
    yield from (
        f"'{name}': {wanted[name]!r} is now {got[name]!r}" for name in same if wanted[name] != got[name]
    )


def _story_differences(wanted: dict[str, list[str]], got: dict[str, list[str]]) -> Iterator[str]:
    for stream in wanted.keys() | got.keys():
        before, now = wanted.get(stream, []), got.get(stream, [])
        if before != now:
            n = next((n for n, pair in enumerate(zip(before, now, strict=False)) if pair[0] != pair[1]), -1)
            yield f"record {n} of {len(before)} and {len(now)}: {before[n]} is now {now[n]}"


def ran_twice(cwd: Path, whole: Path, kills: int) -> list[str]:
    """Turns that were asked, and commands that ran, more often than they should have; or not at all.

    Of each kind a kill may cost those that it interrupts: one, in streams one for each that runs.
    """
    found = []
    for name in (LOG, ASKED):
        once, now = Counter(_lines(whole / name)), Counter(_lines(cwd / name))
        more = sorted((now - once).elements())
        found += [f"{name}: {line} is missing" for line in once - now]
        if len(more) > kills:
            found.append(f"{name}: {more} again")
    return found
