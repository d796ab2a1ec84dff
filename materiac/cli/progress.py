"""What a person sees while a cast runs: a live view on a terminal, lines elsewhere, on standard error.

The cast only hands its records over. A thread of its own turns them into words and writes them, so that
a terminal that stands still, or a reader that does not read, holds up nothing but what is shown.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Final, Self

from materiac import __version__
from materiac.agents.protocol import Progress as Part
from materiac.cli.loading import Loaded
from materiac.cli.news import Doing, Note, Teller
from materiac.cli.screen import Lines, Nowhere, Screen, is_terminal, standard_error
from materiac.cli.wording import clipped, count, one_line
from materiac.runtime.chronicle import RESTARTED, STARTED
from materiac.runtime.journal import Record

_TICK_S: Final = 0.25
"""How long the view is left as it is when nothing happens."""
_DOING: Final = 200
"""How many characters are kept of what an agent says while it works."""
_PATIENCE_S: Final = 2.0
"""How long the end of a cast waits for a screen that takes nothing."""
_HASH_DIGITS: Final = 12
_BUNDLED: Final = "bundled:"
_BEGINNINGS: Final = ("cast_started", "cast_resumed")
_PERSON: Final = "ask"
"""The agent that is a person, who asks and reads at the same terminal: a live view would be in the way."""


class Progress:
    """A watcher of a cast; a context, in which it may be shown. With `quiet` it shows nothing."""

    def __init__(self, loaded: Loaded, *, quiet: bool) -> None:
        self._loaded = loaded
        stream = None if quiet else standard_error()
        self._stream = stream
        self._screen: Screen = Nowhere() if stream is None else Lines(stream)
        self._teller = Teller(loaded.image.program)
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._heard: dict[str | None, str] = {}
        self._done = 0
        self._over = False
        self._thread = threading.Thread(target=self._work, name="progress", daemon=True)

    def __enter__(self) -> Self:
        if self._stream is not None:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._hand(self._end)
        done = -1
        while self._thread.is_alive() and done != self._done:
            done = self._done
            self._thread.join(_PATIENCE_S)

    def begin(self, artifacts: Path) -> None:
        """Say what is going to run, and where its files will be."""
        program = self._loaded.image.program
        head = [
            f"materiac   {__version__}",
            f"loadout    {one_line(program.name)}, hash {program.digest()[:_HASH_DIGITS]}",
            f"read       {_files(self._loaded.files)}",
            f"artifacts  {one_line(str(artifacts))}",
        ]
        self._hand(lambda: self._screen.take(Note("\n".join(head))))

    def recall(self, records: Sequence[Record]) -> None:
        """Take what was there before this process: it counts, and is not told again."""

        def take() -> None:
            for record in records:
                for _ in self._teller.tell(record, time.monotonic()):
                    pass

        self._hand(take)

    def __call__(self, record: Record) -> None:
        """Take a record of the journal."""
        at = time.monotonic()
        self._hand(lambda: self._take(record, at))

    def hear(self, stream: str | None, part: Part) -> None:
        """Take what an agent does in a turn, from whichever thread it comes."""
        before = self._heard.get(stream, "") if part.kind == "text" else ""
        text = f"{before}{part.text}" if part.kind in ("text", "note") else f"{part.kind}: {part.text}"
        self._heard[stream] = text[-_DOING:]

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """While this lasts nothing is written, so that a person can type."""
        away, back = threading.Event(), threading.Event()

        def pause() -> None:
            try:
                self._screen.close()
            finally:
                away.set()
            back.wait()

        try:
            if self._thread.is_alive():
                self._hand(pause)
                away.wait()
            yield
        finally:
            back.set()

    def _hand(self, job: Callable[[], None]) -> None:
        if self._stream is not None:
            self._jobs.put(job)

    # What the thread does

    def _work(self) -> None:
        while not self._over:
            with contextlib.suppress(Empty):
                self._try(self._jobs.get(timeout=_TICK_S))
            self._try(self._show_doing)
            self._try(self._screen.refresh)

    def _show_doing(self) -> None:
        for stream, text in list(self._heard.items()):
            said = [line for line in text.splitlines() if line.strip()]
            self._screen.take(Doing(stream, clipped(said[-1], _DOING) if said else ""))

    def _try(self, job: Callable[[], None]) -> None:
        try:
            job()
        except Exception:  # noqa: BLE001 - a screen that is gone, or cannot show this, ends no cast
            self._screen = Nowhere()
        self._done += 1

    def _take(self, record: Record, at: float) -> None:
        if record.type in _BEGINNINGS:
            self._open(str(record.fields["agent"]), at)
        if record.type in (STARTED, RESTARTED):
            self._heard.pop(record.fields.get("stream"), None)
        for news in self._teller.tell(record, at):
            self._screen.take(news)

    def _open(self, agent: str, at: float) -> None:
        """Go over to the live view, where there can be one."""
        if self._stream is not None and not _asks_person(agent) and is_terminal(self._stream):
            from materiac.cli.live_view import LiveView

            self._screen = LiveView(self._stream, at)

    def _end(self) -> None:
        self._over = True
        self._screen.close()
        self._screen = Nowhere()


def _asks_person(agent: str) -> bool:
    from materiac.agents.protocol import AgentError
    from materiac.agents.several import specs_in

    with contextlib.suppress(AgentError):  # one that was cut or masked
        return _PERSON in specs_in(agent)
    return False


def _files(files: tuple[str, ...]) -> str:
    """The files that were read, lowest first; those that ship with the package in one word."""
    own = [one_line(file) for file in files if not file.startswith(_BUNDLED)]
    bundled = len(files) - len(own)
    return ", ".join([f"{count(bundled, 'bundled file')}", *own] if bundled else own) or "nothing"
