"""A visit of a utility: the command, its streams, its limits."""

from __future__ import annotations

import json
from typing import Any, Final

from materiac.process import Completed, StartError, run
from materiac.program import Utility
from materiac.runtime import contract
from materiac.runtime.ask import read, save
from materiac.runtime.bench import Bench
from materiac.runtime.visit import Json, Output, Visit, VisitFailed
from materiac.utilities import builtin_command
from materiac.utilities.environment import clean

MAX_BYTES: Final = 1024 * 1024
MAX_STDERR_SHOWN: Final = 600


def call(bench: Bench, visit: Visit, state: Json, cursors: Json, cursor: int | None) -> Output:
    """Run the utility of a socket. Raises `VisitFailed`."""
    utility = visit.materia.utility
    if utility is None:
        raise TypeError(f"'{visit.materia.name}' is no utility")
    command = _command(utility)
    stdin = _stdin(bench, visit, state, cursors, cursor)
    limit = visit.socket.max_output_bytes or MAX_BYTES
    try:
        done = bench.stand_in(visit) if bench.stand_in is not None else None
        done = done or run(
            command,
            stdin=json.dumps(stdin, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n",
            cwd=bench.cwd,
            env=_environment(bench, utility),
            timeout_s=utility.timeout_ms / 1000,
            max_bytes=limit,
            stop=bench.stop,
        )
    except StartError as error:
        failure = VisitFailed("utility-start", bench.mask.text(str(error)))
        failure.files = _save(bench, visit, stdin, command, None)
        raise failure from error
    files = _save(bench, visit, stdin, command, done)
    _note_cuts(bench, visit, done)
    try:
        _refuse_failure(bench, bench.mask.text(shown(command)), utility, done)
        return _output(bench, visit, _text(bench, visit, done, limit), files)
    except VisitFailed as failure:
        failure.files = files
        raise


def _note_cuts(bench: Bench, visit: Visit, done: Completed) -> None:
    """Say in the journal what was not kept: of stdout the end, of stderr the beginning."""
    streams = (("stdout", done.stdout, done.stdout_bytes), ("stderr", done.stderr, done.stderr_bytes))
    for stream, kept, came in streams:
        if len(kept) < came:
            whole = len(kept.decode("utf-8", "ignore").encode()) if stream == "stdout" else len(kept)
            cut = {"of": stream, "bytes": came, "kept": whole}
            bench.journal.append("output_cut", **visit.place(), **cut, sync=False)


def _output(bench: Bench, visit: Visit, text: str, files: list[Json]) -> Output:
    files.append(bench.folder.output(*visit.id, text, ".md").as_data())
    if visit.socket.parse == "text":
        return Output(text, files=files)
    accepted, problems = read(text, contract.contract_of(bench.program, visit.socket), bench.mask)
    if accepted is None:
        raise VisitFailed("output", f"the output was refused: {'; '.join(problems)}")
    return Output(text, accepted, [*files, save(bench, visit, accepted)])


def shown(command: list[str]) -> str:
    """A command as messages name it."""
    text = json.dumps(command, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:199]}…"


def _command(utility: Utility) -> list[str]:
    if utility.missing is not None:
        raise VisitFailed("utility-start", f"there is no built-in '{utility.missing}' in this version")
    return builtin_command(utility.builtin) if utility.builtin is not None else list(utility.command)


def _stdin(bench: Bench, visit: Visit, state: Json, cursors: Json, cursor: int | None) -> Json:
    item, utility = visit.item, visit.materia.utility
    params = utility.params if utility else None
    stream = {} if bench.stream is None else {"stream": bench.stream}
    return {
        "cwd": str(bench.cwd),
        "runDir": str(bench.folder.root),
        "request": bench.request,
        "castId": bench.cast_id,
        "socketId": visit.socket.id,
        "materiaId": visit.materia.name,
        "materiaLabel": visit.materia.label,
        "params": params or {},
        "state": state,
        "item": item.value if item else None,
        "itemKey": item.key if item else None,
        "itemLabel": item.label if item else None,
        "cursor": cursor,
        "cursors": cursors,
        **stream,
    }


def _environment(bench: Bench, utility: Utility) -> dict[str, str]:
    listed: Any = (utility.params or {}).get("env")
    allowed = [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []
    return {**clean(bench.environ, allowed), "PWD": str(bench.cwd)}


def _save(bench: Bench, visit: Visit, stdin: Json, command: list[str], done: Completed | None) -> list[Json]:
    """Keep what went in and what came out: raw bytes where they are no text."""
    what = {
        "command": command,
        "cwd": str(bench.cwd),
        "timeoutMs": visit.materia.utility.timeout_ms if visit.materia.utility else None,
        "code": done.code if done else None,
        "signal": done.signal if done else None,
        "timedOut": done.timed_out if done else False,
        "seconds": round(done.seconds, 6) if done else None,
        "stdoutBytes": done.stdout_bytes if done else 0,
        "stderrBytes": done.stderr_bytes if done else 0,
    }
    kept: list[tuple[str, str | bytes]] = [
        (".stdin.json", json.dumps(bench.mask.data(stdin), ensure_ascii=False, indent=2) + "\n"),
        (".command.json", json.dumps(bench.mask.data(what), ensure_ascii=False, indent=2) + "\n"),
    ]
    if done is not None:
        kept += [(".stdout.txt", _masked(bench, done.stdout)), (".stderr.txt", _masked(bench, done.stderr))]
    output = bench.folder.output
    return [output(*visit.id, part, suffix).as_data() for suffix, part in kept]


def _masked(bench: Bench, raw: bytes) -> str | bytes:
    try:
        return bench.mask.text(raw.decode())
    except UnicodeDecodeError:
        return bench.mask.text(raw.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _refuse_failure(bench: Bench, command: str, utility: Utility, done: Completed) -> None:
    if done.timed_out:
        limit = utility.timeout_ms
        raise VisitFailed("utility-timeout", f"{command} was not done within its {limit} ms, and was ended")
    if done.code != 0:
        how = (
            f"ended with code {done.code}" if done.code is not None else f"was ended by signal {done.signal}"
        )
        said = bench.mask.text(done.stderr.decode("utf-8", "replace").strip())[-MAX_STDERR_SHOWN:]
        raise VisitFailed("utility-exit", f"{command} {how}" + (f": {said}" if said else ""))


def _text(bench: Bench, visit: Visit, done: Completed, limit: int) -> str:
    """What was written to stdout; over the limit it is cut at a character, for a socket that reads text."""
    cut = done.stdout_bytes > limit
    if cut and visit.socket.parse == "json":
        raise VisitFailed("output-limit", f"the output has {done.stdout_bytes} bytes, {limit} are allowed")
    try:
        text = _decoded(done.stdout, cut=cut)
    except UnicodeDecodeError as error:
        raise VisitFailed(
            "output", f"the output is no UTF-8 text: {error.reason} at byte {error.start}"
        ) from error
    return bench.mask.text(text)


def _decoded(raw: bytes, *, cut: bool) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        if cut and error.reason == "unexpected end of data":
            return raw[: error.start].decode()
        raise
