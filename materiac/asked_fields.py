"""Which JSON fields a prompt asks for, told from plain English.

A prompt speaks of much that is no field of an answer: tables, files, what is missing. So a name counts only
as a key of an object that is shown, or in quotes where its sentence hands something over in it; a sentence
that forbids it does not count. In doubt nothing is asked for.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

_MOST: Final = 50
"""As many places of a prompt are looked at for each name."""
_SENTENCE: Final = 400
_FAR: Final = 4_000
"""How far an object and a list are looked back for, in characters."""

_TEMPLATE: Final = re.compile(r"\{\{[^{}]*\}\}")
_NAMES: Final = re.compile(
    r"([\"'`])(?:\$\.)?(?P<name>\w+)\1(?P<colon>\s*:)?|(?<![\w$.])\$\.(?P<path>\w+)(?![\w.])"
)

_BRACE: Final = re.compile(r"[{}\[\]]")
_BULLET: Final = re.compile(r"[ \t]*(?:[-*•]|\d+[.)])[ \t]+")
_BREAK: Final = re.compile(r"(?<!\n\d)[.!?;](?=\s)|\n[ \t]*(?=\n)|\n(?=[ \t]*(?:[-*•]|\d+[.)])[ \t])")
"""Where a sentence ends: not at the end of a line, but at that of a paragraph and of an entry of a list."""

_HEADED: Final = re.compile(r"\s*(?::|=|–|-|—|\()")
_LEAD: Final = re.compile(r"\b(?:json|fields?|keys?|object)\b", re.IGNORECASE)

_ANSWER: Final = r"(?:answer|response|reply|output|result|handoff|json|object)"
_GIVE: Final = (
    r"\b(?:answer|respond|reply|return|emit|output|hand|put|write|set|give|provide|include|produce|report|list"
    r"|state|explain|describe|say|collect|fill)\b"
)
_BEFORE: Final = re.compile(
    rf"{_GIVE}.*\b(?:in|into|as|under)\s+(?:an?\s+|the\s+|your\s+)?$"
    r"|\b(?:return|emit|answer\s+with|respond\s+with|reply\s+with|hand\s+over|set|json\s+(?:with|of))\s+"
    r"(?:[\w`'\"]+,?\s+){0,5}$",
    re.IGNORECASE | re.DOTALL,
)
_AFTER: Final = re.compile(
    rf"\s+(?:is\s+|=\s*|to\s+(?:be\s+)?|must\s+be\s+)?(?:true|false)\b|\s+(?:field\s+)?of\s+(?:your|the)\s+{_ANSWER}\b",
    re.IGNORECASE,
)
_FIELD: Final = re.compile(r"\s+(?:fields?|keys?|propert(?:y|ies))\b", re.IGNORECASE)

_NOUN: Final = (
    r"(?:table|column|row|file|folder|director(?:y|ies)|command|script|target|module|function|method|class|branch"
    r"|label|flag|element|tag|page|section|queue|list|endpoint|route|variable|option|package|attribute|test|heading"
    r"|chapter|task|job|table's)s?"
)
_OTHER_BEFORE: Final = re.compile(rf"\b{_NOUN}\s+(?:called\s+|named\s+)?$", re.IGNORECASE)
_OTHER_AFTER: Final = re.compile(
    rf"\s+{_NOUN}\b|\s+(?:\w+\s+)?(?:of|to|in|on|for|from)\s+(?:the|an?|each|every|this|that|its)\s+(?!{_ANSWER}\b)",
    re.IGNORECASE,
)

_CONDITION: Final = re.compile(
    r"^\W*(?:if|when|whenever|where|unless|otherwise|once|after|before)\b[^,]*,", re.IGNORECASE
)
_FORBIDS: Final = re.compile(
    r"\b(?:(?:do|must|should|may|need|can)\s*(?:not|n't)|don't|mustn't|shouldn't|needn't|cannot|can't|never|without|avoid"
    r"|omit|leave\s+out|instead\s+of|rather\s+than|no|nor|neither|obsolete|deprecated|former|no\s+longer)\b"
    r"|\bnot\s+(?:in|into|as|an?|the|with)?\s*$",
    re.IGNORECASE,
)
_FORBIDDEN: Final = re.compile(
    r"\b(?:not|never|no\s+longer|forbidden|obsolete|deprecated|dropped|ignored)\b|n't\b", re.IGNORECASE
)


def asked_fields(prompt: str, names: frozenset[str]) -> list[str]:
    """Those of `names` that a prompt asks for as fields of the answer, in the order in which it does."""
    if not any(name in prompt for name in names):
        return []
    text = _TEMPLATE.sub(lambda match: " " * len(match[0]), prompt)
    found: list[str] = []
    seen: Counter[str] = Counter()
    for match in _NAMES.finditer(text):
        name = match["name"] or match["path"]
        if name not in names or name in found or seen[name] == _MOST:
            continue
        seen[name] += 1
        if _is_asked(text, match):
            found.append(name)
    return found


def _is_asked(text: str, match: re.Match[str]) -> bool:
    if match["colon"] is not None and match[1] == '"':
        brace = _brace(text, match.start())
        if brace is not None:
            return not _is_forbidden(_sentence_before(text, brace), "")
    before, after = _sentence_before(text, match.start()), _sentence_after(text, match.end("name"))
    after = after[1:] if match["name"] else after
    if _OTHER_BEFORE.search(before) or _OTHER_AFTER.match(after) or _is_forbidden(before, after):
        return False
    if _BULLET.fullmatch(before) and _HEADED.match(after):
        lead = _lead(text, match.start())
        return _LEAD.search(lead) is not None and not _is_forbidden(lead, "")
    handed = _FIELD.match(after) and re.search(_GIVE, before, re.IGNORECASE)
    return bool(_BEFORE.search(before) or _AFTER.match(after) or handed)


def _brace(text: str, at: int) -> int | None:
    """The brace of the object whose key stands at an offset; None in another object, or in none."""
    opened: list[int] = []
    for match in _BRACE.finditer(text, max(0, at - _FAR), at):
        if match[0] in "{[":
            opened.append(match.start())
        elif opened:
            opened.pop()
    return opened[0] if len(opened) == 1 and text[opened[0]] == "{" else None


def _sentence_before(text: str, at: int) -> str:
    start = max(0, at - _SENTENCE)
    start = max((match.end() for match in _BREAK.finditer(text, start, at)), default=start)
    return text[start:at].lstrip("\n")


def _sentence_after(text: str, at: int) -> str:
    end = _BREAK.search(text, at, at + _SENTENCE)
    return text[at : end.start() if end else at + _SENTENCE]


def _lead(text: str, at: int) -> str:
    """The sentence above a list, from within one of its entries."""
    lines = text[max(0, at - _FAR) : at].split("\n")[:-1]
    while lines and (not lines[-1].strip() or _BULLET.match(lines[-1]) or lines[-1][:1] in " \t"):
        lines.pop()
    above = "\n".join(lines)
    return _sentence_before(above, len(above))


def _is_forbidden(before: str, after: str) -> bool:
    governed = _CONDITION.sub("", before)
    clause = re.split(r",|\band\b|\bbut\b", after, maxsplit=1)[0]
    return _FORBIDS.search(governed) is not None or _FORBIDDEN.search(clause) is not None
