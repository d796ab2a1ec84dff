"""A cast of `materiac acp`, in a process of its own: `python -m materiac.cli.acp_cast`.

It reads one line, the job: `{"words": ["run", …], "text": …, "session": …}`, with the words as they would
be typed behind `materiac` and the text that does not fit into a command line. It writes a line of JSON for
all that happens: `{"artifacts": …}`, `{"record": …}`, `{"heard": …}`. The cast stops when the input ends,
so that none outlives whoever started it. What it complains about is on standard error; the exit code is
that of the command.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import io
import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NoReturn, Self

from materiac.cli import own_fault, resume, run

if TYPE_CHECKING:
    from materiac.agents.protocol import Progress
    from materiac.cli.loading import Loaded
    from materiac.runtime.journal import Record

Json = dict[str, Any]

_PATIENCE_S: Final = 2.0
"""How long the end waits for somebody who reads no more."""


def main() -> int:
    """Do the job of the first line."""
    try:
        job = json.loads(sys.stdin.buffer.readline())
        out = os.fdopen(os.dup(1), "wb", buffering=0)
        # Nothing else may write between the lines; what a command prints at its end is in them already.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        threading.Thread(target=_until_the_input_ends, name="lifeline", daemon=True).start()
        with _Lines(out) as lines, contextlib.redirect_stdout(io.StringIO()):
            return _COMMANDS[job["words"][0]](job, lines)
    except KeyboardInterrupt:
        return run.WAITING
    except SystemExit as end:  # of words that are no options
        return int(end.code or 0)
    except Exception as fault:  # noqa: BLE001 (no traceback reaches a user)
        return own_fault(fault)


def _until_the_input_ends() -> None:
    while os.read(0, 1):  # not of `sys.stdin`, whose lock would be held at the exit
        pass
    os.kill(os.getpid(), signal.SIGINT)


class _Lines:
    """Writes what happens, in a thread of its own: a cast does not wait for whoever reads it."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._queue: SimpleQueue[Json | None] = SimpleQueue()
        self._written = 0
        self._thread = threading.Thread(target=self._write, name="lines", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._queue.put(None)
        before = -1
        while self._thread.is_alive() and before != self._written:
            before = self._written
            self._thread.join(_PATIENCE_S)

    def begin(self, artifacts: Path) -> None:
        """Say where the files of the cast will be."""
        self._queue.put({"artifacts": str(artifacts)})

    def __call__(self, record: Record) -> None:
        """Hand on a record of the journal."""
        self._queue.put({"record": {"n": record.n, "at": record.at, "type": record.type, **record.fields}})

    def hear(self, stream: str | None, part: Progress) -> None:
        """Hand on what an agent does."""
        self._queue.put({"heard": {"stream": stream, "kind": part.kind, "text": part.text}})

    def _write(self) -> None:
        with contextlib.suppress(OSError):  # nobody reads any more
            while (line := self._queue.get()) is not None:
                self._out.write(json.dumps(line).encode() + b"\n")
                self._written += 1


def _run(job: Json, lines: _Lines) -> int:
    from materiac.cli import loading, reading

    options = _parsed(run.add_arguments, [*job["words"][1:], "--no-interactive", f"--request={job['text']}"])
    how = reading.reading(options)

    def load() -> Loaded | None:
        loaded = loading.load_or_report(options.file, options.loadout, how)
        if loaded is None:
            return None
        return dataclasses.replace(loaded, source={**(loaded.source or {}), "session": job["session"]})

    return run.cast(options, load, onlooker=lines)


def _resume(job: Json, lines: _Lines) -> int:
    options = _parsed(resume.add_arguments, [*job["words"][1:], "--no-interactive"])
    return resume.go_on(options, resume.allowed(options), talks=False, onlooker=lines)


def _say(job: Json, lines: _Lines) -> int:
    """The words of a person; without any the talk ends."""
    from materiac.cli.continue_ import add_arguments
    from materiac.cli.say import Once
    from materiac.runtime.resume import Allowed

    options = _parsed(add_arguments, job["words"][1:])
    change = Allowed(change=options.accept_change)
    return resume.go_on(options, change, talks=False, words=Once(job["text"]), onlooker=lines)


_COMMANDS: Final[dict[str, Callable[[Json, _Lines], int]]] = {"run": _run, "resume": _resume, "say": _say}


class _Parser(argparse.ArgumentParser):
    """A parser that complains in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(run.NOT_STARTED, f"materiac: {message}\n")


def _parsed(add_arguments: Callable[[argparse.ArgumentParser], None], words: list[str]) -> argparse.Namespace:
    parser = _Parser(prog="", add_help=False)
    add_arguments(parser)
    return parser.parse_args([*words, "--json"])


if __name__ == "__main__":
    sys.exit(main())
