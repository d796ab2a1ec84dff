"""Sentences of prompts in plain English: whether one asks for the agent's own answer, and for what.

The subject has to be the agent: "return …", "you must answer with …", "your JSON contains …". Files, tools,
functions, tables and the like have fields of their own.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

SENTENCE: Final = 400
"""How far a sentence is followed, in characters."""

_BREAK: Final = re.compile(r"(?<!\n\d)[.!?;](?=\s)|\n[ \t]*(?=\n)|\n(?=[ \t]*(?:[-*•]|\d+[.)])[ \t])")
"""Where a sentence ends: not at the end of a line, but at that of a paragraph and of an entry of a list."""
_TRAILING: Final = re.compile(r"(?:[\s.:;!?`*]|(?:```|~~~)\w*(?=\s*$))+$")

ANSWER: Final = r"(?:answer|response|reply|output|result|handoff|json|object)"
_ANSWERING: Final = (
    r"answer|respond|reply|return|emit|output|hand(?:\s+over)?|give|provide|produce|deliver|finish|end|print"
)
_WRITING: Final = r"put|write|include|report|list|state|explain|describe|say|collect|fill|set"
_VERB: Final = re.compile(
    rf"\b(?:(?P<answering>{_ANSWERING})|(?P<writing>{_WRITING}))\b(?![-=(/])", re.IGNORECASE
)
_STARTS: Final = re.compile(
    r"(?:^[\W\d]*|[,:;(—–]\s*|\s-\s*"
    r"|\b(?:and|then|or|but|please|always|only|just|finally|also|simply|now|exactly|instead|otherwise|so|either"
    r"|should|must|never|not|don't|cannot|you|you\s+(?:will|may|can)|(?:have|need|is|are|asked|want\s+you)\s+to"
    r"|^(?:at|in|after|on|for)(?:\s+\w+){1,4})\s+)$",
    re.IGNORECASE,
)
"""What stands before a verb that tells the agent to do something."""
_OTHER_SUBJECT: Final = re.compile(
    r"\b(?:it|they|he|she|this|that|these|those|which|who|(?:the|an?|each|every|its|their)\s+\S+(?:\s+\S+){0,2}?)"
    r"\s+(?:must|should|shall|will|can|may|is\s+to|are\s+to|has\s+to|have\s+to|needs?\s+to)\b",
    re.IGNORECASE,
)
_MADE: Final = re.compile(
    r"\b(?:implement|refactor|define|program|write|create|add|build|make|fix|change|extend|review|check|test"
    r"|verify)\b.*[:(—–]\s*$",
    re.IGNORECASE | re.DOTALL,
)
"""What comes behind is about a thing that is made or looked at."""

_THING: Final = (
    r"(?:tables?|columns?|rows?|files?|folders?|director(?:y|ies)|disk|commands?|scripts?|functions?|methods?"
    r"|class(?:es)?|modules?|endpoints?|routes?|apis?|servers?|services?|clients?|tools?"
    r"|code(?!\s+(?:fence|block))|jobs?|workflows?|databases?|db|surveys?"
    r"|(?<!this )(?<!of the )(?<!following )forms?|logs?|pages?|elements?|variables?|css|html|dom|console"
    r"|checkbox(?:es)?|handlers?"
    r"|options?|flags?|labels?|packages?|attributes?|headers?|payloads?|webhooks?|issues?|tickets?|trackers?|emails?"
    r"|spreadsheets?|sheets?|csv|sections?|chapters?|callers?|components?|widgets?|buttons?|programs?|parsers?"
    r"|librar(?:y|ies)|config(?:uration)?s?|events?|queues?|changelog|readme|records?)"
)
_FILE_NAME: Final = (
    r"[\w-]+\.(?:json|jsonl|csv|md|txt|ya?ml|toml|xml|html?|py|js|ts|go|rs|sh|log|db|sql|ini|cfg|xlsx?)\b"
)
_OTHER: Final = re.compile(rf"\b{_THING}\b|\b{_FILE_NAME}|(?<![\w<])\.{{0,2}}/\w|\b\w+\(", re.IGNORECASE)
_HOLDER: Final = re.compile(
    rf"\b(?:columns?|rows?|tables?|forms?|databases?|spreadsheets?|sheets?|config\w*|entries)\b|{_FILE_NAME}",
    re.IGNORECASE,
)
_INTERFACE: Final = re.compile(
    r"\b(?:implement|define|build|write|create|add|develop|fix|change|extend)\b.*"
    r"(?:\b(?:endpoints?|routes?|apis?|handlers?|servers?|services?|functions?|methods?|hooks?)\b|\b(?:POST|GET|PUT)\s+/)",
    re.IGNORECASE | re.DOTALL,
)
_CONDITION: Final = re.compile(
    r"^\W*(?:if|when|whenever|where|unless|otherwise|once|after|before)\b[^,]*,", re.IGNORECASE
)
_NESTED: Final = re.compile(r"\b(?:each|every|per|(?:lists?|arrays?)\s+of)\b", re.IGNORECASE)
_ELSEWHERE: Final = re.compile(
    r"\b(?:in|into|to|on|onto|of|from|by|at|through|via)\s+(?:(?:the|an?|each|every|this|that|its|your)\s+)?"
    rf"(?:[\w`'\"-]+\s+){{0,2}}?(?:{_THING}\b|{_FILE_NAME}|\.{{0,2}}/\w|`?\w+\()",
    re.IGNORECASE,
)
_CLAUSE_END: Final = re.compile(
    r"[,:(]|\b(?:and|if|when|where|what|which|that|how|why|who|whether|only|unless|until|while|so|because"
    r"|otherwise)\b",
    re.IGNORECASE,
)

_NOT: Final = (
    r"(?:(?:do|must|should|may|need|can)\s*(?:not|n't)|don't|mustn't|shouldn't|needn't|cannot|can't|never|without|avoid"
    r"|omit|leave\s+out|instead\s+of|rather\s+than|no|nor|neither|not|obsolete|deprecated|former|no\s+longer)\b"
)
_FORBIDS: Final = re.compile(rf"\b{_NOT}", re.IGNORECASE)
_ASIDE: Final = re.compile(
    rf"[,(]\s*(?:(?:and|but|with)\s+)?{_NOT}[^,:;)`'\"{{]*(?:[:;)]|,\s*(?=[a-z]))", re.IGNORECASE
)
"""What the answer is not, said by the way: ", never prose:"."""

_ASIDES: Final = re.compile(r"\([^()]*\)|([\"'`])[\w$.]+(?:\s*[:=][^\"'`]*)?\1")
_OBJECT: Final = re.compile(
    r"(?:[\s,:;&+*-]++|\b(?:with|only|just|exactly|in|as|an?|the|one|single|two|three|four|following|these|this|valid"
    r"|compact|strict|strictly|plain|raw|small|simple|and|or|top-level|your|final|that|has|have|having|contains?"
    r"|containing|includes?|including|of|is|are|be|like|so|both|nothing|else|but|json|objects?|answer|response|reply"
    r"|verdict|result|handoff|output|keys?|fields?|propert(?:y|ies)|members?|string|boolean|bool|number|list|array"
    r"|true|false|me|us|back|named|called|over|it|shape|format|form|content|markdown|code|fences?|blocks?|required"
    r"|optional)\b)*+$",
    re.IGNORECASE,
)
"""What may stand between a verb and the fields that it hands over."""
_TOWARDS: Final = re.compile(
    r"\b(?:in|into|as|under)\s+(?:(?:an?|the|your)\s+)?(?:(?:top-level|string)\s+)?(?:(?:field|key)\s+)?$",
    re.IGNORECASE,
)
_AT_REST: Final = re.compile(
    r"\b(?:\w+ed|is|are|was|were|stands?|says?|found|written|kept|given|said|seen|shown|held|lies?|comes?|lives?)"
    r"\s+(?:in|as|under)\s+(?:(?:an?|the|your)\s+)?$|\b(?:if|when|where|unless|whether)\b[^,]*$",
    re.IGNORECASE,
)
_JSON: Final = re.compile(rf"\b(?:json|fields?|keys?|propert(?:y|ies)|{ANSWER})\b", re.IGNORECASE)

_MODAL: Final = r"(?:(?:must|should|shall|will|may|can|needs?\s+to|has\s+to)\s+)?(?:(?:only|always|also)\s+)?"
_HOLDS: Final = (
    r"(?:contains?|includes?|ha(?:s|ve)|consists?\s+of|carr(?:y|ies)|holds?|is|are|be|looks?|match(?:es)?)\b"
)
_YOURS: Final = re.compile(
    rf"\byour\s+(?:[\w-]+\s+){{0,2}}?(?:{ANSWER}|message)\s+(?:object\s+)?{_MODAL}{_HOLDS}", re.IGNORECASE
)
_ITS: Final = re.compile(
    rf"^\W*(?:the\s+(?:\w+\s+of\s+the\s+)?(?:\w+\s+)?{ANSWER}|it|this|they)\s+{_MODAL}{_HOLDS}", re.IGNORECASE
)
_BACK: Final = re.compile(r"^\W*(?:it|this|they)\b", re.IGNORECASE)
_YOUR_ANSWER: Final = re.compile(rf"\byour\s+(?:[\w-]+\s+){{0,2}}?(?:{ANSWER}|message)\b", re.IGNORECASE)
_HEADING: Final = re.compile(
    rf"^\W*(?:(?:your|the|final|expected|required|exact|json)\s+)*{ANSWER}(?:\s+(?:format|schema|shape|json))?\W*$",
    re.IGNORECASE,
)
_POINTS_BACK: Final = re.compile(
    r"^\W*(?:for\s+example|e\.?g|example|like\s+this|(?:use|in)\s+(?:exactly\s+)?(?:this|the\s+following)\s+(?:json\s+)?"
    r"(?:format|shape|schema|structure|form)|(?:the\s+)?(?:json\s+)?(?:format|schema|shape|structure)(?:\s+is)?"
    r"|(?:the\s+)?(?:fields?|keys?)(?:\s+are)?)?\W*$",
    re.IGNORECASE,
)


class Request(NamedTuple):
    """What tells the agent to hand something over: its verb, and what stands between that and the thing."""

    verb: str
    between: str
    answers: bool

    @property
    def hands_object(self) -> bool:
        """Whether what comes next can only be the answer, or a part of it."""
        return _OBJECT.match(_ASIDES.sub(" ", self.between)) is not None

    @property
    def hands_into(self) -> bool:
        """Whether what comes next is where something is put."""
        between = _ASIDES.sub(" ", self.between)
        return _TOWARDS.search(between) is not None and _AT_REST.search(between) is None


def before(text: str, at: int) -> str:
    """The sentence that an offset is in, up to there."""
    return text[beginning(text, at) : at]


def beginning(text: str, at: int) -> int:
    """Where the sentence begins that an offset is in."""
    start = max(0, at - SENTENCE)
    start = max((match.end() for match in _BREAK.finditer(text, start, at)), default=start)
    while start < at and text[start] == "\n":
        start += 1
    return start


def after(text: str, at: int) -> str:
    """The sentence that an offset is in, from there."""
    end = _BREAK.search(text, at, at + SENTENCE)
    return text[at : end.start() if end else at + SENTENCE]


def request(sentence: str) -> Request | None:
    """What asks the agent for what comes behind a part of a sentence; None if nothing does, or forbids it."""
    for match in reversed(list(_VERB.finditer(sentence))):
        lead = sentence[: match.start()]
        if _STARTS.search(lead):
            between = _ASIDE.sub(" : ", sentence[match.end() :])
            if _is_of_another(lead) or is_of_other_things(between):
                return None
            clause = re.split(r"[,;:(]", lead)[-1]
            if _FORBIDS.search(clause) or _FORBIDS.search(between):
                return None
            return Request(match[0].lower(), between, match["answering"] is not None)
    return None


def _is_of_another(lead: str) -> bool:
    if _OTHER_SUBJECT.search(lead):
        return True
    return _MADE.search(lead) is not None and (_OTHER.search(lead) is not None or "`" in lead)


def is_of_holder(sentence: str) -> bool:
    """Whether a sentence, but for a condition that it begins with, speaks of what has fields that are set."""
    return _HOLDER.search(_CONDITION.sub("", sentence)) is not None


def defines_interface(sentence: str) -> bool:
    """Whether a sentence is about what others call, and the next one may be about what that gives them."""
    return _INTERFACE.search(sentence) is not None


def is_of_other_things(words: str) -> bool:
    """Whether words speak of what has fields of its own, or of the parts of a list."""
    return _OTHER.search(words) is not None or _NESTED.search(words) is not None


def goes_elsewhere(rest: str) -> bool:
    """Whether what comes behind a field says that it is one of something else."""
    end = _CLAUSE_END.search(rest)
    return _ELSEWHERE.search(rest[: end.start()] if end else rest) is not None


def speaks_of_json(sentence: str) -> bool:
    return _JSON.search(sentence) is not None


def describes_answer(text: str, at: int) -> bool:
    """Whether a sentence up to an offset says what is in the answer: "your JSON contains …"."""
    sentence = before(text, at)
    found = _YOURS.search(sentence)
    if found is None:
        found = _ITS.search(sentence)
        if found is None or not _is_of_answer(text, at, found[0]):
            return False
    rest = _ASIDES.sub(" ", sentence[found.end() :])
    return _OBJECT.match(rest) is not None and not is_of_other_things(sentence)


def _is_of_answer(text: str, at: int, subject: str) -> bool:
    """Whether the subject of a sentence is the answer, by the sentence before it."""
    earlier = sentence_before(text, at)
    return asks_for_answer(earlier) if _BACK.match(subject) else not is_of_other_things(earlier)


def sentence_before(text: str, at: int) -> str:
    """The sentence before the one that an offset is in."""
    start = beginning(text, at)
    head = _TRAILING.sub("", text[max(0, start - 2 * SENTENCE) : start])
    return before(head, len(head))


def asks_for_answer(sentence: str) -> bool:
    """Whether a whole sentence asks for the agent's answer, as in "answer in JSON"."""
    for match in _VERB.finditer(sentence):
        found = request(sentence[: match.end()])
        if found is not None and found.answers:
            rest = sentence[match.end() :]
            return speaks_of_json(rest) and not is_of_other_things(rest)
    return _YOURS.search(sentence) is not None and not is_of_other_things(sentence)


def leads_to_answer(text: str, at: int) -> bool:
    """Whether the object or list that begins at an offset is what the agent is to answer with."""
    full = text[max(0, at - 2 * SENTENCE) : at]
    head = _TRAILING.sub("", full)
    lead = before(head, len(head))
    earlier = sentence_before(head, len(head))
    if _POINTS_BACK.match(lead):
        return asks_for_answer(earlier)
    found = request(f"{lead}: " if ":" in full[len(head) :] else f"{lead} ")
    if found is None:
        return _is_answer(lead, earlier)
    handed = found.hands_object or found.hands_into or (found.answers and speaks_of_json(found.between))
    return handed and not defines_interface(earlier)


def _is_answer(lead: str, earlier: str) -> bool:
    """Whether words before an object or a list call it the answer, after an earlier sentence."""
    if is_of_other_things(lead) or _FORBIDS.search(lead):
        return False
    if _BACK.match(lead):
        return asks_for_answer(earlier)
    if _HEADING.match(lead) or _ITS.match(lead):
        return not is_of_other_things(earlier)
    return _YOUR_ANSWER.search(lead) is not None
