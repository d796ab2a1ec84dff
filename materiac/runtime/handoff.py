"""Finding the one JSON object in what an agent or a utility answered.

The text is read once from left to right. Sound lists, sound objects and reasoning blocks are skipped
whole, the rest is prose, and fences need no rule: they are prose around an object or text inside one
of its strings. Nothing is repaired: an object that is not sound refuses the whole answer.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

MAX_DEPTH: Final = 256

_BLANK = re.compile(r"[\s\ufeff]*")
_START = re.compile(
    r"""<(?P<reasoning>think|thinking|reasoning)\s*>"""
    r"""|(?P<list>\[)"""
    r"""|(?P<object>\{(?=\s*["}]))"""
    r"""|(?P<loose>\{(?=\s*(?:['‘’“”]|\w+\s*:)))""",
    re.IGNORECASE,
)
_NONE = "no JSON object was found"


class HandoffError(ValueError):
    """An answer without exactly one sound JSON object; the message says why, to model and person."""


def find_object(text: str) -> dict[str, Any]:
    """The JSON object of an answer: alone, in a fence, or among prose. Raises `HandoffError`."""
    start = _end_of_blank(text, 0)
    if start == len(text):
        raise HandoffError("the answer is empty, expected a JSON object")
    reader = _Reader(text)
    value, end = reader.attempt(start)
    if reader.sound and _end_of_blank(text, end) == len(text):
        if not isinstance(value, dict):
            raise HandoffError(f"the answer is {kind_of(value)}, expected a JSON object")
        return reader.whole(value, start)
    return _only(reader)


def kind_of(value: Any) -> str:
    """What a JSON value is, in words: `null`, `true`, `a list`."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    kinds = ((str, "a string"), (int | float, "a number"), (list, "a list"), (dict, "an object"))
    return next(words for kind, words in kinds if isinstance(value, kind))


def excerpt(text: str, limit: int) -> str:
    """The beginning of a text, at most `limit` characters; a cut is marked with `…`."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _end_of_blank(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _only(reader: _Reader) -> dict[str, Any]:
    """The object among prose; equal ones count as one."""
    first: dict[str, Any] | None = None
    for found in reader.objects():
        if first is not None and not _same(first, found):
            raise HandoffError("the answer has two different JSON objects, expected one")
        first = found if first is None else first
    if first is None:
        raise HandoffError(f"{_NONE}{reader.hint}")
    return first


def _same(one: Any, other: Any) -> bool:
    """Equality of JSON values: 1 is 1.0 and is not true."""
    pairs = [(one, other)]
    while pairs:
        a, b = pairs.pop()
        if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
            pairs += [(a[key], b[key]) for key in a]
        elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
            pairs += zip(a, b, strict=True)
        elif isinstance(a, bool) is not isinstance(b, bool) or a != b:
            return False
    return True


class _Text(str):
    """Keeps the decoder from counting the lines before each fault, which is quadratic in brackets."""

    __slots__ = ()

    def count(self, *_: object) -> int:
        return 0

    def rfind(self, *_: object) -> int:
        return -1


class _Reader:
    """Reads values out of a text. After an attempt `sound` says whether it held, `seen` how many
    objects were read whole on the way; why it failed is put into words only when it is shown."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.hint = ""
        self.sound = True
        self.seen = 0
        self._fault: str | json.JSONDecodeError = ""
        self._text = _Text(text)
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._object,
            parse_constant=self._constant,
            parse_int=self._whole_number,
            parse_float=self._number,
        )

    def attempt(self, at: int) -> tuple[Any, int]:
        """The value that begins at an offset, and the offset behind it or of what is wrong with it."""
        self.sound, self.seen = True, 0
        try:
            return self._decoder.raw_decode(self._text, at)
        except json.JSONDecodeError as error:
            self._refuse(error)
            return None, error.pos
        except RecursionError:
            raise HandoffError(_too_deep(self._place(at))) from None

    def objects(self) -> Iterator[dict[str, Any]]:
        """The objects outside lists and reasoning. Each character is tried once: no `[` before
        `tried` can begin a list that an earlier one did not already fail to be."""
        at = tried = 0
        while match := _START.search(self.text, at):
            at = match.end()
            if match["reasoning"]:
                at = self._end_of_reasoning(match)
            elif match["object"]:
                value, at = self.attempt(match.start())
                yield self.whole(value, match.start())
            elif match["loose"]:
                self.hint = "; keys and strings are written in double quotes"
            elif match.start() >= tried:
                at, tried = self._past_list(match.start())

    def whole(self, value: dict[str, Any], at: int) -> dict[str, Any]:
        """The object of the last attempt, if nothing is wrong with it. Raises `HandoffError`."""
        if not self.sound:
            raise self._unsound("object", at)
        if _deeper(value, MAX_DEPTH):
            raise HandoffError(_too_deep(self._place(at)))
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            self._refuse("it has half of a surrogate pair in it")
            raise self._unsound("object", at) from None
        return value

    def _past_list(self, at: int) -> tuple[int, int]:
        """Where to read on after a `[`, and how far it was read. A list that goes wrong behind an
        object is a list all the same: taking its object would be a guess."""
        _, end = self.attempt(at)
        if self.seen and not self.sound:
            raise self._unsound("list", at)
        if self.seen:
            self.hint = self.hint or "; objects in a list are not looked at"
        return (end if self.sound else at + 1), end

    def _end_of_reasoning(self, opening: re.Match[str]) -> int:
        closing = re.compile(rf"</{opening['reasoning']}\s*>", re.IGNORECASE).search(self.text, opening.end())
        return closing.end() if closing else len(self.text)

    def _unsound(self, kind: str, at: int) -> HandoffError:
        fault = self._fault
        if isinstance(fault, json.JSONDecodeError):
            fault = f"{_words(self.text, fault)} at {self._place(fault.pos)}"
        return HandoffError(f"the JSON {kind} at {self._place(at)} is not sound: {fault}")

    def _place(self, at: int) -> str:
        line = self.text.count("\n", 0, at) + 1
        column = at - self.text.rfind("\n", 0, at)
        return f"line {line}, column {column}"

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        self.seen += 1
        members = dict(pairs)
        if len(members) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            self._refuse(f"the key '{excerpt(counts.most_common(1)[0][0], 60)}' is repeated")
        return members

    def _constant(self, name: str) -> None:
        self._refuse(f"'{name}' is no JSON value")

    def _whole_number(self, digits: str) -> int:
        try:
            return int(digits)
        except ValueError:
            self._refuse("a number has too many digits")
            return 0

    def _number(self, digits: str) -> float:
        value = float(digits)
        if math.isinf(value):
            self._refuse(f"the number {excerpt(digits, 30)} is too big")
        return value

    def _refuse(self, fault: str | json.JSONDecodeError) -> None:
        if self.sound:
            self.sound, self._fault = False, fault


def _too_deep(place: str) -> str:
    return f"the JSON at {place} is nested more than {MAX_DEPTH} levels deep"


def _deeper(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        inside = (part.values() if isinstance(part, dict) else part for part in level)
        level = [child for part in inside for child in part if isinstance(child, dict | list)]
        if not level:
            return False
    return True


_MESSAGES: Final = (
    ("Unterminated string", "it is cut off inside the string that begins"),
    ("Invalid control character", "a line break or control character in a string is not escaped"),
    ("Invalid \\", "a backslash in a string begins no escape"),
    ("Illegal trailing comma", "there is a trailing comma"),
    ("Expecting property name", "a key in double quotes is missing"),
    ("Expecting ':'", "a ':' is missing"),
    ("Expecting ','", "a ',' or a closing bracket is missing"),
)


def _words(text: str, error: json.JSONDecodeError) -> str:
    """What the decoder found wrong, in words that do not depend on its version."""
    if _end_of_blank(text, error.pos) == len(text):
        return "it is cut off"
    if text[error.pos] in "}]" and text[: error.pos].rstrip().endswith(","):
        return "there is a trailing comma"
    if text[error.pos] in "'‘’“”":
        return "a string is not in double quotes"
    return next((words for start, words in _MESSAGES if error.msg.startswith(start)), "a value is missing")
