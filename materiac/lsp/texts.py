"""The files that are open in an editor, and what they last said while they were sound."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from materiac import collector, languages
from materiac.lsp.buffers import Buffer, Change
from materiac.lsp.looks import Look
from materiac.lsp.reading import Reading

_EMPTY: Final = Look()


@dataclass
class _Text:
    """A buffer, what it said when it was read, what it last said that was sound, what a check told of it.

    Readings have a lock of their own for each text, so that a large one holds up no other.
    """

    buffer: Buffer
    read: tuple[Buffer, Reading | None] | None = None
    sound: Reading | None = None
    look: tuple[Buffer, Look] | None = None
    told: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def reading(self, buffer: Buffer) -> Reading | None:
        with self.lock:
            if self.read is None or self.read[0].text != buffer.text:
                reading = _read(buffer)
                self.read = buffer, reading
                self.sound = reading or self.sound
            return self.read[1]


class Texts:
    """Buffers by URI. Readings are made by several threads, buffers are changed by one."""

    def __init__(self) -> None:
        self._texts: dict[str, _Text] = {}

    def __contains__(self, uri: object) -> bool:
        return uri in self._texts

    def get(self, uri: str) -> Buffer | None:
        text = self._texts.get(uri)
        return text.buffer if text is not None else None

    @property
    def uris(self) -> list[str]:
        return list(self._texts)

    def open(self, buffer: Buffer) -> None:
        self.close(buffer.uri)
        self._texts[buffer.uri] = _Text(buffer)

    def change(self, uri: str, version: int | None, changes: Iterable[Change]) -> None:
        text = self._texts.get(uri)
        if text is not None:
            text.buffer = text.buffer.changed(version, changes)

    def close(self, uri: str) -> None:
        self._texts.pop(uri, None)

    def looked(self, buffer: Buffer, look: Look) -> None:
        """Remember what a check of a buffer told."""
        text = self._texts.get(buffer.uri)
        if text is not None:
            text.look = buffer, look.after(self.look(buffer.uri))
            text.told.set()

    def look(self, uri: str, patience_s: float = 0) -> Look:
        """What the last check told, of whichever version; the first is waited for with some patience."""
        text = self._texts.get(uri)
        if text is not None and patience_s:
            text.told.wait(patience_s)
        return text.look[1] if text is not None and text.look is not None else _EMPTY

    def is_told(self, uri: str) -> bool:
        """Whether a check has told of a file, in whichever version."""
        text = self._texts.get(uri)
        return text is not None and text.told.is_set()

    def exact_look(self, buffer: Buffer) -> Look:
        """What a check of this very text told."""
        text = self._texts.get(buffer.uri)
        checked, look = text.look if text is not None and text.look is not None else (None, _EMPTY)
        return look if checked is not None and checked.text == buffer.text else _EMPTY

    def reading(self, buffer: Buffer) -> Reading | None:
        """What a buffer says, if it is sound; it is read once."""
        text = self._texts.get(buffer.uri)
        return text.reading(buffer) if text is not None else _read(buffer)

    def is_read(self, buffer: Buffer) -> bool:
        """Whether a reading of this very text is there already."""
        text = self._texts.get(buffer.uri)
        read = text.read if text is not None else None
        return read is not None and read[0].text == buffer.text

    def sound(self, buffer: Buffer) -> Reading | None:
        """What a file last said while it was sound; None also where it was not read yet."""
        text = self._texts.get(buffer.uri)
        return text.sound if text is not None else None


def _read(buffer: Buffer) -> Reading | None:
    # A round of the collector holds up all threads, for as long as what was read is large.
    with collector.paused():
        document, _ = languages.document(buffer.name, buffer.raw, buffer.language)
        return Reading(document) if document is not None else None
