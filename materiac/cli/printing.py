"""Printing tables and JSON: for a terminal, or for whatever reads a pipe."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Sequence
from typing import Any

from materiac.cli.screen import is_terminal
from materiac.cli.wording import one_line


def print_json(value: Any) -> None:
    """Print a JSON value; what a terminal could take for a command to itself is escaped there."""
    print(json.dumps(value, ensure_ascii=sys.stdout.isatty(), indent=2))


def print_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Collection[str] = (),
    tight: Collection[str] = (),
) -> None:
    """Print rows under headings: as wide as a terminal is, where columns that are `tight` give way first.

    In a pipe nothing gives way.
    """
    safe = [[one_line(cell) for cell in row] for row in rows]
    if is_terminal(sys.stdout):
        _on_terminal(headings, safe, right, tight)
    else:
        _plain(headings, safe, right)


def _on_terminal(
    headings: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[str], tight: Collection[str]
) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(
            heading,
            justify="right" if heading in right else "left",
            no_wrap=True,
            overflow="ellipsis",
            ratio=1 if heading in tight else None,
        )
    for row in rows:
        table.add_row(*map(Text, row))
    Console(highlight=False).print(table)


def _plain(headings: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[str]) -> None:
    from materiac.report.excerpt import width

    listed = [list(headings), *rows]
    widths = [max(width(row[index]) for row in listed) for index in range(len(headings))]
    for row in listed:
        cells = []
        for heading, cell, wide in zip(headings, row, widths, strict=True):
            pad = " " * (wide - width(cell))
            cells.append(pad + cell if heading in right else cell + pad)
        print("  ".join(cells).rstrip())
