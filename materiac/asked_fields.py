"""Which JSON fields a prompt asks for, told from plain English.

A prompt speaks of much that is no field of an answer: tables, files, what is missing. So a name counts only
where a sentence has the agent's own answer for its subject, and nothing else stands between: as a key of an
object that is shown, or in quotes where something is handed over in it. In doubt nothing is asked for.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from typing import Final

from materiac import prompt_sentences as sentences
from materiac.prompt_sentences import ANSWER

_MOST: Final = 50
"""As many places of a prompt are looked at for each name."""
_FAR: Final = 4_000
"""How far an object and a list are looked back for, in characters."""

_TEMPLATE: Final = re.compile(r"\{\{[^{}]*\}\}")
_BRACE: Final = re.compile(r"[{}\[\]]")
_BULLET: Final = re.compile(r"[ \t]*(?:[-*•]|\d+[.)])[ \t]+(?:\*\*)?")
_KEY: Final = re.compile(r"\s*\??\s*:")
_OPENS: Final = re.compile(r"[{,\n]\s*$")

_HEADED: Final = re.compile(r"(?:\*\*)?\s*(?::|=|–|-|—|\()")
_TELLS: Final = re.compile(
    r"\s+(?:(?:field|key)\s+)?(?:is|says|has|holds|must|should|contains|lists|tells|names|gives|explains)\b|\s*[:=–—]",
    re.IGNORECASE,
)
_TRUTH: Final = re.compile(r"\s*[:=]\s*(?:true|false)\b", re.IGNORECASE)
_TYPED: Final = re.compile(r"\s*\((?:bool|string|number|list|array|true|optional)", re.IGNORECASE)
_SET: Final = re.compile(r"\s+(?:field\s+)?to\s|\s*[:=]", re.IGNORECASE)
_SET_TRUTH: Final = re.compile(r"\s+to\s+(?:true|false)\b", re.IGNORECASE)
_FIELD: Final = re.compile(r"\s+(?:fields?|keys?|propert(?:y|ies))\b", re.IGNORECASE)
_OF_YOURS: Final = re.compile(rf"\s+(?:field\s+)?of\s+your\s+(?:\w+\s+)?{ANSWER}\b", re.IGNORECASE)
_IN_YOURS: Final = re.compile(
    rf"\s+(?:field\s+)?(?:in|to|into)\s+your\s+(?:\w+\s+)?{ANSWER}\b", re.IGNORECASE
)
_ADDS: Final = re.compile(r"^\W*(?:include|add|put)\s+(?:(?:an?|the)\s+)?$", re.IGNORECASE)
_ALONE: Final = re.compile(r"\W*(?:the\s+)?(?:(?:field|key)\s+)?\W*", re.IGNORECASE)
_NEXT: Final = re.compile(r"(?:[,;&+]|\band|\bor)\s*(?:(?:an?|the)\s+)?$", re.IGNORECASE)
_OR_BEFORE: Final = re.compile(r"[`'\"]\s*,?\s*or\s+$")
_OR_AFTER: Final = re.compile(r"\s*,?\s*or\s+[`'\"]")

_NOUN: Final = (
    r"(?:table|column|row|file|folder|director(?:y|ies)|command|script|target|module|function|method|class|branch"
    r"|label|flag|element|tag|page|section|queue|list|endpoint|route|variable|option|package|attribute|test|heading"
    r"|chapter|task|job|tool|mode|format|style|table's)s?"
)
_OTHER_BEFORE: Final = re.compile(rf"\b{_NOUN}\s+(?:called\s+|named\s+)?$", re.IGNORECASE)
_OTHER_AFTER: Final = re.compile(
    rf"\s+{_NOUN}\b|\s+(?:\w+\s+)?(?:of|to|in|on|for|from)\s+(?:the|an?|each|every|this|that|its)\s+(?!{ANSWER}\b)",
    re.IGNORECASE,
)
_FORBIDDEN: Final = re.compile(
    r"\b(?:not|never|no\s+longer|forbidden|obsolete|deprecated|dropped|ignored)\b|n't\b", re.IGNORECASE
)
_CLAUSE_END: Final = re.compile(r",|\b(?:and|but|if|when|where|unless|what|how|why|who)\b", re.IGNORECASE)
_FORBIDS: Final = re.compile(
    r"\b(?:not|never|no|nor|without|instead\s+of|rather\s+than)\b|n't\b", re.IGNORECASE
)


def asked_fields(prompt: str, names: frozenset[str]) -> list[str]:
    """Those of `names` that a prompt asks for as fields of the answer, in the order in which it does."""
    if not any(name in prompt for name in names):
        return []
    text = _TEMPLATE.sub(lambda match: " " * len(match[0]), prompt)
    found: list[str] = []
    seen: Counter[str] = Counter()
    last = 0
    for match in _mentions(names).finditer(text):
        name = match["quoted"] or match["path"] or match["bare"]
        seen[name] += 1
        if seen[name] <= _MOST and _is_asked(text, match, last):
            last = match.end()
            found.append(name)
    return list(dict.fromkeys(found))


@functools.cache
def _mentions(names: frozenset[str]) -> re.Pattern[str]:
    name = "|".join(sorted(names))
    return re.compile(
        rf"(?P<quote>[\"'`])(?:\$\.)?(?P<quoted>{name})(?:\s*[:=]\s*[^`'\"\n]{{0,30}})?(?P=quote)"
        rf"|(?<![\w$.])\$\.(?P<path>{name})(?![\w.])"
        rf"|(?<![\w$.`'\"/-])(?P<bare>{name})(?=\**\s*\??\s*[:=(]|\s+to\s+(?:true|false)\b|\s+(?:field|key|property)\b)",
    )


def _is_asked(text: str, match: re.Match[str], last: int) -> bool:
    """Whether a mention asks for a field; `last` is the end of the last one that does."""
    if (match["bare"] or match["quote"]) and _KEY.match(text, match.end()):
        around = _braces(text, match.start())
        if around and (match["quote"] or _OPENS.search(text, around[0], match.start())):
            return len(around) == 1 and _is_answered_with(text, around[0])
    before, after = sentences.before(text, match.start()), sentences.after(text, match.end())
    if _OTHER_BEFORE.search(before) or _is_of_another(after):
        return False
    if _BULLET.fullmatch(before) and _HEADED.match(after):
        return _is_listed(text, match.start())
    if match["bare"]:
        return _is_plainly_asked(before, after) and not _is_held(text, match.start(), before)
    return (
        _is_next(text, match, last)
        or (_is_handed(before, after, match["quote"]) and not _is_held(text, match.start(), before))
        or _is_described(text, match, before, after)
    )


def _is_of_another(after: str) -> bool:
    if _OTHER_AFTER.match(after) or sentences.goes_elsewhere(after):
        return True
    clause = _CLAUSE_END.split(after, maxsplit=1)[0]
    return _FORBIDDEN.search(clause) is not None


def _is_listed(text: str, at: int) -> bool:
    """Whether an entry of a list is a field, by the sentence above the list."""
    lines = text[max(0, at - _FAR) : at].split("\n")[:-1]
    while lines and (not lines[-1].strip() or _BULLET.match(lines[-1]) or lines[-1][:1] in " \t"):
        lines.pop()
    above = "\n".join(lines)
    lead = sentences.before(above, len(above))
    return sentences.speaks_of_json(lead) and sentences.leads_to_answer(above, len(above))


def _is_plainly_asked(before: str, after: str) -> bool:
    """Whether a name without quotes is a field: where a verdict is set, and where it is called a field."""
    request = sentences.request(before)
    if request is None:
        return False
    if request.verb == "set":
        return bool(_SET_TRUTH.match(after) or _TRUTH.match(after)) and request.hands_object
    if _TRUTH.match(after) or (_TYPED.match(after) and sentences.speaks_of_json(request.between)):
        return request.answers and request.hands_object
    return request.answers and _FIELD.match(after) is not None and request.hands_into


def _is_held(text: str, at: int, before: str) -> bool:
    """Whether what is handed over may be that of a file, a form, or an interface that is worked on."""
    earlier = sentences.sentence_before(text, at)
    if sentences.defines_interface(earlier):
        return True
    request = sentences.request(before)
    is_set = request is not None and request.verb == "set"
    return is_set and (sentences.is_of_holder(before) or sentences.is_of_holder(earlier))


def _is_next(text: str, match: re.Match[str], last: int) -> bool:
    """Whether a name goes on with what its sentence asks for: "…, `feedback` what is wrong"."""
    if last <= sentences.beginning(text, match.start()):
        return False
    between = text[last : match.start()]
    if _FORBIDS.search(between) or sentences.is_of_other_things(between):
        return False
    return _NEXT.search(between) is not None


def _is_handed(before: str, after: str, quote: str | None) -> bool:
    """Whether a sentence hands a name over, or something in it."""
    request = sentences.request(before)
    if request is None:
        return False
    if request.hands_into:
        return True
    if not request.hands_object:
        return False
    if request.verb == "set":
        return _SET.match(after) is not None
    if _is_word(before, after, quote):
        return False
    return request.answers or request.verb == "include" or _FIELD.match(after) is not None


def _is_word(before: str, after: str, quote: str | None) -> bool:
    """Whether a name in quotes may be the whole answer: "reply with 'passed' or 'failed'"."""
    if sentences.speaks_of_json(before[1:] + after):
        return False
    return quote in {'"', "'"} or bool(_OR_BEFORE.search(before) or _OR_AFTER.match(after))


def _is_described(text: str, match: re.Match[str], before: str, after: str) -> bool:
    """Whether the answer is what a sentence is about, or the one before it."""
    if _OF_YOURS.match(after) and not _FORBIDS.search(before):
        return not sentences.is_of_other_things(before)
    if _ADDS.match(before) and _IN_YOURS.match(after):
        return True
    if _ALONE.fullmatch(before) and _TELLS.match(after):
        return sentences.asks_for_answer(sentences.sentence_before(text, match.start()))
    return sentences.describes_answer(text, match.start())


def _braces(text: str, at: int) -> list[int]:
    """The braces and brackets that are open at an offset, the outermost first."""
    opened: list[int] = []
    for match in _BRACE.finditer(text, max(0, at - _FAR), at):
        if match[0] in "{[":
            opened.append(match.start())
        elif opened:
            opened.pop()
    return opened


def _is_answered_with(text: str, brace: int) -> bool:
    """Whether an object is what the agent is to answer with, and goes nowhere else."""
    if text[brace] != "{" or not sentences.leads_to_answer(text, brace):
        return False
    depth = 0
    for match in _BRACE.finditer(text, brace, brace + _FAR):
        depth += 1 if match[0] in "{[" else -1
        if depth == 0:
            return not sentences.goes_elsewhere(sentences.after(text, match.end()))
    return True
