"""What a program prints, read as its preset says: the text, the session, the usage, the errors, the news."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from materiac.agents.preset.shape import News, Output, Pick, Preset, Where
from materiac.agents.preset.shape import Usage as UsageShape
from materiac.agents.protocol import AgentError, Json, Progress, Usage
from materiac.environment import Mask, secrets
from materiac.path import MISSING

EXCERPT: Final = 400
"""How many characters of an output a message shows."""
_SHOWN: Final = 200
"""How many characters of a tool's arguments or result the news have."""
_MAX_LINE: Final = 64 * 1024**2
_KEPT_EVENTS: Final = 256 * 1024
"""How many bytes of events are kept, the longest left out."""
_LONG_EVENT: Final = 16 * 1024
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
_TOKENS: Final = ("input", "output", "cache_read", "cache_write")

Tell = Callable[[Progress], None]


class Reading:
    """Gathers the values of one turn. `program` is named in messages."""

    def __init__(self, preset: Preset, program: str, tell: Tell | None = None) -> None:
        self.events: list[Json] = []
        self._program = program
        self._usage_shape = preset.usage or UsageShape()
        self._fields = {
            **_gathered(preset.output, Output.model_fields),
            **_gathered(self._usage_shape, (*_TOKENS, "cost")),
        }
        self._news, self._tell = preset.progress, tell
        self._room = _KEPT_EVENTS

    def take(self, part: Json, size: int | None = None) -> None:
        """Read one object; it is an event where it was a line, of so many bytes."""
        for field in self._fields.values():
            field.take(part)
        if size is not None and size <= min(self._room, _LONG_EVENT):
            self.events.append(part)
            self._room -= size
        if self._tell is not None:
            self._tell_of(part)

    def error(self) -> str | None:
        """What the program says went wrong; None where it says nothing of the kind."""
        found = self._at("error")
        if not found:
            return None
        message = found if isinstance(found, str) else self._at("text")
        return message if isinstance(message, str) and message else f"'{self._program}' reports an error"

    def text(self, whole: str) -> str:
        """The answer; empty where the turn ended and has none. Raises `AgentError`."""
        text = self.word("text")
        if text is None and self._at("ended"):
            return ""
        if text is None:
            shown = masked(whole)[:EXCERPT].strip()
            raise AgentError(f"'{self._program}' gave no text at '{self._fields['text'].where}': {shown!r}")
        return text

    def word(self, name: str) -> str | None:
        """A text that may be missing. Raises `AgentError` where it is something else."""
        value = self._at(name)
        if value is None or (isinstance(value, str) and not _SURROGATE.search(value)):
            return value
        raise self._unexpected(name, value, "a text")

    def data(self) -> Json | None:
        """The object that the program was made to give."""
        value = self._at("data")
        return value if isinstance(value, dict) else None

    @property
    def cut(self) -> bool:
        """Whether the answer reached its limit of length."""
        return bool(self._at("length"))

    def usage(self) -> Usage | None:
        """What the program counts; None where it counts nothing. Raises `AgentError`."""
        tokens = {name: self._number(name) for name in _TOKENS}
        cost = self._number("cost")
        known = {name: int(value) for name, value in tokens.items() if value is not None}
        if not known and cost is None:
            return None
        usage = Usage(**known, cost=cost or 0.0)
        if not self._usage_shape.input_has_cache:
            return usage
        alone = max(0, usage.input - usage.cache_read - usage.cache_write)
        return Usage(alone, usage.output, usage.cache_read, usage.cache_write, usage.cost)

    def _number(self, name: str) -> float | None:
        value = self._at(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
            raise self._unexpected(name, value, "a number that is not negative")
        return value

    def _at(self, name: str) -> Any:
        value = self._fields[name].value
        return None if value is MISSING else value

    def _unexpected(self, name: str, value: Any, expected: str) -> AgentError:
        shown = masked(repr(value))[:EXCERPT]
        return AgentError(
            f"'{self._program}' gave {shown} at '{self._fields[name].where}', expected {expected}"
        )

    def _tell_of(self, part: Json) -> None:
        tell, self._tell = self._tell, None
        if tell is not None:
            for news in _news(self._news, part):
                tell(news)
        self._tell = tell  # one that fails is told nothing more


class Lines:
    """Cuts what comes in chunks into lines, at line feeds alone, and reads the objects in them."""

    def __init__(self, reading: Reading) -> None:
        self.too_long = False
        self._reading = reading
        self._partial = bytearray()

    def is_set(self) -> bool:
        """Whether the program shall be ended: a line of it has no end."""
        return self.too_long

    def hear(self, chunk: bytes) -> None:
        """Take the next chunk."""
        first, *rest = chunk.split(b"\n")
        self._partial += first
        for begun in rest:
            self._read()
            self._partial += begun
        if len(self._partial) > _MAX_LINE:
            self.too_long = True
            self._partial.clear()

    def end(self) -> None:
        """Take what is left as a line."""
        self._read()

    def _read(self) -> None:
        line = bytes(self._partial)
        self._partial.clear()
        part = _json(line) if line.lstrip().startswith(b"{") else MISSING
        if isinstance(part, dict):
            self._reading.take(part, len(line))


def objects(text: str) -> Iterator[Json]:
    """The JSON objects of an output: one, a list of them, or one a line."""
    whole = _json(text)
    parts: Iterable[Any] = whole if isinstance(whole, list) else [whole]
    if whole is MISSING:
        parts = map(_json, text.split("\n"))
    return (part for part in parts if isinstance(part, dict))


def masked(text: str) -> str:
    """A text without secrets: what is shown of it is cut, and half of one is not found any more."""
    return Mask(secrets(os.environ)).text(text)


class _Gathered:
    """The value of a field so far: that of the first pick that has one."""

    def __init__(self, picks: Sequence[Pick]) -> None:
        self._picks = picks
        self._found: list[Any] = [MISSING] * len(picks)

    @property
    def value(self) -> Any:
        return next((value for value in self._found if value is not MISSING), MISSING)

    @property
    def where(self) -> str:
        """The first path, as it was written."""
        return next((place.text for pick in self._picks for place in pick.at), "")

    def take(self, part: Json) -> None:
        for number, pick in enumerate(self._picks):
            if pick.reset and _holds(pick.reset, part):
                self._found[number] = MISSING
            if _holds(pick.where, part):
                self._found[number] = _taken(pick, part, self._found[number])


def _gathered(shape: Output | UsageShape, names: Iterable[str]) -> dict[str, _Gathered]:
    return {name: _Gathered(getattr(shape, name)) for name in names if name != "format"}


def _holds(where: Where, part: Json) -> bool:
    return all(any(_is_one(value, wanted) for value in place.values(part)) for place, wanted in where)


def _is_one(value: Any, wanted: Iterable[Any]) -> bool:
    # True is 1 in Python, and not in JSON.
    return any(isinstance(value, bool) == isinstance(one, bool) and value == one for one in wanted)


def _taken(pick: Pick, part: Json, before: Any) -> Any:
    if not pick.at:
        return True
    found = next(filter(None, (place.values(part) for place in pick.at)), [])
    if not found:
        return before
    value = "".join(found) if all(isinstance(one, str) for one in found) else found[-1]
    if before is MISSING or pick.take == "last":
        return value
    if pick.take == "join":
        return before + value if isinstance(before, str) and isinstance(value, str) else value
    return before + value if isinstance(before, int | float) and isinstance(value, int | float) else value


def _news(shapes: Iterable[News], part: Json) -> Iterator[Progress]:
    for shape in shapes:
        values = shape.at.values(part) if _holds(shape.where, part) else []
        for value in values:
            shown = [one for place in shape.show for one in place.values(value)] or [value]
            text = " ".join(map(_words, shown))
            yield Progress(shape.kind, text if shape.kind in ("text", "thinking") else text[:_SHOWN])


def _words(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _json(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return MISSING
