"""The environment of commands, and the secrets in it: left out, and masked in what comes back."""

from __future__ import annotations

import base64
import json
import os
import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote

MASK: Final = "***"
MIN_LENGTH: Final = 8
"""Shorter values are not masked: they would be found in words that are no secret."""
MIN_PART: Final = 6
"""As much of a secret as is masked where a text was cut in the middle of one."""

# The headers for a collector of OpenTelemetry hold its key.
_SECRET: Final = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|OTLP_(?:[A-Z]+_)?HEADERS", re.IGNORECASE)
# Words that merely hold one of those, at the start of a word part; git counts its settings as
# GIT_CONFIG_KEY_0, and will not start when one is missing.
_HARMLESS: Final = re.compile(
    r"(?<![a-z])(?:(?:DON|HOC|JOC|MON|TUR|WHIS)KEYS?|KEY(?:BOARD|FRAME|MAP|NOTE|PAD|STROKE|WORD)S?|KEYTIMEOUT"
    r"|TOKENI[SZ](?:E|ERS?|ING|ATION))(?![a-z])|^GIT_CONFIG_KEY_\d+$",
    re.IGNORECASE,
)

# Some encoders escape what could end a script in a page, with small or capital digits.
_HTML_SAFE: Final = tuple({ord(c): f"\\u{ord(c):{digits}}" for c in "&<>'"} for digits in ("04x", "04X"))
# What is left as it is by: Python, for paths and for parts; JavaScript, for parts and for whole
# addresses; forms.
_URL_SAFE: Final = ("/", "", "!'()*", "!'()*;,/?:@&=+$#", "*")
_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]+")
_BREAK: Final = re.compile(r"(?:(?:\\r)?\\n|\r?\n)[ \t]*")
"""A line break as it is, or as JSON spells it, and an indent behind it."""
_LINES: Final = re.compile(
    rf"(?<![A-Za-z0-9+/_-])(?:[A-Za-z0-9+/_-]{{16,}}+{_BREAK.pattern})+[A-Za-z0-9+/_-]+"
)
"""Lines of base64, one below the other; a long line alone is looked through once."""
_ESCAPE: Final = re.compile("%[0-9A-F]{2}")


def looks_secret(name: str) -> bool:
    """Whether a variable's name says that its value is a secret. In doubt, it does."""
    return _SECRET.search(name) is not None and _SECRET.search(_HARMLESS.sub(" ", name)) is not None


def clean(environ: Mapping[str, str], allowed: Collection[str]) -> dict[str, str]:
    """The variables without the secrets, but with those that are allowed by name."""
    return {name: value for name, value in environ.items() if name in allowed or not looks_secret(name)}


def withheld(environ: Mapping[str, str], allowed: Collection[str]) -> tuple[str, ...]:
    """The names of what `clean` leaves out, sorted."""
    return tuple(sorted(environ.keys() - clean(environ, allowed).keys()))


def secrets(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The values to be masked, longest first; also without the white space around them."""
    whole = [value for name, value in environ.items() if looks_secret(name)]
    found = {text for value in whole for text in (value, value.strip()) if len(text) >= MIN_LENGTH}
    return tuple(sorted(found, key=_longest_first))


def unsecret(text: str) -> str:
    """A text without the secrets of this process."""
    return Mask(secrets(os.environ)).text(text)


class Mask:
    """Replaces secrets by `***`: as they are, and as JSON, URLs, base64 and hex spell them.

    Base64 is found wherever the secret stands in what was encoded, in both alphabets; the characters
    before and after, which the secret shares with its neighbours, are left.
    """

    def __init__(self, values: Iterable[str]) -> None:
        found = {spelling for value in values if value for spelling in _spellings(value)}
        spellings = sorted(found, key=_longest_first)
        self._all = spellings
        self._wrapped = [text for text in spellings if _BASE64.fullmatch(text)]
        self._for = {(p, b): _Needles(spellings, p, b) for p in (True, False) for b in (True, False)}

    def text(self, text: str) -> str:
        """A text without the secrets."""
        for spelling in self._for["%" in text, "\\" in text].up_to(len(text)):
            text = text.replace(spelling, MASK)
        if self._wrapped and ("\n" in text or "\\n" in text):
            text = _LINES.sub(self._without_wrapped, text)
        return text

    def _without_wrapped(self, found: re.Match[str]) -> str:
        """Lines of base64 without the secrets that a line break divides."""
        block, bare = found[0], _BREAK.sub("", found[0])
        hits = [(at, at + len(text)) for text in self._wrapped for at in _all_places(bare, text)]
        if not hits:
            return block
        ends = [match.span() for match in _BREAK.finditer(block)]
        lines = zip([0, *(end for _, end in ends)], [*(start for start, _ in ends), len(block)], strict=True)
        places = [at for start, stop in lines for at in range(start, stop)]
        last = len(bare)
        for start, stop in sorted(hits, reverse=True):
            if start < last:
                block = block[: places[start]] + MASK + block[places[min(stop, last) - 1] + 1 :]
                last = start
        return block

    def cut(self, text: str, *, start: bool, end: bool) -> str:
        """The same for a text that was cut at its start or end: without the part of a secret there.

        A part of fewer than `MIN_PART` characters is left.
        """
        if end and (length := max((_begun(text, spelling) for spelling in self._all), default=0)):
            text = text[:-length] + MASK
        if start and (length := max((_ended(text, spelling) for spelling in self._all), default=0)):
            text = MASK + text[length:]
        return self.text(text)

    def data(self, value: Any) -> Any:
        """A JSON value without the secrets in its strings and keys; any depth, the given one is not changed.

        Keys that become the same leave the last of their values.
        """
        if not self._all:
            return value
        root = [value]
        pending: list[Any] = [root]
        while pending:
            node = pending.pop()
            for key, child in list(node.items() if isinstance(node, dict) else enumerate(node)):
                node[key] = masked = self._shallow(child)
                if isinstance(masked, dict | list):
                    pending.append(masked)
        return root[0]

    def _shallow(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(key): child for key, child in value.items()}
        return list(value) if isinstance(value, list) else value


class _Needles:
    """The spellings that can stand in a text with or without `%`, with or without a backslash."""

    def __init__(self, spellings: Iterable[str], percent: bool, backslash: bool) -> None:
        self._texts = [s for s in spellings if (percent or "%" not in s) and (backslash or "\\" not in s)]
        self._lengths = [-len(spelling) for spelling in self._texts]

    def up_to(self, length: int) -> list[str]:
        """Those that are no longer than the text."""
        return self._texts[bisect_left(self._lengths, -length) :]


def _longest_first(text: str) -> tuple[int, str]:
    return -len(text), text


def _all_places(text: str, part: str) -> Iterator[int]:
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def _begun(text: str, spelling: str) -> int:
    """The length of the longest beginning of a spelling that a text ends with."""
    lengths = (at + MIN_PART for at in _places(text[-MIN_PART:], spelling))
    return max((length for length in lengths if text.endswith(spelling[:length])), default=0)


def _ended(text: str, spelling: str) -> int:
    """The length of the longest end of a spelling that a text starts with."""
    lengths = (len(spelling) - at for at in _places(text[:MIN_PART], spelling))
    return max((length for length in lengths if text.startswith(spelling[-length:])), default=0)


def _places(part: str, spelling: str) -> Iterator[int]:
    return _all_places(spelling, part) if len(part) == MIN_PART else iter(())


def _spellings(value: str) -> set[str]:
    raw = _encoded(value)
    shown = {repr(value)[1:-1], value.replace("\\", "\\\\")}
    return {value, raw.hex(), raw.hex().upper(), *shown, *_in_json(value), *_in_urls(raw), *_in_base64(raw)}


def _encoded(value: str) -> bytes:
    try:
        return value.encode("utf-8", "surrogateescape")  # as variables hold bytes that are no text
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogatepass")


def _in_json(value: str) -> set[str]:
    """The ways in which encoders of JSON write a text inside of a string, also of JSON in JSON."""
    bare = {json.dumps(value, ensure_ascii=plain)[1:-1] for plain in (True, False)}
    safe = {text.translate(codes) for text in bare for codes in _HTML_SAFE}
    once = bare | safe | {text.replace("/", "\\/") for text in bare | safe}
    return once | {json.dumps(text, ensure_ascii=plain)[1:-1] for text in once for plain in (True, False)}


def _in_urls(raw: bytes) -> set[str]:
    quoted = {quote(raw, safe=safe) for safe in _URL_SAFE} | {"".join(f"%{byte:02X}" for byte in raw)}
    quoted |= {text.replace("%20", "+") for text in quoted}
    return quoted | {_ESCAPE.sub(lambda code: code[0].lower(), text) for text in quoted}


def _in_base64(raw: bytes) -> set[str]:
    """What is the same wherever a secret stands in a text that is encoded, also inside of JSON and URLs."""
    found: set[str] = set()
    for before in range(3):
        first, end = (0, 2, 3)[before], (before + len(raw)) * 8 // 6
        core = base64.b64encode(bytes(before) + raw)[first:end].decode()
        found |= {core, core.replace("+", "-").replace("/", "_"), core.replace("/", "\\/")}
        quoted = {quote(core), quote(core, safe="")}
        found |= quoted | {_ESCAPE.sub(lambda code: code[0].lower(), text) for text in quoted}
    return {text for text in found if len(text) >= MIN_LENGTH}
