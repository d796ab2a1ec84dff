"""Printing tables and JSON: for a terminal, or for whatever reads a pipe."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Sequence
from typing import Any, Final, Literal

from materiac.cli.screen import is_terminal
from materiac.cli.wording import one_line

_BETWEEN: Final = 2
"""The spaces between two columns."""
_LEAST: Final = 12
"""What is left of a column that gives way."""


def print_json(value: Any) -> None:
    """Print a JSON value; what a terminal could take for a command to itself is escaped there."""
    print(json.dumps(value, ensure_ascii=sys.stdout.isatty(), indent=2))


def print_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Collection[str],
    tight: Sequence[str],
) -> None:
    """Print rows under headings. On a terminal the columns that are `tight` give way, one after the other."""
    safe = [[one_line(cell) for cell in row] for row in rows]
    if is_terminal(sys.stdout):
        _on_terminal(headings, safe, right, tight)
    else:
        _plain(headings, safe, right)


def _on_terminal(
    headings: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[str], tight: Sequence[str]
) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    widths = dict(zip(headings, _widths([headings, *rows]), strict=True))
    console.width = _narrowed(widths, console.width, tight)
    for heading, wide in widths.items():
        align: Literal["left", "right"] = "right" if heading in right else "left"
        table.add_column(heading, justify=align, no_wrap=True, overflow="ellipsis", width=wide)
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)


def _narrowed(widths: dict[str, int], room: int, tight: Sequence[str]) -> int:
    """Take from the columns that may give way what is too much; gives the width that is needed then."""
    total = sum(widths.values()) + _BETWEEN * (len(widths) - 1)
    for heading in tight:
        given = max(0, min(total - room, widths[heading] - _LEAST))
        widths[heading] -= given
        total -= given
    return max(room, total)


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    from materiac.report.excerpt import width

    return [max(map(width, column)) for column in zip(*rows, strict=True)]


def _plain(headings: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[str]) -> None:
    from materiac.report.excerpt import width

    widths = _widths([headings, *rows])
    for row in (headings, *rows):
        cells = []
        for heading, cell, wide in zip(headings, row, widths, strict=True):
            pad = " " * (wide - width(cell))
            cells.append(pad + cell if heading in right else cell + pad)
        print("  ".join(cells).rstrip())
