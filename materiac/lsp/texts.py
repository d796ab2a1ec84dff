"""The files that are open in an editor, and what they last said while they were sound."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from materiac import languages
from materiac.lsp.buffers import Buffer, Change
from materiac.lsp.looks import Look
from materiac.lsp.reading import Reading

_EMPTY: Final = Look()
_OURS: Final = re.compile(
    r"(?:^|/)(?:loadouts/[^/]+|\.materia/loadout|\.pi/pi-materia|materiac/materia|[^/]*\.(?:loadout|scenario))\.json$"
)
_KEYS: Final = re.compile(r'"(?:loadouts|materia)"\s*:')


def is_ours(buffer: Buffer, path: Path | None) -> bool:
    """Whether a file is one of loadouts, and no other JSON."""
    if buffer.language == "dsl" or (path is not None and _OURS.search(path.as_posix())):
        return True
    return _KEYS.search(buffer.text) is not None


class Texts:
    """Buffers by URI. Readings are made by several threads, buffers are changed by one."""

    def __init__(self) -> None:
        self._buffers: dict[str, Buffer] = {}
        self._read: dict[str, tuple[Buffer, Reading | None]] = {}
        self._sound: dict[str, Reading] = {}
        self._looks: dict[str, tuple[Buffer, Look]] = {}
        self._lock = threading.Lock()

    def __contains__(self, uri: object) -> bool:
        return uri in self._buffers

    def get(self, uri: str) -> Buffer | None:
        return self._buffers.get(uri)

    @property
    def uris(self) -> list[str]:
        return list(self._buffers)

    def open(self, buffer: Buffer) -> None:
        self.close(buffer.uri)
        self._buffers[buffer.uri] = buffer

    def change(self, uri: str, version: int | None, changes: Iterable[Change]) -> None:
        buffer = self._buffers.get(uri)
        if buffer is not None:
            self._buffers[uri] = buffer.changed(version, changes)

    def close(self, uri: str) -> None:
        for kept in (self._buffers, self._read, self._sound, self._looks):
            kept.pop(uri, None)

    def looked(self, buffer: Buffer, look: Look) -> None:
        """Remember what a check of a buffer told."""
        self._looks[buffer.uri] = buffer, look

    def look(self, uri: str) -> Look:
        """What the last check told, of whichever version."""
        return self._looks[uri][1] if uri in self._looks else _EMPTY

    def exact_look(self, buffer: Buffer) -> Look:
        """What a check of this very text told."""
        checked, look = self._looks.get(buffer.uri, (None, _EMPTY))
        return look if checked is not None and checked.text == buffer.text else _EMPTY

    def reading(self, buffer: Buffer) -> Reading | None:
        """What a buffer says, if it is sound; it is read once."""
        with self._lock:
            read, reading = self._read.get(buffer.uri, (None, None))
            if read is None or read.text != buffer.text:
                reading = _read(buffer)
                self._read[buffer.uri] = buffer, reading
                if reading is not None:
                    self._sound[buffer.uri] = reading
            return reading

    def sound(self, buffer: Buffer) -> Reading | None:
        """What a file last said while it was sound."""
        return self._sound.get(buffer.uri) or self.reading(buffer)


def _read(buffer: Buffer) -> Reading | None:
    document, _ = languages.document(buffer.name, buffer.raw, buffer.language)
    return Reading(document) if document is not None else None
