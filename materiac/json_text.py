"""JSON as in RFC 8259, with places: bytes to a source, a source to a document.

A sound text is read by the standard library. Only where something has to be said about it, it is read
again by `json_reader`, which knows places.
"""

from __future__ import annotations

import codecs
import functools
import itertools
import json
import math
import re
from typing import Any, Final, NoReturn

from materiac.diagnostic import Finding, Severity
from materiac.json_reader import MAX_DEPTH, Reader
from materiac.json_tokens import MAX_DIGITS, has_lone_surrogate
from materiac.source import KEY, Document, Pointer, Source, Span, Spans

_UTF_32 = ((codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be"))
_UTF_16 = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_NUL_PATTERNS: Final = {
    "x000": "utf-32-le",
    "000x": "utf-32-be",
    "x0x0": "utf-16-le",
    "0x0x": "utf-16-be",
}

_PART = re.compile(
    r"""[ \t\n\r,]*+ (?: (?P<close>[}\]])
    | (?: (?P<key>"[^"\\]*+(?:\\.[^"\\]*+)*+") [ \t\n\r]*+:[ \t\n\r]*+ )?
      (?: (?P<open>[{\[]) | (?P<scalar>"[^"\\]*+(?:\\.[^"\\]*+)*+" | [\w.+-]++) ) )""",
    re.VERBOSE,
)
"""One step through a sound text: the end of a container, or a value with the key that it may have."""


def decode(name: str, raw: bytes) -> tuple[Source, list[Finding]]:
    """Decode UTF-8, without its byte-order mark; text that is none comes back lossy, with a finding."""
    foreign = _wide_encoding(raw)
    if foreign is not None:
        source = Source(name, raw.decode(foreign, "replace").removeprefix("\ufeff"))
        looks = foreign[:6].upper()
        return source, [_encoding_finding(f"this looks like {looks}, expected UTF-8", Span(0, 0))]
    raw = raw.removeprefix(codecs.BOM_UTF8)
    try:
        source = Source(name, raw.decode())
    except UnicodeDecodeError as error:
        return Source(name, raw.decode("utf-8", "replace")), [_broken_utf_8(raw, error.start)]
    nul = source.text.find("\0")
    if nul >= 0:
        words = "byte 0x00: this looks like binary data, expected UTF-8"
        return source, [_encoding_finding(words, Span(nul, nul + 1))]
    return source, []


def _wide_encoding(raw: bytes) -> str | None:
    marked = next((encoding for mark, encoding in (*_UTF_32, *_UTF_16) if raw.startswith(mark)), None)
    return marked or _NUL_PATTERNS.get("".join("x" if byte else "0" for byte in raw[:4]))


def _broken_utf_8(raw: bytes, offset: int) -> Finding:
    before = raw[:offset]
    guess = "damaged UTF-8" if not before.isascii() else "Latin-1 or Windows-1252"
    if b"\0" in raw:
        guess = "binary data"
    at = len(before.decode())
    words = f"byte 0x{raw[offset]:02x}: this looks like {guess}, expected UTF-8"
    return _encoding_finding(words, Span(at, at + 1))


def _encoding_finding(message: str, span: Span) -> Finding:
    return Finding("encoding", Severity.ERROR, message, span, help="save the file as UTF-8")


def read(source: Source) -> tuple[Document | None, list[Finding]]:
    """Read JSON. There is a document where there are no findings; every finding is an error at a span."""
    index = functools.partial(_index, source.text)
    try:
        return Document(source, _quick(source.text), index), []
    except (ValueError, RecursionError):
        reader = Reader(source.text)
        reader.run()
    if reader.findings:
        return None, sorted(reader.findings, key=lambda finding: finding.at)
    return Document(source, reader.root, index), []


def _quick(text: str) -> Any:
    """The value of a sound text. Raises `ValueError` or `RecursionError` where it is not."""
    data = json.loads(
        text,
        object_pairs_hook=_distinct,
        parse_constant=_refuse,
        parse_float=_held_float,
        parse_int=_held_int,
    )
    if has_lone_surrogate(text) or _is_deep(data):
        raise ValueError
    return data


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError
    return members


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _held_float(number: str) -> float:
    value = float(number)
    return value if math.isfinite(value) else _refuse(number)


def _held_int(number: str) -> int:
    return int(number) if len(number.lstrip("-")) <= MAX_DIGITS else _refuse(number)


def _is_deep(data: Any) -> bool:
    level = [data] if isinstance(data, dict | list) else []
    for _ in range(MAX_DEPTH):
        if not level:
            return False
        parts = itertools.chain.from_iterable(x.values() if isinstance(x, dict) else x for x in level)
        level = [part for part in parts if isinstance(part, dict | list)]
    return bool(level)


def _index(text: str) -> Spans:
    """The spans of every key and value of a sound text, in one pass without recursion."""
    spans: dict[Pointer, Span] = {}
    outer: list[tuple[Pointer, int, int]] = []
    around: Pointer = ()
    start = position = 0
    for match in _PART.finditer(text, 0, len(text.rstrip())):
        if match.lastgroup == "close":
            spans[around] = Span(start, match.end())
            around, start, position = outer.pop()
            continue
        if match["key"]:
            here: Pointer = (*around, _unquoted(match["key"]))
            spans[(*here, KEY)] = Span(*match.span("key"))
        else:
            here = (*around, position) if outer else ()
            position += 1
        if match.lastgroup == "open":
            outer.append((around, start, position))
            around, start, position = here, match.end() - 1, 0
        else:
            spans[here] = Span(*match.span("scalar"))
    return spans


def _unquoted(key: str) -> str:
    return json.loads(key) if "\\" in key else key[1:-1]
