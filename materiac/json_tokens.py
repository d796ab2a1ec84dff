"""The tokens of JSON, and what is wrong with each: a lexer that also knows what people write instead.

A fault here is one that the reader can go on after: the token has an end, and stands for a value.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

PLAIN: Final = "plain"
STRING: Final = "string"
SINGLE: Final = "single"
UNCLOSED: Final = "unclosed"
ATOM: Final = "atom"
COMMENT: Final = "comment"
JUNK: Final = "junk"
END: Final = "end"

MAX_DIGITS: Final = 308

Token = tuple[str, int, int]
"""Kind, start and end. The kind of a bracket, comma or colon is the character itself."""

_TOKEN = re.compile(
    r"""[ \t\n\r]*+(?:
      (?P<mark>[{}\[\]:,])
    | (?P<plain>"[^"\\\x00-\x1f]*+")
    | (?P<atom>[\w$.+-]++)
    | (?P<string>"(?:[^"\\\n\r]|\\[^\n\r])*+")
    | (?P<single>'(?:[^'\\\n\r]|\\[^\n\r])*+')
    | (?P<unclosed>"(?:[^"\\\n\r]|\\[^\n\r])*+|'(?:[^'\\\n\r]|\\[^\n\r])*+)
    | (?P<comment>//[^\n\r]*+|\#[^\n\r]*+|/\*(?s:.*?)(?:\*/|\Z))
    | (?P<end>\Z)
    | (?P<junk>(?s:.))
    )""",
    re.VERBOSE,
)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?P<real>(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)")
_LEADING_ZEROS = re.compile(r"-?0[0-9]++(?:\.[0-9]+)?")
_ESCAPE = re.compile(
    r"""\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}
    | (?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})
    | u[0-9a-fA-F]{4} | ["\\/bfnrt]
    | (?P<bad>u[0-9a-fA-F]{0,3}|.|\Z))""",
    re.VERBOSE,
)
_CONTROL = re.compile(r"[\x00-\x1f]")
_SHORT_ESCAPES: Final = {"\t": r"\t", "\b": r"\b", "\f": r"\f"}
_LITERALS: Final = {"true": True, "false": False, "null": None}
_NEAR_LITERALS: Final = {"none": "null", "undefined": "null", "nil": "null"}
_NO_NUMBERS: Final = frozenset({"nan", "infinity", "inf"})


class Fault(NamedTuple):
    """What is wrong within one token, and the offsets of the part that it is about."""

    message: str
    start: int
    end: int
    help: str | None = None


def tokens(text: str, start: int = 0) -> Iterator[Token]:
    """The tokens of a text from an offset on, in order, comments among them; the last one is `END`."""
    for match in _TOKEN.finditer(text, start):
        kind = match.lastgroup or ""
        begin, end = match.span(kind)
        yield (text[begin] if kind == "mark" else kind), begin, end


def has_lone_surrogate(text: str) -> bool:
    """Whether an escape of a sound text stands for half a character."""
    return r"\u" in text and any(match["lone"] for match in _ESCAPE.finditer(text))


def shortened(text: str) -> str:
    """A text for a message, in single quotes, cut where it is long."""
    return f"'{text}'" if len(text) <= 40 else f"'{text[:39]}…'"


def unseen(character: str) -> str:
    """A character that cannot be shown, by number and name."""
    name = unicodedata.name(character, "").lower()
    return f"U+{ord(character):04X} ({name})" if name else f"U+{ord(character):04X}"


def string_value(text: str, start: int, end: int) -> tuple[str | None, list[Fault]]:
    """The value of a string token in double quotes, with its faults; None where an escape is bad."""
    inside = text[start + 1 : end - 1]
    faults = [*_control_faults(inside, start + 1), *_escape_faults(inside, start + 1)]
    if any(match["bad"] is not None for match in _ESCAPE.finditer(inside)):
        return None, faults
    value: str = json.loads(text[start:end], strict=False)
    return value, faults


def _control_faults(inside: str, offset: int) -> Iterator[Fault]:
    control = _CONTROL.search(inside)
    if control is None:
        return
    escape = _SHORT_ESCAPES.get(control[0], f"\\u{ord(control[0]):04x}")
    at = offset + control.start()
    words = f"control character U+{ord(control[0]):04X} in a string"
    yield Fault(words, at, at + 1, f"write it as '{escape}'")


def _escape_faults(inside: str, offset: int) -> Iterator[Fault]:
    for match in _ESCAPE.finditer(inside):
        at, end = offset + match.start(), offset + match.end()
        if match["lone"]:
            yield Fault(f"lone surrogate '{match[0]}': it is half a character", at, end)
        elif match["bad"] is not None and match["bad"].startswith("u"):
            yield Fault(f"escape '{match[0]}' is cut short", at, end, r"four hexadecimal digits follow '\u'")
        elif match["bad"] is not None:
            yield Fault(f"'{match[0]}' is no escape of JSON", at, end, r"write a backslash as '\\'")


def atom_value(text: str, start: int, end: int) -> tuple[Any, Fault | None] | None:
    """The value of a number or word, with its fault; None for a word that stands for no value."""
    word = text[start:end]
    if word in _LITERALS:
        return _LITERALS[word], None
    if (number := _NUMBER.fullmatch(word)) is not None:
        return _number(word, real=bool(number["real"]), start=start, end=end)
    fault = _number_fault(word) or _word_fault(word)
    return None if fault is None else (None, Fault(fault[0], start, end, fault[1]))


def _number(word: str, *, real: bool, start: int, end: int) -> tuple[Any, Fault | None]:
    if real:
        value = float(word)
        too_large = f"number {shortened(word)} is too large"
        return value, None if math.isfinite(value) else Fault(too_large, start, end)
    digits = len(word.lstrip("-"))
    if digits <= MAX_DIGITS:
        return int(word), None
    return None, Fault(f"whole number of {digits} digits, {MAX_DIGITS} are allowed", start, end)


def _number_fault(word: str) -> tuple[str, str | None] | None:
    bare = word.lstrip("+-")
    if bare.lower() in _NO_NUMBERS:
        return f"{shortened(word)} is no number of JSON", None
    if _LEADING_ZEROS.fullmatch(word):
        sign = "-" if word.startswith("-") else ""
        return f"leading zero in {shortened(word)}", f"write {shortened(sign + _without_zeros(bare))}"
    if word.startswith("+") and _NUMBER.fullmatch(bare):
        return f"plus sign before {shortened(bare)}", "leave it out"
    if bare.lstrip(".")[:1].isdecimal():
        return f"{shortened(word)} is no number of JSON", None
    return None


def _without_zeros(number: str) -> str:
    whole, point, rest = number.partition(".")
    return f"{whole.lstrip('0') or '0'}{point}{rest}"


def _word_fault(word: str) -> tuple[str, str] | None:
    lower = word.lower()
    meant = lower if lower in _LITERALS else _NEAR_LITERALS.get(lower)
    if meant is None:
        return None
    return f"{shortened(word)} is no value of JSON", f"did you mean '{meant}'?"
