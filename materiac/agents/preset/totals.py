"""What sessions have used so far, of programs that count over a whole session and not over a turn."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path
from typing import Final

from materiac.agents.protocol import Usage

_FIELDS: Final = tuple(field.name for field in fields(Usage))


class Totals:
    """Remembers the sums of sessions, in a folder where there is one. May be asked from several threads."""

    def __init__(self, program: str) -> None:
        self._program = program
        self._known: dict[str, Usage] = {}
        self._lock = threading.Lock()

    def of(self, session: str | None, folder: Path | None) -> Usage | None:
        """The sum of a session as it was told last; None where it never was, nothing of a new session."""
        if session is None:
            return Usage()
        with self._lock:
            return self._known.get(session) or self._read(session, folder)

    def keep(self, session: str | None, folder: Path | None, total: Usage) -> None:
        """Remember the sum of a session."""
        if session is None:
            return
        with self._lock:
            self._known[session] = total
            if folder is not None:
                with suppress(OSError):  # the next turn then only does not know what it has used
                    self._write(self._file(session, folder), total)

    def _read(self, session: str, folder: Path | None) -> Usage | None:
        if folder is None:
            return None
        try:
            data = json.loads(self._file(session, folder).read_bytes())
            return Usage(**{name: data[name] for name in _FIELDS})
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _write(self, file: Path, total: Usage) -> None:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = file.with_suffix(f".{os.getpid()}")
        new.write_text(json.dumps(asdict(total)), encoding="utf-8")
        new.replace(file)

    def _file(self, session: str, folder: Path) -> Path:
        """A program may call its sessions what it likes: no part of a path is made of that."""
        name = hashlib.sha256(f"{self._program}\0{session}".encode(errors="surrogatepass")).hexdigest()
        return folder / f"{name[:32]}.usage.json"
