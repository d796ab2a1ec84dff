"""The live view: the last steps of a cast, where it is, and what it has used, drawn again and again."""

from __future__ import annotations

import time
from collections import deque
from typing import Final, TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from materiac.cli.news import Doing, Ended, Finished, News, Note, Spent, Started
from materiac.cli.wording import clock, cost, count, duration
from materiac.runtime.usage import Total

MAX_STEPS: Final = 8
_PAUSE_S: Final = 0.1
"""The least time between two drawings."""
_OTHER_ROWS: Final = 4
"""Rows for the present visit, the sums, a warning, and the line that the cursor is on."""

_STYLES: Final = {"plain": "", "warning": "yellow", "failure": "bold red"}


class LiveView:
    """A few rows at the end of the terminal; notes are written above them, to stay."""

    def __init__(self, stream: TextIO, began: float) -> None:
        self._console = Console(file=stream, highlight=False, markup=False, emoji=False)
        self._began = began
        self._steps: deque[Finished] = deque(maxlen=MAX_STEPS)
        self._now: dict[str | None, Started] = {}
        self._doing: dict[str | None, str] = {}
        self._total = Total()
        self._warning: str | None = None
        self._live: Live | None = None
        self._drawn = 0.0

    def take(self, news: News) -> None:
        """Note the news; what is to stay is written at once."""
        match news:
            case Started():
                self._now[news.stream] = news
                self._doing.pop(news.stream, None)
            case Finished():
                self._steps.append(news)
                self._now.pop(news.visit.stream, None)
            case Ended(stream):
                self._now.pop(stream, None)
            case Doing(stream, text):
                self._doing[stream] = text
            case Spent(total):
                self._total = total
            case Note(text, tone):
                self._warning = text if tone == "warning" else self._warning
                self._console.print(Text(text, _STYLES[tone], overflow="fold"))

    def refresh(self) -> None:
        """Draw the view, unless that was done just now."""
        now = time.monotonic()
        if now - self._drawn < _PAUSE_S:
            return
        self._drawn = now
        if self._live is None:
            self._live = Live(
                console=self._console,
                auto_refresh=False,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
                vertical_overflow="crop",
            )
            self._live.start()
        self._live.update(self._picture(now), refresh=True)

    def close(self) -> None:
        """Take the view away; the next refresh brings it back."""
        live, self._live = self._live, None
        self._drawn = 0.0
        if live is not None:
            live.stop()

    def _picture(self, now: float) -> RenderableType:
        rows: list[RenderableType] = [self._path(now), _row(f"  {self._sums(now)}", "dim")]
        if self._warning is not None:
            rows.append(_row(f"! {self._warning}", _STYLES["warning"]))
        return Group(*rows)

    def _path(self, now: float) -> Table:
        table = Table.grid(padding=(0, 1))
        table.add_column(justify="right", no_wrap=True)
        table.add_column(overflow="ellipsis")
        table.add_column(no_wrap=True, overflow="ellipsis")
        most = max(0, min(MAX_STEPS, self._console.height - _OTHER_ROWS))
        running = list(self._now.values())[: most + 1]
        room = max(0, most + 1 - max(1, len(running)))
        for step in list(self._steps)[-room:] if room else ():
            table.add_row(_row(duration(step.seconds)), _row(step.visit.title), _row(step.route))
        for visit in running:
            elapsed = clock(now - visit.at)
            attempt = f"attempt {visit.attempt} " if visit.attempt > 1 else ""
            state = f"{attempt}… {self._doing.get(visit.stream, '')}".rstrip()
            table.add_row(*(_row(part, "bold") for part in (f"> {elapsed}", visit.title, state)))
        return table

    def _sums(self, now: float) -> str:
        total = self._total
        parts = [clock(now - self._began)]
        if total.turns > total.unknown:
            parts.append(f"{count(total.tokens, 'token')} ({total.input:,} in, {total.output:,} out)")
            parts.append(cost(total.cost))
        if total.unknown:
            parts.append(f"{count(total.unknown, 'turn')} of unknown use")
        return " · ".join(parts)


def _row(text: str, style: str = "") -> Text:
    return Text(text, style, no_wrap=True, overflow="ellipsis")
