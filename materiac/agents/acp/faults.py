"""What a program's refusal of a prompt means: the protocol has one kind of error for all of them."""

from __future__ import annotations

import re
from typing import Any, Final

from acp import RequestError

from materiac.agents.protocol import Fault

_STATUS: Final = re.compile(
    r"(?<![\w.])(?:HTTP |status(?: code)?:? |API Error: )?([45]\d\d)(?![\w.])", re.IGNORECASE
)
_BY_WORDS: Final[tuple[tuple[Fault, str], ...]] = (
    ("provider", r"insufficient.quota|billing|credit balance|api.?key|unauthorized|authenticat"),
    (
        "context",
        r"context.{0,20}(length|window|size)|(prompt|input).{0,30}(too long|exceeds)|too many tokens",
    ),
    ("rate", r"rate.?limit|too many requests|quota|throttl"),
    (
        "transport",
        r"overloaded|unavailable|server.{0,12}error|connect|socket|network|timed? ?out|fetch failed|ECONN",
    ),
)
"""In the order in which they are looked for."""
_BY_STATUS: Final[dict[int, Fault]] = {408: "transport", 413: "context", 429: "rate"}
_SURE: Final = (401, 402, 403, 404)
_WAIT: Final = re.compile(r"(?:retry|try again)(?: after| in):? ?([\d.]+) ?(ms|m(?:in)?)?", re.IGNORECASE)
_SECONDS: Final = {"ms": 0.001, "m": 60.0, "min": 60.0}
_SHOWN: Final = 2000


def failure(error: RequestError) -> tuple[str, Fault, float | None]:
    """The message of an error, what it came from, and how many seconds to wait where that is said."""
    details = _details(error.data)
    message = str(error) if details is None or details in str(error) else f"{error}: {details}"
    return message[:_SHOWN], _fault(error.code, message), _wait(message)


def _details(data: Any) -> str | None:
    """The innermost text in the data of an error, which programs nest differently."""
    while isinstance(data, dict):
        data = next((data[key] for key in ("details", "message", "error", "detail") if data.get(key)), None)
    return data if isinstance(data, str) else None


def _fault(code: int, message: str) -> Fault:
    status = _status(code, message)
    if status in _SURE:
        return "provider"
    by_words = next((fault for fault, words in _BY_WORDS if re.search(words, message, re.IGNORECASE)), None)
    if status in _BY_STATUS and by_words != "context":
        return _BY_STATUS[status]
    if status is not None and status >= 500:
        return "transport"
    return by_words or "provider"


def _status(code: int, message: str) -> int | None:
    """The status of HTTP that a provider answered with: some programs take it for the code of the error."""
    if 400 <= code < 600:
        return code
    found = _STATUS.search(message)
    return int(found[1]) if found else None


def _wait(message: str) -> float | None:
    match = _WAIT.search(message)
    try:
        return float(match[1].rstrip(".")) * _SECONDS.get(match[2] or "", 1.0) if match else None
    except ValueError:
        return None
