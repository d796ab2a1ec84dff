"""Following the imports of a text: reading the files that it names, and those that they name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

from materiac import imports, languages
from materiac.diagnostic import Finding
from materiac.pipeline import Import, Text
from materiac.source import Pointer

_MENTIONS = re.compile(rb'"import"|(?m:^[ \t]*import\b)|\bimport[ \t]*"|\\u00')
_DEEPEST: Final = 64

Opened = Mapping[Path, bytes]
"""What files hold in an editor, by their real paths."""

NOTHING: Final[Opened] = MappingProxyType({})


def follow(text: Text, *, allow_outside: bool, opened: Opened = NOTHING) -> tuple[Text, ...]:
    """A text with what came of its imports, and below it the texts that they brought in, each once.

    Files that are `opened` in an editor count as they are there.
    """
    home = Path(text.name).parent if Path(text.name).exists() else Path()
    roots = () if allow_outside else tuple({_real(home), _real(Path())})
    following = _Following(roots, opened, [text.name])
    top = following.followed(text, _real(Path(text.name)), imported=False)
    return (*following.done.values(), top)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


@dataclass
class _Following:
    """The texts that were brought in so far, by the place of their files, and the way to where we are."""

    roots: tuple[Path, ...]
    opened: Opened
    way: list[str]

    def __post_init__(self) -> None:
        self.done: dict[Path, Text] = {}
        self._open: list[Path] = []

    def followed(self, text: Text, place: Path, *, imported: bool) -> Text:
        self._open.append(place)
        came = tuple(Import(path, at, self._came(text, path, at)) for path, at in _imports(text))
        self._open.pop()
        return replace(text, imports=came, imported=imported)

    def _came(self, importer: Text, path: str, at: Pointer) -> str | Finding:
        """The name of the text that an import brings in, or what is wrong with it."""
        name = os.path.normpath(Path(importer.name).parent / path)
        if "\0" in name:
            return imports.missing(path, "there is a null character in it", at)
        place = _real(Path(name))
        if self.roots and not any(place.is_relative_to(root) for root in self.roots):
            return imports.outside(path, at)
        if place in self._open:
            around = self.way[self._open.index(place) :]
            return imports.cycle([*around, around[0]], at)
        if place not in self.done:
            if len(self._open) > _DEEPEST:
                return imports.missing(path, f"it is {_DEEPEST} imports away", at)
            raw = self.opened[place] if place in self.opened else _contents(place)
            if isinstance(raw, str):
                return imports.missing(path, raw, at)
            self.way.append(name)
            followed = self.followed(Text(name, raw), place, imported=True)
            self.way.pop()
            self.done[place] = followed
        return self.done[place].name


def _contents(place: Path) -> bytes | str:
    """The bytes of a file, or why there are none; a pipe or a device, which may never end, is not opened."""
    try:
        if place.exists() and not place.is_file():
            return "it is no file"
        return place.read_bytes()
    except (OSError, ValueError) as error:
        return getattr(error, "strerror", None) or str(error)


def _imports(text: Text) -> Iterator[tuple[str, Pointer]]:
    if _MENTIONS.search(text.raw):
        _, document, _ = languages.read(text.name, text.raw, text.language)
        if document is not None:
            yield from imports.imports(document)
