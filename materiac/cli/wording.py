"""How names, times and amounts are written for a person."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from materiac.report.excerpt import safe

LABEL: Final = 60
"""The most characters that are shown of the label of an item."""


def one_line(text: str) -> str:
    """A text in one line that does nothing to a terminal; runs of white space become a space."""
    return safe(" ".join(text.split()))


def lines(text: str) -> list[str]:
    """The lines of a text with their indents, each of which does nothing to a terminal."""
    return [safe(line.expandtabs(4)).rstrip() for line in text.strip().splitlines()]


def clipped(text: str, most: int = LABEL) -> str:
    """The beginning of a text, in one line."""
    line = one_line(text)
    return line if len(line) <= most else f"{line[: most - 1]}…"


def item(key: str | None, label: str | None) -> str:
    """An item, as in `WI-1 'Wash the car'`; the empty text where there is none."""
    if key is None:
        return ""
    name = one_line(key)
    return name if label is None or label == key else f"{name} '{clipped(label)}'"


def duration(seconds: float) -> str:
    """As in `0.4 s`, `12 s`, `1:05` and `2:00:09`."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def clock(seconds: float) -> str:
    """A running time, which changes with each full second, as in `0:04`."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def cost(amount: float | Decimal) -> str:
    """US dollars, as in `$0.0160`."""
    return f"${amount:,.4f}"


def count(number: int, what: str) -> str:
    """As in `1 turn` and `1,200 turns`."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def used(total: Mapping[str, Any]) -> str:
    """What turns have used together, as `usage.json` has a sum of them."""
    if total["unknown"] == total["turns"]:
        return f"unknown: {count(total['turns'], 'turn')}, none of which said what it used"
    spent = (
        f"{count(total['input'] + total['output'], 'token')} ({total['input']:,} in, {total['output']:,} out)"
    )
    unknown = f"; {count(total['unknown'], 'turn')} more did not say" if total["unknown"] else ""
    return f"{count(total['turns'] - total['unknown'], 'turn')}, {spent}, {cost(total['cost'])}{unknown}"


def age(seconds: float) -> str:
    """How long ago something was, in its largest unit, as in `5 s`, `3 min`, `7 h` and `12 d`."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size):,} {unit}"
    return f"{int(seconds)} s"
