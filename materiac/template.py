"""References in double braces: finding them in a text, and filling them in.

The innermost braces count, spaces inside do not matter, `\\{{` writes `{{`, and what is filled in is
not looked at again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from materiac.path import MISSING

_REFERENCE = re.compile(r"\\\{\{|\{\{([^{}]*)\}\}")

WHOLE: Final = frozenset(
    {"request", "state", "item", "lastOutput", "lastJson", "cursor", "stateJson", "itemJson"}
)
"""References that are a word alone."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A name in double braces, without its spaces, and its character offsets in the text."""

    name: str
    start: int
    end: int


def references(text: str) -> Iterator[Reference]:
    """Every text in double braces, known or not, in order."""
    for match in _REFERENCE.finditer(text):
        if match[1] is not None:
            yield Reference(match[1].strip(), match.start(), match.end())


def fill(text: str, look_up: Callable[[str], Any]) -> str:
    """Fill in the references of a text.

    `look_up` gives the value of a name, None for a known name without a value, and `MISSING` for a
    name that means nothing here: such braces stay as they are written.
    """

    def replace(match: re.Match[str]) -> str:
        if match[1] is None:
            return "{{"
        value = look_up(match[1].strip())
        return match[0] if value is MISSING else shown(value)

    return _REFERENCE.sub(replace, text)


def shown(value: Any) -> str:
    """A value as a prompt shows it: strings as they are, None as nothing, the rest as indented JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
