"""What the words of a provider's failure mean, as Pi hands them on."""

from __future__ import annotations

import re
from typing import Final

from materiac.agents.protocol import Fault

_CONTEXT: Final = (
    r"context.{0,20}(length|window|size)|(prompt|input).{0,30}(too long|exceeds)|request_too_large"
    r"|reduce the length of the messages|maximum prompt length|too many tokens|token limit|^413\b"
)
_TRANSPORT: Final = (
    r"^5\d\d\b|overloaded|unavailable|server.?error|internal error|terminated|other side closed|connect"
    r"|socket|network|timed? ?out|fetch failed|stream (ended|closed)|premature|ECONN|ENOTFOUND|EAI_AGAIN"
)
_MEANINGS: Final[tuple[tuple[Fault, str], ...]] = (
    ("provider", r"insufficient_quota|billing|credit balance|^40[1-4]\b"),
    ("rate", r"^429\b|rate.?limit|too many requests|throttl"),
    ("context", _CONTEXT),
    ("provider", r"^4(?!08|25)\d\d\b"),
    ("transport", _TRANSPORT),
)
"""In the order in which they are looked for."""
_WAIT: Final = re.compile(r"(?:retry|try again)(?: after| in)?:? ([\d.]+) ?(ms|m(?:in)?)?", re.IGNORECASE)
_SECONDS: Final = {"ms": 0.001, "m": 60.0, "min": 60.0}


def fault_of(message: str) -> Fault:
    """What an error came from."""
    found = (fault for fault, words in _MEANINGS if re.search(words, message, re.IGNORECASE))
    return next(found, "provider")


def retry_after(message: str) -> float | None:
    """How many seconds a message says to wait, where it does."""
    match = _WAIT.search(message)
    try:
        return float(match[1].rstrip(".")) * _SECONDS.get(match[2] or "", 1.0) if match else None
    except ValueError:
        return None
