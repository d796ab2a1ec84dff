"""Messages from an editor: their headers are read here, and what is none ends the talk.

What follows a header that cannot be read has no beginning any more: it would be waited for without end.
"""

from __future__ import annotations

import re
from io import BufferedReader
from typing import BinaryIO, Final, cast

_LARGEST: Final = 2**28
_LINE: Final = re.compile(rb"[A-Za-z][A-Za-z-]*(?:[ \t]*:[^{}\[\]\n]*)?")
"""A line of a header, or what has come of it."""

_LONGEST: Final = 4096
_LENGTH: Final = re.compile(rb"content-length[ \t]*:[ \t]*([0-9]{1,18})[ \t]*", re.IGNORECASE)
_NAMED: Final = re.compile(rb"content-length[ \t]*:", re.IGNORECASE)
_CHUNK: Final = 2**16


class HeaderError(Exception):
    """What came is no header of a message; the message says why."""


class Messages:
    """The input of a server, with headers as the library knows them."""

    def __init__(self, reader: BinaryIO) -> None:
        self._reader = cast("BufferedReader", reader)
        self._came = bytearray()
        self._rest = b""

    def readline(self) -> bytes:
        """A line of a header: the length, then an empty one; nothing at the end. Raises `HeaderError`."""
        if self._rest:
            rest, self._rest = self._rest, b""
            return rest
        length: int | None = 0
        while length == 0:
            length = self._header()
        if length is None:
            return b""
        self._rest = b"\r\n"
        return b"Content-Length: %d\r\n" % length

    def read(self, size: int) -> bytes:
        """The text of a message; less at the end."""
        while len(self._came) < size and self._more():
            pass
        text = bytes(self._came[:size])
        del self._came[:size]
        return text

    def _more(self) -> bool:
        chunk = self._reader.read1(_CHUNK)
        self._came += chunk
        return bool(chunk)

    def _header(self) -> int | None:
        """The length that a header tells; None at the end of the input."""
        length: int | None = None
        begun = False
        while (line := self._line()) is not None:
            if line:
                begun = True
                length = _length(line, length)
            elif begun:
                return _sound(length)
        return None

    def _line(self) -> bytes | None:
        """A line without its end; None where there is no more."""
        while (end := self._came.find(b"\n")) < 0:
            if self._came.strip():
                _fitting(bytes(self._came))
            if not self._more():
                return None
        line = bytes(self._came[:end]).strip()
        del self._came[: end + 1]
        if line and b":" not in _fitting(line):
            raise HeaderError(f"found {_shown(line)}, expected 'Content-Length: …'")
        return line


def _fitting(line: bytes) -> bytes:
    if len(line) > _LONGEST or _LINE.fullmatch(line.strip()) is None:
        raise HeaderError(f"found {_shown(line)}, expected 'Content-Length: …'")
    return line


def _shown(line: bytes) -> str:
    text = line.decode(errors="replace").strip()
    return f"'{text[:40]}…'" if len(text) > 40 else f"'{text}'"


def _length(line: bytes, before: int | None) -> int | None:
    if _NAMED.match(line) is None:
        return before
    match = _LENGTH.fullmatch(line)
    if match is None:
        raise HeaderError(f"found {_shown(line)}, expected a number of bytes")
    return int(match[1])


def _sound(length: int | None) -> int:
    if length is None:
        raise HeaderError("found no 'Content-Length'")
    if length > _LARGEST:
        raise HeaderError(f"found a message of {length} bytes, {_LARGEST} are allowed")
    return length
