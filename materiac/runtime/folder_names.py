"""Names of folders for names of the language: distinct on every file system."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from materiac.names import END, fault

_NAME_BYTES: Final = 255
_HASH_DIGITS: Final = 16
# Letters and marks that show nothing; some file systems leave them out when they compare names.
_IGNORABLE: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


def folder_names(names: Iterable[str]) -> dict[str, str]:
    """A folder name for each name: all distinct, on file systems too that fold case or normalize.

    A name of the language is its own folder name unless it is too long in UTF-8 or a file system might
    take it for one before it. Any other text is shortened to what is legal, with `~` and a hash behind it,
    and no legal name holds a `~`.
    """
    folders: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        if name in folders:
            continue
        folded = _folded(name)
        plain = _is_plain(name) and folded not in taken
        folders[name] = name if plain else _hashed(name)
        if plain:
            taken.add(folded)
    return folders


def _is_plain(name: str) -> bool:
    legal = name == END or fault(name, spaces=True) is None
    return legal and not _IGNORABLE.search(name) and len(name.encode()) <= _NAME_BYTES


def _folded(name: str) -> str:
    """The same for names that a file system may take for one: they differ in case, form or last dots."""
    for _ in range(2):  # folding makes letters that are folded again
        name = unicodedata.normalize("NFKD", name).upper().casefold()
    return unicodedata.normalize("NFKD", name).rstrip(".")


def _hashed(name: str) -> str:
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_DIGITS]
    legal = "".join(c for c in unicodedata.normalize("NFC", name) if c.isalnum() or c in "._-").lstrip(".")
    room = _NAME_BYTES - _HASH_DIGITS - len("~")
    stem = unicodedata.normalize("NFC", legal).encode()[:room].decode(errors="ignore")
    return f"{stem or '_'}~{digest}"
