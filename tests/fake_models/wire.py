"""What the protocols have in common on the wire: events of a stream, pieces of a text, ids."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from fake_models.asked import Asked
from fake_models.script import Answer, Refusal

Json = dict[str, Any]

_PIECES = 4


@dataclass(frozen=True)
class Protocol:
    """How a protocol is read and written. `failure` may be an event of a stream instead of an error."""

    parse: Callable[[str, Json], Asked]
    whole: Callable[[Asked, Answer], Json]
    stream: Callable[[Asked, Answer], Iterator[bytes]]
    error: Callable[[Refusal], Json]


def new_id(prefix: str) -> str:
    """An id that no other message and no other call has: programs loop where two are the same."""
    return f"{prefix}{uuid.uuid4().hex[:24]}"


def event(data: Json, name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def pieces(text: str) -> Iterator[str]:
    """A text in a few pieces, none of them empty."""
    size = max(1, -(-len(text) // _PIECES))
    return (text[start : start + size] for start in range(0, len(text), size))


def arguments(text: str) -> Json:
    """The arguments of a call as an object, for protocols that know no other; empty where they are none."""
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
