"""A list in a file that grows at a constant price, and the manifest of a cast, which is one."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from materiac.runtime.artifacts import encoded, named_errors, write_whole
from materiac.runtime.journal import Record, read

Json = dict[str, Any]


class GrowingFile:
    """A JSON object on the disk whose first member is a long list, to which adding costs the same always.

    What has to follow the list, the tail, lies at the end of the file: entries are written over it and
    then the tail again, in one write. Who looks while that happens may see half of it; who needs
    more reads the journal.
    """

    def __init__(self, path: Path, head: str) -> None:
        self._path = path
        self._head = encoded(head)
        self._end = 0
        self._size = 0
        self._empty = True

    def rewrite(self, entries: Iterable[Json], tail: str) -> None:
        """Write the whole file, all at once."""
        listed = self._head + self._joined(entries, first=True)
        data = listed + encoded(tail)
        write_whole(self._path, data)
        self._end, self._size, self._empty = len(listed), len(data), len(listed) == len(self._head)

    def append(self, entries: Iterable[Json], tail: str) -> None:
        """Add entries to the list, and put another tail behind it."""
        listed = self._joined(entries, first=self._empty)
        data = listed + encoded(tail)
        with named_errors("write", self._path):
            self._overwrite(data)
        self._end, self._size = self._end + len(listed), self._end + len(data)
        self._empty = self._empty and not listed

    def _overwrite(self, data: bytes) -> None:
        file = os.open(self._path, os.O_WRONLY | os.O_NOFOLLOW)
        try:
            written = 0
            while written < len(data):
                written += os.pwrite(file, data[written:], self._end + written)
            if self._end + len(data) < self._size:
                os.ftruncate(file, self._end + len(data))
        finally:
            os.close(file)

    def _joined(self, entries: Iterable[Json], *, first: bool) -> bytes:
        lines = [json.dumps(entry, ensure_ascii=False) for entry in entries]
        if not lines:
            return b""
        return encoded(("\n" if first else ",\n") + ",\n".join(lines))


class Manifest:
    """`manifest.json`, made from the records of a journal; current after every record, at a constant price.

    A record that wrote files has them under `files`, as `Written.as_data` gives them, beside its
    `socket`, `materia`, `itemKey`, `itemLabel` and `visit`, in a stream `stream`; one that renamed some has
    `moved`. Subscribe it to the journal: `journal.subscribe(manifest)`.
    """

    _TAIL: Final = "\n]}\n"

    def __init__(self, path: Path, records: Iterable[Record] = ()) -> None:
        """Write the manifest of the records so far. Raises `ArtifactError`."""
        head = json.dumps({"castId": path.parent.name, "entries": []}, ensure_ascii=False)
        self._file = GrowingFile(path, head.removesuffix("]}"))
        self._journal = path.parent / "events.jsonl"
        self._rewrite(records)

    def __call__(self, record: Record) -> None:
        """Take one more record. Raises `ArtifactError` and `JournalError`."""
        if record.fields.get("moved"):
            self._rewrite(read(self._journal).records)
        elif entries := _entries(record.fields):
            self._file.append(entries, self._TAIL)

    def _rewrite(self, records: Iterable[Record]) -> None:
        """List the files of all records, those that were renamed by their new names."""
        listed: list[Json] = []
        for record in records:
            moved = {pair["from"]: pair["to"] for pair in record.fields.get("moved", ())}
            for entry in listed if moved else ():
                entry["file"] = moved.get(entry["file"], entry["file"])
            listed += _entries(record.fields)
        self._file.rewrite(listed, self._TAIL)


def _entries(fields: Mapping[str, Any]) -> list[Json]:
    place = {key: fields.get(key) for key in ("socket", "materia", "itemKey", "itemLabel", "visit")}
    place |= {"stream": fields["stream"]} if "stream" in fields else {}
    return [place | file for file in fields.get("files", ())]
