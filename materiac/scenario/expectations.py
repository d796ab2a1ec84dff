"""What came of a cast, held against what a scenario expects."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from materiac.program import Program
from materiac.runtime.chronicle import TURN
from materiac.runtime.folder_names import folder_names
from materiac.runtime.journal import Record
from materiac.scenario.difference import difference
from materiac.scenario.model import Expect, Wanted, prompt_of

Json = dict[str, Any]
Loc = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Misfit:
    """One expectation that does not hold: the way to it in the scenario, what was found, and more of it."""

    loc: Loc
    message: str
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Aftermath:
    """What a cast left: the object of `run --json`, the journal, the folder of the cast, that of the work."""

    program: Program
    result: Json
    records: tuple[Record, ...]
    folder: Path
    work: Path

    @property
    def turns(self) -> int:
        """How often an agent was asked."""
        return sum(record.type == TURN for record in self.records)


def misfits(expect: Expect, after: Aftermath) -> list[Misfit]:
    """Every expectation that does not hold, the most telling first."""
    return [
        *_outcome(expect, after.result),
        *_way(expect, after.result),
        *_counts(expect, after),
        *(Misfit(("state", *loc), message) for loc, message in _subset(expect.state, after.result["data"])),
        *_prompts(expect, after),
        *_files(expect, after.work),
    ]


def _outcome(expect: Expect, result: Json) -> Iterator[Misfit]:
    failure = result["failure"] or {}
    said = _said(result)
    if result["status"] != expect.outcome:
        words = f"the status is '{result['status']}', expected '{expect.outcome}'"
        yield Misfit(("status",) if expect.status else ("failure",), words, said)
    elif expect.failure is not None:
        wanted = expect.failure
        if wanted.kind not in (None, failure.get("kind")):
            words = f"the kind of the failure is '{failure.get('kind')}', expected '{wanted.kind}'"
            yield Misfit(("failure", "kind"), words, said)
        for index, text in enumerate(wanted.has):
            if text not in failure.get("message", ""):
                yield Misfit(("failure", "has", index), f"the failure lacks {_quoted(text)}", said)


def _said(result: Json) -> tuple[str, ...]:
    failure = result["failure"]
    if failure is None:
        return (result["waiting"],) if result["waiting"] else ()
    item = f", {failure['item']}" if failure["item"] else ""
    return (f"{failure['kind']} at '{failure['socket']}'{item}: {failure['message']}",)


def _way(expect: Expect, result: Json) -> Iterator[Misfit]:
    for name, wanted in (("path", expect.path), ("items", expect.items)):
        found = result[name]
        if wanted is not None and found != wanted:
            at = next((i for i, (a, b) in enumerate(zip(found, wanted, strict=False)) if a != b), None)
            at = min(len(found), len(wanted)) if at is None else at
            here = (_visit(name, found, at), _visit(name, wanted, at))
            words = f"{'visit' if name == 'path' else 'the item of visit'} {at + 1} is {here[0]}"
            yield Misfit((name, at), f"{words}, expected {here[1]}", difference(found, wanted))
    rest = iter(result["path"])
    for index, socket in enumerate(expect.path_has or ()):
        if socket not in rest:
            behind = f" behind {_quoted((expect.path_has or [''])[index - 1])}" if index else ""
            words = f"the path has no {_quoted(socket)}{behind}"
            yield Misfit(("pathHas", index), words, (f"path: {' → '.join(result['path'])}",))
            return


def _visit(name: str, listed: Sequence[str | None], at: int) -> str:
    if at >= len(listed):
        return "missing"
    value = listed[at]
    return ("none" if name == "items" else "missing") if value is None else f"'{value}'"


def _counts(expect: Expect, after: Aftermath) -> Iterator[Misfit]:
    for socket, wanted in (expect.visits or {}).items():
        found = after.result["visits"].get(socket, 0)
        if found != wanted:
            words = f"'{socket}' was visited {_times(found)}, expected {_times(wanted)}"
            yield Misfit(("visits", socket), words)
    if expect.turns is not None and after.turns > expect.turns:
        turns = f"{after.turns} turn{'' if after.turns == 1 else 's'}"
        yield Misfit(("turns",), f"agents took {turns}, expected at most {expect.turns}")


def _times(number: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(number, f"{number} times")


def _subset(wanted: Any, found: Any, loc: Loc = ()) -> Iterator[tuple[Loc, str]]:
    """Where a value differs from what is wanted; objects may have more members."""
    if wanted is None and not loc:
        return
    if isinstance(wanted, Mapping) and isinstance(found, Mapping):
        for key, part in wanted.items():
            if key in found:
                yield from _subset(part, found[key], (*loc, key))
            else:
                yield (*loc, key), f"the state has no '{'.'.join(map(str, (*loc, key)))}'"
    elif json.dumps(wanted, sort_keys=True) != json.dumps(found, sort_keys=True):
        yield loc, f"state '{'.'.join(map(str, loc))}' is {_shown(found)}, expected {_shown(wanted)}"


def _prompts(expect: Expect, after: Aftermath) -> Iterator[Misfit]:
    folders = folder_names(after.program.sockets)
    for key, wanted in expect.prompts.items():
        socket, visit = prompt_of(key)
        file = Path("contexts", folders.get(socket, socket), f"{visit}.md")
        # Streams count their visits apart: what any of them was asked counts.
        found = [_content(folder / file) for folder in (after.folder, *after.folder.glob("streams/*"))]
        told = [content for content in found if content is not None]
        content = "\n".join(told) if told else None
        yield from _texts(("prompts", key), f"the prompt of '{key}'", content, wanted)


def _files(expect: Expect, work: Path) -> Iterator[Misfit]:
    for name, wanted in expect.files.items():
        content = _content(work / name)
        if wanted is None and (work / name).exists():
            yield Misfit(("files", name), f"the file '{name}' is there, expected none")
        elif wanted is not None:
            yield from _texts(("files", name), f"the file '{name}'", content, wanted)


def _content(file: Path) -> str | None:
    try:
        return file.read_bytes().decode("utf-8", "replace")
    except OSError:
        return None


def _texts(loc: Loc, what: str, content: str | None, wanted: Wanted) -> Iterator[Misfit]:
    if content is None:
        yield Misfit(loc, f"there is no such thing as {what}")
        return
    for index, text in enumerate(wanted.has):
        if text not in content:
            yield Misfit((*loc, "has", index), f"{what} lacks {_quoted(text)}", (f"it is {_shown(content)}",))
    for index, text in enumerate(wanted.lacks):
        if text in content:
            yield Misfit((*loc, "lacks", index), f"{what} has {_quoted(text)}")


def _quoted(text: str) -> str:
    return f"'{text}'" if len(text) <= 80 else f"'{text[:79]}…'"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 300 else f"{text[:299]}…"
