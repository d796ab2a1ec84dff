"""The folder of a cast: where its files lie, and how they are written.

Folders and files are the owner's alone. A file comes into being whole: it is written beside its place
and renamed. What a cast needs to go on, answers and what commands wrote, is synced before a record of
the journal tells of it; everything else can be made again.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from materiac.difference import text_difference
from materiac.runtime.folder_names import folder_names
from materiac.runtime.journal import Record, sync_data

Json = dict[str, Any]

KINDS: Final = {
    ".md": "output",
    ".json": "parsed",
    ".stdin.json": "stdin",
    ".stdout.txt": "stdout",
    ".stderr.txt": "stderr",
    ".command.json": "command",
    ".said.md": "said",
}
"""What an output of a visit may end in, and what the manifest calls it."""
_NEEDED: Final = frozenset(["output", "said", "stdout", "stderr", "machine"])
"""The kinds of files without which a cast cannot go on."""

_ROOT_FILE: Final = re.compile(r"[a-z]+(\.[a-z0-9]+)*\.json")


class ArtifactError(Exception):
    """A file or folder of a cast cannot be made, or would lie somewhere else than it says."""


class DifferenceError(ArtifactError):
    """A file of a cast would be another one today."""

    def __init__(self, path: str, old: str, new: str) -> None:
        where, was, now = next(text_difference(old, new, f"'{path}'"))
        super().__init__(f"{where} it was {was}, it is {now}")


@dataclass(frozen=True, slots=True)
class Written:
    """A file that was written: its path from the cast folder, with `/`, its kind, and its content's mark."""

    path: str
    kind: str
    sha256: str
    bytes: int

    def as_data(self) -> Json:
        """The file as a journal record lists it under `files`."""
        return {"kind": self.kind, "file": self.path, "sha256": self.sha256, "bytes": self.bytes}


@dataclass(frozen=True, slots=True)
class CastFolder:
    """Writes the files of a cast. `folders` is what `folder_names` gives for the ids of all its sockets.
    One that is `dry` says what it would write, and writes nothing. `renamed` is what `renamings` gives
    for the records of a cast that goes on. Nothing is synced of one that is not `durable`.

    No symbolic link may lead to the folder from the working folder, or from the folder that it lies in,
    and none may be in it. Raises `ArtifactError`, as all methods do.
    """

    root: Path
    folders: Mapping[str, str]
    below: tuple[str, ...] = ()
    dry: bool = False
    renamed: Mapping[tuple[str, str], str] = field(default_factory=dict)
    durable: bool = True

    def __post_init__(self) -> None:
        if not (self.below or self.dry):
            refuse_detour(self.root.parent)
            _refuse_link(self.root)
            _refuse_links_in(self.root)

    def streams(self, names: Iterable[str]) -> dict[str, CastFolder]:
        """For each of a plan's streams, the folder `streams/<name>` that its visits write to."""
        folders = folder_names(names)
        return {name: replace(self, below=("streams", folder)) for name, folder in folders.items()}

    def context(
        self, socket: str, visit: int, text: str, *, turn: int = 1, repair: int = 0, retry: int = 0
    ) -> Written:
        """Write the prompt of a turn: `contexts/<socket>/<visit>.md`."""
        path = self._path("contexts", socket, _stem(visit, turn, repair, retry) + ".md")
        return self._write(path, "context", text)

    def output(
        self,
        socket: str,
        visit: int,
        content: str | bytes,
        suffix: str,
        *,
        turn: int = 1,
        repair: int = 0,
        retry: int = 0,
    ) -> Written:
        """Write what came of a turn or a command: `sockets/<socket>/<visit><suffix>`, one of `KINDS`."""
        path = self._path("sockets", socket, _stem(visit, turn, repair, retry) + suffix)
        return self._write(path, KINDS[suffix], content)

    def write_json(self, name: str, value: Any) -> Written:
        """Write a file of the cast as a whole, like `machine.json`."""
        if not _ROOT_FILE.fullmatch(name):
            raise ArtifactError(f"'{name}' is no name for a file of a cast")
        try:
            text = json.dumps(value, ensure_ascii=False, indent=2)
        except RecursionError as error:
            raise ArtifactError(f"'{name}' cannot be written: its value is nested too deep") from error
        return self._write((name,), name.removesuffix(".json"), text + "\n")

    def content(self, file: Json) -> bytes:
        """What is in a file that a journal record lists. Raises where it is gone, or not as it was."""
        names = self._names(file)
        with named_errors("read", self.root.joinpath(*names)):
            data = self._place(names).read_bytes() if file.get("bytes", 1) else b""
        if hashlib.sha256(data).hexdigest() != file["sha256"]:
            path = self.root.joinpath(*names)
            raise ArtifactError(f"'{path}' has been changed: its content is not what the journal tells of")
        return data

    def hold(self, file: Json, text: str) -> None:
        """Hold a text against a file that a journal record lists, and as it lies there.

        Raises `DifferenceError`, and as `content` does.
        """
        found = self.content(file).decode()
        if encoded(text) != encoded(found):
            raise DifferenceError(file["file"], found, text)

    def old_files(self, socket: str, visit: int) -> list[Json]:
        """What `set_aside` shall rename to make room for a visit that is done again.

        That is `1.md` to `1.failed-1.md`, as `[{"from", "to"}, …]`, which a journal record hands to the
        manifest under `moved`.
        """
        folders = [self._path(top, socket) for top in ("contexts", "sockets")]
        found = [(folder, name) for folder in folders for name in _files_of(self._place(folder), visit)]
        failure = 1 + max((_failure(name) for _, name in found), default=0)
        return [
            {
                "from": "/".join((*folder, f"{visit}.{name}")),
                "to": "/".join((*folder, f"{visit}.failed-{failure}.{name}")),
            }
            for folder, name in found
            if not _failure(name)
        ]

    def set_aside(self, moved: Iterable[Json]) -> None:
        """Rename files; what has been renamed already stays as it is."""
        for pair in moved:
            old, new = (self._place(_within(pair[key])) for key in ("from", "to"))
            with named_errors("rename", old):
                if old.exists() and not new.exists():
                    old.rename(new)

    def _names(self, file: Json) -> tuple[str, ...]:
        """Where a file is: under its own name still if a process was killed before it renamed it."""
        renamed = self.renamed.get((file["file"], file["sha256"]))
        if renamed is not None and self.root.joinpath(*_within(renamed)).exists():
            return _within(renamed)
        return _within(file["file"])

    def _path(self, top: str, socket: str, *names: str) -> tuple[str, ...]:
        return (*self.below, top, self.folders[socket], *names)

    def _place(self, names: tuple[str, ...]) -> Path:
        """A folder or file of the cast, to which no link leads."""
        place = self.root
        _refuse_link(place)
        for name in names:
            place /= name
            _refuse_link(place)
        return place

    def _write(self, path: tuple[str, ...], kind: str, content: str | bytes) -> Written:
        data = encoded(content)
        if not self.dry:
            folder = self._place(path[:-1])
            make_folders(folder)
            write_whole(folder / path[-1], data, sync=self.durable and kind in _NEEDED and bool(data))
        return Written("/".join(path), kind, hashlib.sha256(data).hexdigest(), len(data))


def _within(path: str) -> tuple[str, ...]:
    """The names in a path that a record tells of, which must not lead out of the cast."""
    names = tuple(path.split("/"))
    if any(name in ("", ".", "..") or "\0" in name for name in names):
        raise ArtifactError(f"{path!r} is no path within a cast")
    return names


def renamings(records: Iterable[Record]) -> dict[tuple[str, str], str]:
    """Where files are now that were set aside: by the name and the hash that records list them with."""
    hashes: dict[str, str] = {}
    renamed: dict[tuple[str, str], str] = {}
    for record in records:
        for pair in record.fields.get("moved", ()):
            if pair["from"] in hashes:
                renamed[pair["from"], hashes[pair["from"]]] = pair["to"]
        hashes |= {file["file"]: file["sha256"] for file in record.fields.get("files", ())}
    return renamed


def _stem(visit: int, turn: int, repair: int, retry: int) -> str:
    marks = (("turn", turn if turn > 1 else 0), ("repair", repair), ("retry", retry))
    return f"{visit}{''.join(f'.{name}-{number}' for name, number in marks if number)}"


def _files_of(folder: Path, visit: int) -> list[str]:
    """What the names of a visit's files have behind the visit and its dot."""
    start = f"{visit}."
    with named_errors("read the folder", folder):
        names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    return sorted(name.removeprefix(start) for name in names if name.startswith(start))


def _failure(name: str) -> int:
    """The number in `failed-1.md`; 0 for a file that is not set aside."""
    mark = re.match(r"failed-(\d+)\.", name)
    return int(mark[1]) if mark else 0


def make_folders(folder: Path) -> None:
    """Make a folder, and what is missing above it, for the owner alone; refuse one that is a link."""
    _refuse_link(folder)
    with named_errors("make the folder", folder):
        missing = list(itertools.takewhile(lambda place: not place.exists(), (folder, *folder.parents)))
        for place in reversed(missing):
            with contextlib.suppress(FileExistsError):
                make_folder(place)


def make_folder(folder: Path) -> None:
    """Make one folder for the owner alone, whatever the umask. Raises `OSError`."""
    folder.mkdir(mode=0o700)
    folder.chmod(0o700)


def write_whole(path: Path, data: bytes, *, sync: bool = False) -> None:
    """Give a file new content, all at once: whoever looks sees the old or the new. Raises `ArtifactError`.

    With `sync` the content is on the disk before it takes the place of another.

    What a process that is killed leaves beside it is written over when the file is written again.
    """
    beside = path.with_name(f".{path.name}.tmp")
    with named_errors("write", path):
        try:
            file = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
            with os.fdopen(file, "wb") as stream:
                os.fchmod(file, 0o600)
                stream.write(data)
                if sync:
                    stream.flush()
                    sync_data(file)
            beside.replace(path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise


def encoded(content: str | bytes) -> bytes:
    """A text in UTF-8; a lone surrogate, which has none, becomes its escape."""
    return content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")


def refuse_detour(root: Path) -> None:
    """Refuse a folder that is a link, or is reached by one from the working folder."""
    for folder in (root, *_below_working_folder(root.parents)):
        _refuse_link(folder)


def _below_working_folder(folders: Iterable[Path]) -> Iterator[Path]:
    with contextlib.suppress(FileNotFoundError):  # one that is gone leads nowhere
        here = Path.cwd()
        yield from (folder for folder in folders if folder != here and folder.is_relative_to(here))


def _refuse_links_in(root: Path) -> None:
    pending = [root] if root.is_dir() else []
    while pending:
        folder = pending.pop()
        with named_errors("look into", folder), os.scandir(folder) as entries:
            for entry in entries:
                _refuse_link(folder / entry.name, linked=entry.is_symlink())
                if entry.is_dir(follow_symlinks=False):
                    pending.append(folder / entry.name)


def _refuse_link(place: Path, *, linked: bool | None = None) -> None:
    with named_errors("look at", place):
        linked = place.is_symlink() if linked is None else linked
    if linked:
        kind = "file" if place.is_file() else "folder"
        raise ArtifactError(f"'{place}' is a symbolic link, a {kind} of its own was expected")


@contextlib.contextmanager
def named_errors(what: str, path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ArtifactError(f"cannot {what} '{path}': {error.strerror}") from error
