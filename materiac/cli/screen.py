"""Where progress is shown: standard error, written to without the locks that a blocked write would hold."""

from __future__ import annotations

import io
import os
import select
import sys
from typing import TYPE_CHECKING, Protocol, TextIO

from materiac.cli.news import News, words

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class Screen(Protocol):
    """What shows news. Owned by one thread; any method may raise `OSError`."""

    def take(self, news: News) -> None:
        """Show the news, at once or with the next refresh."""
        ...

    def refresh(self) -> None:
        """Called every now and then: draw what changes with time."""
        ...

    def close(self) -> None:
        """Leave the terminal to others; called before a person types, and at the end."""
        ...


class Lines:
    """A line for each of the news, as they come."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def take(self, news: News) -> None:
        text = words(news)
        if text is not None:
            self._stream.write(f"{text}\n")
            self._stream.flush()

    def refresh(self) -> None:
        """Lines stay as they are."""

    def close(self) -> None:
        """Lines stay where they are."""


class Nowhere:
    """Shows nothing."""

    def take(self, news: News) -> None: ...
    def refresh(self) -> None: ...
    def close(self) -> None: ...


def standard_error() -> TextIO | None:
    """A stream of its own that leads where standard error does; None where that is closed."""
    if sys.stderr is None:
        return None
    try:
        direct = _Direct(sys.stderr.fileno())
        return io.TextIOWrapper(direct, sys.stderr.encoding, "backslashreplace", write_through=True)
    except (OSError, ValueError):
        return sys.stderr


def is_terminal(stream: TextIO) -> bool:
    """Whether the stream leads to a terminal that can move its cursor."""
    dumb = os.environ.get("TERM", "").lower() in ("", "dumb", "unknown")
    return not dumb and stream.isatty()


class _Direct(io.FileIO):
    """Writes all that it is given, to a descriptor that stays open.

    A thread that is stuck in a write of `sys.stderr` holds a lock without which Python cannot exit.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "w", closefd=False)

    def write(self, data: ReadableBuffer, /) -> int:
        rest = memoryview(data)
        size = len(rest)
        while rest:
            written: int | None = super().write(rest)
            if written is None:  # some program has made the terminal non-blocking
                select.select([], [self], [])
            rest = rest[written or 0 :]
        return size
