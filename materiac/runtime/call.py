"""A visit of a utility: the command, its streams, its limits."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final

from materiac.environment import Mask, clean
from materiac.process import Completed, StartError, run
from materiac.program import Utility
from materiac.runtime import contract
from materiac.runtime.ask import read, save
from materiac.runtime.bench import Bench
from materiac.runtime.chronicle import COMMAND
from materiac.runtime.journal import Record
from materiac.runtime.visit import Json, Output, Visit, VisitFailed, VisitWaits
from materiac.utilities import builtin_command

MAX_BYTES: Final = 1024 * 1024
MAX_STDERR_SHOWN: Final = 600


def call(bench: Bench, visit: Visit, state: Json, cursors: Json, cursor: int | None) -> Output:
    """Run the utility of a socket. Raises `VisitFailed`."""
    utility = visit.materia.utility
    if utility is None:
        raise TypeError(f"'{visit.materia.name}' is no utility")
    stdin = _stdin(bench, visit, state, cursors, cursor)
    limit = visit.socket.max_output_bytes or MAX_BYTES
    told = bench.journal.take(COMMAND)
    done = _told(bench, told, stdin) if told is not None else _run(bench, visit, utility, stdin, limit)
    _note_cuts(bench, visit, done)
    _refuse_failure(bench, utility, done)
    return _output(bench, visit, _text(bench, visit, done, limit))


def _told(bench: Bench, told: Record, stdin: Json) -> Completed:
    """What a command has come to before."""
    files = {file["kind"]: file for file in told.fields["files"]}
    if bench.journal.strict:
        bench.folder.hold(files["stdin"], _readable(bench, stdin))
    out, err = (bench.folder.content(files[name]) for name in ("stdout", "stderr"))
    fields = told.fields
    return Completed(
        out, err, fields["stdoutBytes"], fields["stderrBytes"], fields["code"], fields["signal"],
        fields["timedOut"], fields["seconds"],
    )  # fmt: skip


def _run(bench: Bench, visit: Visit, utility: Utility, stdin: Json, limit: int) -> Completed:
    _refuse_uncertain(bench, visit, utility)
    command = _command(utility)
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
            owner=bench.cast_id,
        )
    except StartError as error:
        failure = VisitFailed("utility-start", bench.mask.text(str(error)))
        failure.files = _save(bench, visit, stdin, command, None)
        raise failure from error
    done = _masked(bench.mask, done)
    _record(bench, visit, done, _save(bench, visit, stdin, command, done))
    return done


def _refuse_uncertain(bench: Bench, visit: Visit, utility: Utility) -> None:
    """A command that was started before the cast went on may have run: it does not run again by itself."""
    crossed = bench.journal.crossed
    harmless = utility.idempotent or utility.builtin is not None
    if crossed is not None and not harmless and not crossed.fields["rerun"]:
        command = shown(bench.mask.data(_command(utility)))
        raise VisitWaits(
            f"{command} of '{visit.socket.id}', visit {visit.number}, had been started when the cast was "
            "interrupted, and may have run: it runs again only with --rerun, or if its materia is idempotent",
            "uncertain",
        )


def _record(bench: Bench, visit: Visit, done: Completed, files: list[Json]) -> None:
    bench.journal.append(
        COMMAND,
        sync=False,
        **visit.place(),
        code=done.code,
        signal=done.signal,
        timedOut=done.timed_out,
        seconds=round(done.seconds, 6),
        stdoutBytes=done.stdout_bytes,
        stderrBytes=done.stderr_bytes,
        files=files,
    )


def _note_cuts(bench: Bench, visit: Visit, done: Completed) -> None:
    """Say in the journal what was not kept: of stdout the end, of stderr the beginning."""
    streams = (("stdout", done.stdout, done.stdout_bytes), ("stderr", done.stderr, done.stderr_bytes))
    for stream, kept, came in streams:
        if len(kept) < came:
            whole = len(kept.decode("utf-8", "ignore").encode()) if stream == "stdout" else len(kept)
            cut = {"of": stream, "bytes": came, "kept": whole}
            bench.journal.append("output_cut", **visit.place(), **cut, sync=False)


def _output(bench: Bench, visit: Visit, text: str) -> Output:
    files = [bench.files.output(*visit.id, text, ".md").as_data()]
    if visit.socket.parse == "text":
        return Output(text, files=files)
    accepted, problems = read(text, contract.contract_of(bench.program, visit.socket), bench.mask)
    if accepted is None:
        failure = VisitFailed("output", f"the output was refused: {'; '.join(problems)}")
        failure.files = files
        raise failure
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
        (".stdin.json", _readable(bench, stdin)),
        (".command.json", _readable(bench, what)),
    ]
    if done is not None:
        kept += [(".stdout.txt", done.stdout), (".stderr.txt", done.stderr)]
    output = bench.folder.output
    return [output(*visit.id, part, suffix).as_data() for suffix, part in kept]


def _readable(bench: Bench, value: Json) -> str:
    return json.dumps(bench.mask.data(value), ensure_ascii=False, indent=2) + "\n"


def _masked(mask: Mask, done: Completed) -> Completed:
    """What came of a command without secrets; of stdout the beginning is kept, of stderr the end."""

    def cut(raw: bytes, *, start: bool, end: bool) -> bytes:
        text = mask.cut(raw.decode("utf-8", "surrogateescape"), start=start, end=end)
        return text.encode("utf-8", "surrogateescape")

    out = cut(done.stdout, start=False, end=done.stdout_bytes > len(done.stdout))
    err = cut(done.stderr, start=done.stderr_bytes > len(done.stderr), end=False)
    return replace(done, stdout=out, stderr=err)


def _refuse_failure(bench: Bench, utility: Utility, done: Completed) -> None:
    command = shown(bench.mask.data(_command(utility)))
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
