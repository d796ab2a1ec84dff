"""Secrets that stand in a text as they are: told by their shape, or by the name before them.

In doubt there is none: names of variables, templates, paths and examples are no secrets. Names of
variables whose values are secrets are in `environment`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

_SHORTEST: Final = 12
"""No shorter text than this has a secret with its name in it."""

RULE: Final = "secret-literal"
"""The rule that reports them."""

MASK: Final = "*"
_SHOWN: Final = 4
"""As much of the start of a well-known secret is shown."""

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
    "a SendGrid key": r"(?<![A-Za-z0-9])SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{30,}",
    "a JSON web token": r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
}
_PRIVATE: Final = r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?P<body>[^-]{20,})"
_KEY: Final = r"(?:api|access|account|private|secret|auth|signing)[-_]?key"
_NAME: Final = rf"(?:{_KEY}|secret|token|passw(?:or)?d|pwd|credential)s?"
_QUOTE: Final = r"\\*+[\"']?"
"""A quote, which may stand in a text within a text."""
_GAP: Final = rf"{_QUOTE}(?:\s*+,\s*+|\s++|=){_QUOTE}"
"""What is between an option and its argument: in a command line, and in a list of arguments."""
_VALUE: Final = r"[^\s\"'`,;&<>(){}\[\]\\]{8,}+"
_NAMED: Final = (
    rf"{_NAME}(?:(?P<colon>\s*+:\s++(?=[^\s\"'\\]))|{_QUOTE}\s*+[=:]\s*+{_QUOTE})(?P<value>{_VALUE})(?![(\[])"
)
_OPTION: Final = rf"(?<![\w-])--?[\w-]{{0,40}}?{_NAME}{_GAP}(?P<option>{_VALUE})"
_HEADER: Final = (
    r"(?:\b(?:Bearer|Basic)|(?i:\bAuthorization[\\\"']*+\s*+:[\s\\\"']*+(?:token|api-?key)))\s{1,3}"
    r"(?P<header>[A-Za-z0-9._~+/=-]{16,})"
)
_IN_URL: Final = r"://(?P<user>[^\s/:@\"']{1,64}):(?P<pass>[^\s/@\"']{8,})@(?P<host>[\w.-]*)"
_OF_USER: Final = rf"(?<![\w-])(?:-u|--(?:proxy-)?user){_GAP}[\w.@+-]{{1,64}}:(?P<login>{_VALUE})"

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
    *("AKIA", "ASIA", "AIza", "npm_", "hf_", "eyJ", "SG.", "PRIVATE KEY"),
)
_WORDS: Final = (
    "key",
    "secret",
    "token",
    "passw",
    "pwd",
    "credential",
    "bearer",
    "basic",
    "authorization",
    "://",
    "-u",
    "--user",
)
"""Without one of these there is nothing to look for, which is told much faster."""

_KINDS: Final = tuple(_SHAPES)
_SHAPED: Final = re.compile(
    "|".join([*(f"(?P<s{i}>{shape})" for i, shape in enumerate(_SHAPES.values())), f"(?P<pem>{_PRIVATE})"])
)
_SAID: Final = re.compile(f"(?i:{_NAMED}|{_OPTION})|{_HEADER}|{_IN_URL}|{_OF_USER}")
_SAID_KINDS: Final = {
    "value": "a secret",
    "option": "a secret",
    "header": "a token",
    "pass": "a password",
    "login": "a password",
}
_SECRET_NAME: Final = re.compile(rf"{_NAME}$", re.IGNORECASE)
_COUNTED: Final = re.compile(
    r"(?<![A-Za-z])(?:max|min|num|number|limit|count|total|budget|window|n|input|output|prompt|context|completion"
    r"|special|stop|new)(?:[_-]?\w{1,20}){0,2}?[_-]?tokens?[\W_]*$",
    re.IGNORECASE,
)
"""The name of a number of tokens, or of what a tokenizer makes."""
_COUNTED_FAR: Final = 60
_PLACEHOLDER: Final = re.compile(
    r"x{4}|\*{3}|\.{3}|…|example|your|placeholder|change[-_]?me|dummy|fake|redacted|test|demo|sample|[<>{}$%]"
    r"|eyJzdWIiOiIxMjM0NTY3ODkw",  # 'sub' is 1234567890, as in all that is written about such tokens
    re.IGNORECASE,
)
_NO_VALUE: Final = re.compile(
    r"[@/~.]|[a-z][a-z0-9+.-]*:|[A-Za-z_]\w{0,19}(?:\.[A-Za-z_]\w{0,19})+$|(?:[a-z_-]+[0-9]{0,3}/)+[a-z_-]+[0-9]{0,3}$"
    r"|(?=(?:[a-z0-9]+-)*[a-z]{4,}(?:-|$))[a-z0-9]+(?:-[a-z0-9]+)+$"
)
"""A path, a URL, names with dots between them, words with dashes between them."""
_VARIABLE: Final = re.compile(r"[A-Z][A-Z0-9_]*")
_OWN_HOST: Final = re.compile(
    r"(?:localhost|127\.[0-9.]+|0\.0\.0\.0|example\.(?:com|org|net))$", re.IGNORECASE
)
_TURN: Final = re.compile(r"[A-Za-z](?=[0-9])|[0-9](?=[A-Za-z])")
_RUN: Final = re.compile(r"[A-Za-z0-9]{16,}")
_ESCAPE: Final = re.compile(r"\\(?:u(?P<code>[0-9A-Fa-f]{4})|.)")
_ESCAPES: Final = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


class Literal(NamedTuple):
    """A secret in a text: what it looks like, and its character offsets."""

    kind: str
    start: int
    end: int

    @property
    def hidden(self) -> int:
        """Where that begins which is not shown: the start of a well-known shape says whose the secret is."""
        return self.start + (_SHOWN if self.kind in _SHAPES else 0)


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
        group = next(name for name in _SAID_KINDS if match[name] is not None)
        if _is_told(match, group):
            yield Literal(_SAID_KINDS[group], *match.span(group))


def _is_told(match: re.Match[str], group: str) -> bool:
    """Whether what stands before a value can mean that it is a secret, and the value is one."""
    value = match[group]
    if group == "pass":
        unreal = _PLACEHOLDER.search(match["user"]) or _OWN_HOST.match(match["host"])
        return not unreal and is_secret(value)
    if group in {"value", "option"}:
        before = match.string[max(0, match.start(group) - _COUNTED_FAR) : match.start(group)]
        if _COUNTED.search(before):
            return False
    if group == "login":
        return is_password(value)
    return is_secret(value) and (match["colon"] is None or is_random(value))


def names_secret(name: str) -> bool:
    """Whether a key or an option says that what it is given is a secret."""
    return _SECRET_NAME.search(name) is not None and _COUNTED.search(name) is None


def is_secret(value: str) -> bool:
    """Whether what a secret's name is given looks like one, and not like a word or like a reference."""
    if len(value) < 8 or _PLACEHOLDER.search(value) or _NO_VALUE.match(value):
        return False
    if _VARIABLE.fullmatch(value) and ("_" in value or not is_random(value)):
        return False
    return len(set(value)) >= 6 and len(_TURN.findall(value)) >= 2


def is_password(value: str) -> bool:
    """Whether what follows the name of a user looks like a password, and not like a group or a branch."""
    return is_secret(value) and len(_TURN.findall(value)) >= 4


def is_random(value: str) -> bool:
    """Whether a text can hardly be a word with numbers in it, as types and names are in prose."""
    return len(value) >= _SHORTEST and len(_TURN.findall(value)) >= 4


def veiled(text: str) -> str:
    """A text of the same length and the same lines in which no secret can be read, however it is escaped."""
    spans = [(found.hidden, found.end) for found in literals(text)]
    if "\\" in text:
        plain, origins = _plain(text)
        spans += [(origins[found.hidden], origins[found.end]) for found in literals(plain)]
    return masked(text, spans)


def masked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """A text with masks for all characters of some spans but for the ends of lines."""
    characters: list[str] = []
    for start, end in spans:
        characters = characters or list(text)
        characters[start:end] = [c if c in "\r\n" else MASK for c in characters[start:end]]
    return "".join(characters) or text


def unescaped(text: str) -> str:
    """What a text means where it stands in quotes."""
    return _plain(text)[0]


def _plain(text: str) -> tuple[str, list[int]]:
    """A text as it is meant where it stands in quotes, and where each character of it came from."""
    parts: list[str] = []
    origins: list[int] = []
    end = 0
    for match in _ESCAPE.finditer(text):
        parts += (text[end : match.start()], _meant(match))
        origins += range(end, match.start() + 1)
        end = match.end()
    parts.append(text[end:])
    return "".join(parts), [*origins, *range(end, len(text) + 1)]


def _meant(match: re.Match[str]) -> str:
    if match["code"] is not None:
        return chr(int(match["code"], 16))
    return _ESCAPES.get(match[0][1], match[0][1])


def _is_real(secret: str) -> bool:
    """Whether a text of a well-known shape is no example of it: long enough without a break, and random."""
    digits = sum(character.isdigit() for character in secret)
    varied = len(set(secret)) >= 10 and digits >= 1
    return varied and _RUN.search(secret) is not None and not _PLACEHOLDER.search(secret)
