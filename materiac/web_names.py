"""What an address, a header, a variable and a pattern of event types may look like."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OF_HTTP: Final = frozenset({"host", "content-length", "transfer-encoding", "connection"})
_PART: Final = r"(?:\*\*|(?:[\w-]|\*(?!\*))+)"
_PATTERN: Final = re.compile(rf"{_PART}(?:\.{_PART})*")


def is_url(text: str) -> bool:
    """Whether a text is an absolute address of HTTP or HTTPS."""
    try:
        parts = urlsplit(text)
        named = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    plain = text.isprintable() and " " not in text and "\\" not in text
    return plain and named and parts.scheme in ("http", "https")


def is_variable(text: str) -> bool:
    """Whether a variable of the environment can have this name."""
    return _VARIABLE.fullmatch(text) is not None


def is_header(text: str) -> bool:
    """Whether a text is the name of a header, and of none that HTTP sets itself."""
    return _HEADER.fullmatch(text) is not None and text.lower() not in _OF_HTTP


def is_type_pattern(text: str) -> bool:
    """Whether a text is names with dots between them; `*` is any part of one, `**` any number of them."""
    return _PATTERN.fullmatch(text) is not None
