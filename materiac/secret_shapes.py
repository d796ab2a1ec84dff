"""Secrets that stand in a text as they are: told by their shape, or by the name before them.

In doubt there is none: names of variables, templates, paths and examples are no secrets. Names of
variables whose values are secrets are in `environment`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_SHORTEST: Final = 12
"""No shorter text than this has a secret with its name in it."""

RULE: Final = "secret-literal"
"""The rule that reports them."""

MASK: Final = "*"
_SHOWN: Final = 4
"""As much of the start of a well-known secret is shown: it says whose it is."""

_SHAPES: Final = {
    "an API key": r"(?<![\w-])sk-[A-Za-z0-9_-]{20,}",
    "a Stripe key": r"(?<![A-Za-z0-9])[sr]k_live_[A-Za-z0-9]{16,}",
    "a GitHub token": r"(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})",
    "a GitLab token": r"(?<![A-Za-z0-9])glpat-[A-Za-z0-9_-]{20,}",
    "a Slack token": r"(?<![A-Za-z0-9])(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}",
    "the address of a webhook": r"hooks\.slack\.com/services/T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{16,}",
    "an AWS access key": r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    "a Google API key": r"(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{35}",
    "an npm token": r"(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36}",
    "a Hugging Face token": r"(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,}",
    "a JSON web token": r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
}
_PRIVATE: Final = r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?P<body>[^-]{20,})"
_NAME: Final = r"(?:api|access|private|secret|auth)[-_]?key|secret|token|passw(?:or)?d|pwd|credential"
_VALUE: Final = r"[^\s\"'`,;&<>(){}\[\]\\]{8,}+"
_NAMED: Final = rf"(?:{_NAME})s?[\"']?\s{{0,3}}[=:]\s{{0,3}}[\"']?(?P<value>{_VALUE})(?![(\[])"
_OPTION: Final = (
    rf"(?<![\w-])--?[\w-]{{0,40}}?(?:{_NAME})s?[\"']?(?:\s|\s{{0,40}},\s{{0,40}})[\"']?(?P<option>{_VALUE})"
)
_HEADER: Final = r"\b(?:Bearer|Basic)\s{1,3}(?P<header>[A-Za-z0-9._~+/=-]{16,})"
_IN_URL: Final = r"://[^\s/:@\"']{1,64}:(?P<pass>[^\s/@\"']{8,})@"

_MARKS: Final = (
    *(
        "sk-",
        "k_live_",
        "ghp_",
        "gho_",
        "ghu_",
        "ghs_",
        "ghr_",
        "github_pat_",
        "glpat-",
        "xox",
        "xapp-",
        "hooks.slack",
    ),
    *("AKIA", "ASIA", "AIza", "npm_", "hf_", "eyJ", "PRIVATE KEY"),
)
_WORDS: Final = ("key", "secret", "token", "passw", "pwd", "credential", "bearer", "basic", "://")
"""Without one of these there is nothing to look for, which is told much faster."""

_KINDS: Final = tuple(_SHAPES)
_SHAPED: Final = re.compile(
    "|".join([*(f"(?P<s{i}>{shape})" for i, shape in enumerate(_SHAPES.values())), f"(?P<pem>{_PRIVATE})"])
)
_SAID: Final = re.compile(f"(?i:{_NAMED}|{_OPTION})|{_HEADER}|{_IN_URL}")
_SAID_KINDS: Final = {"value": "a secret", "option": "a secret", "header": "a token", "pass": "a password"}
_SECRET_NAME: Final = re.compile(rf"(?:{_NAME})s?$", re.IGNORECASE)
_PLACEHOLDER: Final = re.compile(
    r"x{4}|\*{3}|\.{3}|…|example|your|placeholder|change[-_]?me|dummy|fake|redacted|[<>{}$%]", re.IGNORECASE
)
_NO_VALUE: Final = re.compile(
    r"[@/~.]|[A-Z][A-Z0-9_]*$|[a-z][a-z0-9+.-]*:|[A-Za-z_]\w{0,19}(?:\.[A-Za-z_]\w{0,19})+$"
)
"""A path, the name of a variable, a URL, names with dots between them."""
_TURN: Final = re.compile(r"[A-Za-z](?=[0-9])|[0-9](?=[A-Za-z])")
_RUN: Final = re.compile(r"[A-Za-z0-9]{16,}")


class Literal(NamedTuple):
    """A secret in a text: what it looks like, and its character offsets."""

    kind: str
    start: int
    end: int


def literals(text: str) -> Iterator[Literal]:
    """The secrets in a text: those of a well-known shape, and those with a name before them."""
    if len(text) < _SHORTEST:
        return
    if any(mark in text for mark in _MARKS):
        yield from _shaped(text)
    folded = text.casefold()
    if any(word in folded for word in _WORDS):
        yield from _said(text)


def _shaped(text: str) -> Iterator[Literal]:
    for match in _SHAPED.finditer(text):
        if match["pem"] is not None:
            yield Literal("a private key", *match.span("body"))
        elif _is_real(match[0]):
            yield Literal(_KINDS[int((match.lastgroup or "s0")[1:])], *match.span())


def _said(text: str) -> Iterator[Literal]:
    for match in _SAID.finditer(text):
        group = match.lastgroup or ""
        if is_secret(match[group]):
            yield Literal(_SAID_KINDS[group], *match.span(group))


def names_secret(name: str) -> bool:
    """Whether a key or an option says that what it is given is a secret."""
    return _SECRET_NAME.search(name) is not None


def is_secret(value: str) -> bool:
    """Whether what a secret's name is given looks like one, and not like a word or like a reference."""
    if len(value) < 8 or _PLACEHOLDER.search(value) or _NO_VALUE.match(value):
        return False
    return len(set(value)) >= 6 and len(_TURN.findall(value)) >= 2


def veiled(text: str) -> str:
    """A text of the same length in which no secret can be read."""
    characters: list[str] = []
    for found in literals(text):
        characters = characters or list(text)
        start = found.start + (_SHOWN if found.kind in _SHAPES else 0)
        characters[start : found.end] = MASK * (found.end - start)
    return "".join(characters) or text


def _is_real(secret: str) -> bool:
    """Whether a text of a well-known shape is no example of it: long enough without a break, and random."""
    digits = sum(character.isdigit() for character in secret)
    varied = len(set(secret)) >= 10 and digits >= 1
    return varied and _RUN.search(secret) is not None and not _PLACEHOLDER.search(secret)
