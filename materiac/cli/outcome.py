"""What a person sees at the end of a cast: what came of it, the way it took, what it used, its files."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from materiac.cli.screen import is_terminal
from materiac.cli.wording import clipped, cost, count, duration, item, lines, one_line, used
from materiac.runtime.run import Result

Json = dict[str, Any]

_STYLES: Final = {"complete": "bold green", "failed": "bold red"}
_PIPE_WIDTH: Final = 200
"""The columns of a table where there is no terminal that says how many it has."""
_LABEL: Final = 11
_ANSWER_LINES: Final = 12
_LEGS: Final = (9, 2)
"""How many legs of a way are shown at its start and at its end; the same for the visits of a leg."""
_ROWS: Final = 20
"""How many rows a table of usage has at most."""
_NAME: Final = 40


def show(result: Result) -> None:
    """Print what came of a cast to standard output. Raises `OSError` where that takes nothing any more."""
    if sys.stdout is not None:
        encoding = sys.stdout.encoding or "utf-8"
        text = page(result, on_terminal=is_terminal(sys.stdout))
        sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))


def page(result: Result, *, on_terminal: bool) -> str:
    """What `show` prints: for a terminal wrapped and coloured, else plain."""
    page = _Page(on_terminal=on_terminal)
    page.line(result.status, _what(result), _STYLES.get(result.status, "bold yellow"))
    page.lines("answer", _answer(result))
    page.lines("path", list(way(result.cast.path, result.cast.items)))
    _show_usage(page, result.usage)
    page.line("took", duration(result.seconds))
    page.line("files", one_line(str(result.folder)))
    return page.text()


class _Page:
    """Text in the making; a line for a terminal is wrapped between words, any other is left whole."""

    def __init__(self, *, on_terminal: bool) -> None:
        self._file = io.StringIO()
        width = None if on_terminal else _PIPE_WIDTH
        self._console = Console(file=self._file, force_terminal=on_terminal, width=width, highlight=False)

    def text(self) -> str:
        """All of it, so far."""
        return self._file.getvalue()

    def line(self, label: str, text: str, style: str = "") -> None:
        """A label and a text beside it."""
        if not self._console.is_terminal:
            self._console.print(Text(f"{label:<{_LABEL}}{text}"), soft_wrap=True)
            return
        grid = Table.grid()
        grid.add_column(width=_LABEL, no_wrap=True)
        grid.add_column(overflow="fold")
        grid.add_row(Text(label, style), Text(text))
        self._console.print(grid)

    def lines(self, label: str, texts: Sequence[str]) -> None:
        """Several texts, one below the other, with a label before the first."""
        for index, text in enumerate(texts):
            self.line("" if index else label, text)

    def gap(self) -> None:
        """An empty line."""
        self._console.print()

    def table(self, table: Table) -> None:
        """A table with an empty line above it."""
        self._console.print()
        self._console.print(table)


def _what(result: Result) -> str:
    cast = result.cast
    if result.status == "failed" and cast.failure is not None:
        return _failure(cast.failure)
    if result.status == "waiting":
        return one_line(cast.waits.message if cast.waits else "for a person")
    if not cast.path:
        return "before the first visit"
    last = _place(cast.path[-1], cast.items[-1])
    return f"at {last}" if result.status == "stopped" else f"after {count(len(cast.path), 'visit')}"


def _failure(failure: Json) -> str:
    visit = f", visit {failure['visit']}" if failure["visit"] is not None else ""
    where = f" at {_place(failure['socket'], failure['item'])}{visit}" if failure["socket"] else ""
    return f"{failure['kind']}{where}: {one_line(failure['message'])}"


def _place(socket: str, key: str | None) -> str:
    return f"'{one_line(socket)}'" + (f", {one_line(key)}" if key is not None else "")


def _answer(result: Result) -> list[str]:
    """What a person is asked about; or the beginning of the last output, where that is a text."""
    cast = result.cast
    if cast.waits is not None and cast.waits.answer is not None:
        return lines(cast.waits.answer)
    last = cast.program.sockets[cast.path[-1]] if cast.path else None
    if result.status != "complete" or last is None or last.parse != "text":
        return []
    found = lines(cast.knowledge.last_output or "")
    more = len(found) - _ANSWER_LINES
    return [*found[:_ANSWER_LINES], f"… {count(more, 'more line')}"] if more > 0 else found


# The way


@dataclass(frozen=True, slots=True)
class _Leg:
    """Visits in a row that have the same item, or none, or the same steps for each of some items."""

    sockets: tuple[str, ...]
    first: str | None
    last: str | None
    items: int

    def __str__(self) -> str:
        steps = " → ".join(_middle_left_out([one_line(socket) for socket in self.sockets], "visit"))
        if self.first is None:
            return steps
        keys = one_line(self.first) + (f" to {one_line(self.last or '')}" if self.items > 1 else "")
        return f"{steps} ({keys})"


def way(path: Sequence[str], items: Sequence[str | None]) -> list[str]:
    """The visits of a cast, a leg a line; the middle of a long way is left out."""
    return _middle_left_out([str(leg) for leg in _legs(path, items)], "leg")


def _legs(path: Sequence[str], items: Sequence[str | None]) -> Iterator[_Leg]:
    leg: _Leg | None = None
    for key, visits in groupby(zip(path, items, strict=True), key=lambda visit: visit[1]):
        sockets = tuple(socket for socket, _ in visits)
        if leg is not None and key is not None and leg.first is not None and leg.sockets == sockets:
            leg = _Leg(sockets, leg.first, key, leg.items + 1)
            continue
        if leg is not None:
            yield leg
        leg = _Leg(sockets, key, key, 1)
    if leg is not None:
        yield leg


def _middle_left_out(parts: list[str], what: str) -> list[str]:
    head, tail = _LEGS
    more = len(parts) - head - tail
    return [*parts[:head], f"… {count(more, f'more {what}')} …", *parts[-tail:]] if more > 1 else parts


# What was used


def _show_usage(page: _Page, usage: Json) -> None:
    total = usage["total"]
    if not total["turns"]:
        return
    page.line("usage", used(total))
    if total["unknown"] == total["turns"]:
        return
    labels = {turn["itemKey"]: item(turn["itemKey"], turn["itemLabel"]) for turn in usage["turns"]}
    for title, part, names in (
        ("by materia", usage["byMateria"], {}),
        ("by socket", usage["bySocket"], {}),
        ("by item", usage["byItem"], labels),
    ):
        if part:
            page.table(_table(title, part, names))
    page.gap()


def _table(title: str, part: dict[str, Json], names: dict[str, str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(title, min_width=_NAME, max_width=_NAME, no_wrap=True, overflow="ellipsis")
    for heading in ("turns", "in", "out", "cost"):
        table.add_column(heading, justify="right", no_wrap=True, min_width=8 if heading != "turns" else 5)
    for name, total in list(part.items())[:_ROWS]:
        numbers = (f"{total[key]:,}" for key in ("turns", "input", "output"))
        table.add_row(Text(clipped(names.get(name, name))), *numbers, cost(total["cost"]))
    if len(part) > _ROWS:
        table.add_row(Text(f"… {len(part) - _ROWS:,} more in usage.json"))
    return table
