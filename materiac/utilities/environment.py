"""The environment of commands, and the secrets in it: left out, and masked in what comes back."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

MASK: Final = "***"
MIN_LENGTH: Final = 8
"""Shorter values are not masked: they would be found in words that are no secret."""

_SECRET: Final = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
# Words that merely hold one of those, at the start of a word part; git counts its settings as
# GIT_CONFIG_KEY_0, and will not start when one is missing.
_HARMLESS: Final = re.compile(
    r"(?<![a-z])(?:(?:DON|HOC|JOC|MON|TUR|WHIS)KEYS?|KEY(?:BOARD|FRAME|MAP|NOTE|PAD|STROKE|WORD)S?|KEYTIMEOUT"
    r"|TOKENI[SZ](?:E|ERS?|ING|ATION))(?![a-z])|^GIT_CONFIG_KEY_\d+$",
    re.IGNORECASE,
)


# Some encoders escape what could end a script in a page, with small or capital digits.
_HTML_SAFE: Final = tuple({ord(c): f"\\u{ord(c):{digits}}" for c in "&<>'"} for digits in ("04x", "04X"))


def looks_secret(name: str) -> bool:
    """Whether a variable's name says that its value is a secret. In doubt, it does."""
    return _SECRET.search(name) is not None and _SECRET.search(_HARMLESS.sub(" ", name)) is not None


def clean(environ: Mapping[str, str], allowed: Collection[str]) -> dict[str, str]:
    """The variables without the secrets, but with those that are allowed by name."""
    return {name: value for name, value in environ.items() if name in allowed or not looks_secret(name)}


def secrets(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The values to be masked, longest first."""
    found = {value for name, value in environ.items() if len(value) >= MIN_LENGTH and looks_secret(name)}
    return tuple(sorted(found, key=lambda value: (-len(value), value)))


class Mask:
    """Replaces secrets by `***`, as they are and as they are spelt inside JSON."""

    def __init__(self, values: Iterable[str]) -> None:
        spellings = {spelling for value in values if value for spelling in _spellings(value)}
        self._values = sorted(spellings, key=lambda value: (-len(value), value))

    def text(self, text: str) -> str:
        """A text without the secrets."""
        for value in self._values:
            text = text.replace(value, MASK)
        return text

    def data(self, value: Any) -> Any:
        """A JSON value without the secrets in its strings and keys; any depth, the given one is not changed.

        Keys that become the same leave the last of their values.
        """
        if not self._values:
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


def _spellings(value: str) -> set[str]:
    """The text itself, and the ways in which encoders of JSON write it inside of a string."""
    plain = {json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    safe = {text.translate(codes) for text in plain for codes in _HTML_SAFE}
    slashed = {text.replace("/", "\\/") for text in plain | safe}
    return {value, *plain, *safe, *slashed}
