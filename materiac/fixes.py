"""Fixes that are proposed in more than one place, or that take some choosing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Final

from materiac.diagnostic import Fix, Insertion, Removal, Replacement
from materiac.names import nearest
from materiac.source import Pointer

FEW: Final = 3
"""How often an edge may be taken where nobody has said so."""

_LEAST: Final = re.compile(r"a whole number of at least ([0-9]+)")
_NUMBER: Final = re.compile(r"\s*(-?[0-9]+(?:\.[0-9]+)?)\s*")


def renamed(wrong: str, known: Iterable[str], at: Pointer) -> Fix | None:
    """The nearest known name in the place of a wrong one, if one is near."""
    near = nearest(wrong, known)
    return Fix(f"write '{near}'", (Replacement(at, near),)) if near is not None else None


def bounded(edge: Pointer) -> Fix:
    """A budget for an edge."""
    return Fix(f"let the edge be taken {FEW} times at most", (Insertion(edge, FEW, "maxTraversals"),))


def limit(value: Any, expected: str, at: Pointer) -> Fix | None:
    """The nearest number that may stand where a limit has none; a limit that nothing is near to goes."""
    number = _number(value)
    if isinstance(value, bool) or (number is None and value is not None):
        return None
    near = _nearest_number(number, expected, str(at[-1])) if number is not None else None
    if near is None:
        return Fix(f"remove '{at[-1]}'", (Removal(at),))
    return Fix(f"write {json.dumps(near)}", (Replacement(at, near),))


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        match = _NUMBER.fullmatch(value)
        value = json.loads(match[1]) if match is not None and not _is_octal(match[1]) else None
    return value if isinstance(value, int | float) else None


def _is_octal(number: str) -> bool:
    digits = number.lstrip("-")
    return digits.startswith("0") and digits[1:2].isdigit()


def _nearest_number(number: float, expected: str, key: str) -> float | None:
    least = _LEAST.fullmatch(expected)
    if least is not None:
        lowest = int(least[1])
        # A time of 1 ms is what nobody means.
        return None if number < lowest and key.endswith("Ms") else max(int(number), lowest)
    if "at most 100" in expected and number > 100:
        return 100
    if expected == "a number of at least 0":
        return max(number, 0)
    return number if number > 0 else None
