"""What JSON holds as far as its tokens go, be it sound or not.

A bracket that is left open is closed where a key follows that can only stand outside of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from materiac import json_tokens as lex
from materiac.lsp.json_place import STRINGS, value_of
from materiac.source import Pointer

_TYPED: Final = STRINGS | {lex.ATOM}
_END: Final = re.compile(r"[,}\]]")
"""What ends a string that is not closed: no name has it."""

_TURNED: Final = re.compile(r"[\w.$-]*[ \t]*[,}\]](?s:.*)[,:{\[]\s*\Z")
"""What comes behind the cursor in a string that takes the quote of the next one for its end."""

_IN_SOCKETS: Final = 4
_OUTSIDE: Final = {"loadouts": 1, "materia": 1, "roles": 1, "sockets": 3, "loops": 3}
"""How many brackets are open where an object of this name stands."""


@dataclass
class _Open:
    """An object or list that is open, the key that leads to it, and the key that one is at in it."""

    value: dict[str, Any] | list[Any]
    part: str | int | None
    key: str | None = None
    word: str | None = None

    @property
    def at(self) -> str | int | None:
        return len(self.value) if isinstance(self.value, list) else self.key


def in_json(text: str, offset: int = 0) -> Any:
    """The value of a text; what is being typed at an offset is left out, unless it is a key."""
    glance = _Glance()
    for kind, begin, end in _tokens(text, offset):
        typed = begin < offset <= end
        glance.step(kind, value_of(text, kind, begin, end) if kind in _TYPED else None, typed=typed)
    return glance.root


def _tokens(text: str, offset: int) -> Iterator[lex.Token]:
    start = 0
    while True:
        for kind, begin, end in lex.tokens(text, start):
            cut = _cut(text, (kind, begin, end), offset)
            yield (kind, begin, end) if cut is None else (lex.UNCLOSED, begin, cut)
            if cut is not None:
                start = cut
                break
        else:
            return


def _cut(text: str, token: lex.Token, offset: int) -> int | None:
    """Where a string ends whose end is missing, or was taken from the next one."""
    kind, begin, end = token
    if kind == lex.UNCLOSED:
        match = _END.search(text, begin, end)
        return match.start() if match else None
    if kind not in STRINGS or not begin < offset < end:
        return None
    return offset if _TURNED.match(text, offset, end - 1) else None


class _Glance:
    """A value that is built while its tokens come."""

    def __init__(self) -> None:
        self.root: Any = None
        self._open: list[_Open] = []

    def step(self, kind: str, word: str | None, *, typed: bool) -> None:
        if kind in ("{", "["):
            self._begin({} if kind == "{" else [])
        elif kind in ("}", "]"):
            self._end(dict if kind == "}" else list)
        elif self._open and kind == ":":
            self._colon()
        elif self._open and kind == ",":
            self._open[-1].key = self._open[-1].word = None
        elif self._open and word is not None:
            self._scalar(self._open[-1], word, typed=typed)

    def _begin(self, value: dict[str, Any] | list[Any]) -> None:
        if isinstance(value, dict) and self._open and isinstance(self._open[-1].key, str):
            self._go_out(self._open[-1].key)
        part = self._open[-1].at if self._open else None
        if not self._open:
            self.root = value if self.root is None else self.root
        else:
            self._put(self._open[-1], value)
        self._open.append(_Open(value, part))

    def _go_out(self, key: str) -> None:
        """Close what was left open before an object of this name."""
        way: Pointer = tuple(part.part for part in self._open[1:] if part.part is not None)
        depth = _OUTSIDE.get(key)
        if len(way) < _IN_SOCKETS or way[0] != "loadouts" or way[2] not in ("sockets", "loops"):
            return
        if depth is None and way[2] == "sockets" and "edges" in way[4:]:
            depth = _IN_SOCKETS
        if depth is not None and depth < len(self._open):
            before = self._open[-1].value
            if isinstance(before, dict):
                before.pop(key, None)
            del self._open[depth:]
            self._open[-1].key = key

    def _end(self, kind: type) -> None:
        at = [index for index, part in enumerate(self._open) if isinstance(part.value, kind)]
        if at:
            del self._open[at[-1] :]
        if self._open:
            self._open[-1].key = None

    def _colon(self) -> None:
        """What stands before a colon is a key, even where no comma or bracket is before it."""
        part = self._open[-1]
        if isinstance(part.value, list) and part.word is not None and len(self._open) > 1:
            part.value.pop()
            self._open.pop()
            self._open[-1].word, part = part.word, self._open[-1]
        if isinstance(part.value, dict) and part.word is not None:
            part.key, part.word = part.word, None
            part.value.setdefault(part.key, None)

    def _scalar(self, part: _Open, word: str, *, typed: bool) -> None:
        if isinstance(part.value, dict) and part.key is None:
            part.word = word
            return
        if not typed:
            self._put(part, word)
            part.word = word
        part.key = None

    def _put(self, part: _Open, value: Any) -> None:
        if isinstance(part.value, list):
            part.value.append(value)
        elif part.key is not None:
            part.value[part.key] = value
