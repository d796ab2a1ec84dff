"""What is wrong with a text that the grammar does not know, in words, with advice for known habits."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from materiac.diagnostic import Finding, Related, Severity
from materiac.dsl_tree import BLOCK, STRING
from materiac.json_tokens import shortened, unseen
from materiac.names import suggestion
from materiac.source import Span

_SIGNS: Final = {
    "ARROW": "'->'",
    "LBRACE": "'{'",
    "RBRACE": "'}'",
    "LBRACKET": "'['",
    "RBRACKET": "']'",
    "LPAR": "'('",
    "RPAR": "')'",
    "COMMA": "','",
    "COLON": "':'",
    "EQUALS": "'='",
    "OUTPUT": "'.workItems'",
    "ATTRIBUTE": "an attribute",
    "SOCKET_ID": "a socket",
    "$END": "the end of the file",
    "END": "the end of the file",
}
_KEYWORDS: Final = {"PARALLEL_SAFE": "parallelSafe", "MULTI_TURN": "multiTurn"}
_GROUPS: Final = (
    ("an edge", {"ARROW", "ALWAYS", "SATISFIED", "NOT_SATISFIED"}),
    ("a part of the socket", {"JSON", "TEXT", "VISITS", "BYTES", "ASSIGN", "FOREACH", "ADVANCE"}),
    ("a property", {"NEVER", "EVERY", "AFTER", "AT", "PROPERTY"}),
    (
        "a part of the materia",
        {"PROMPT", "MODEL", "THINKING", "COMMAND", "PARAMS", "TIMEOUT", "WRITES", "COST"},
    ),
    ("a part of the scenario", {"ABOUT", "REQUEST", "STATE", "FILE", "PERSON", "UTILITIES", "EXPECT"}),
    ("an expectation", {"PATH", "PASSES", "ITEMS", "VISITS", "STATE", "PROMPT", "FILE", "NO", "AT"}),
    (
        "a setting",
        {"ARTIFACTS", "ACTIVE", "AGENTS", "RECOVERY", "EVENTING", "BUDGET", "LIMITS", "PARALLELISM"},
    ),
)
_ALSO: Final = {
    "a part of the materia": (
        {"TOOLS", "UTILITY", "PARSE", "HANDOFF", "LABEL", "DESCRIPTION", "SCRIPT", "GENERATOR", "PARALLEL"}
        | {"PARALLEL_SAFE", "MULTI_TURN", "IDEMPOTENT", "ASSIGN", "ENV"}
    ),
    "a part of the scenario": {"AGENT", "LOADOUT"},
}
_FIRST: Final = ("LOADOUT", "MATERIA", "SCENARIO", "IMPORT")
_ARROWS = re.compile(r"=>|→|⇒|⟶|➔|-{2,}>|={2,}>|—>|–>|~>")
_QUOTES: Final = "'“”„‘’«»"
_NAMED = re.compile(r"[ \t]*:")
_TIME = re.compile(r"\b(?:timeout|after|delay)[ \t]+([0-9]{1,9})[ \t]+\Z")
_UNITS: Final = frozenset({"ms", "s", "m"})
_BARE_PATH = re.compile(r"\bimport[ \t]+[\w.-]+\Z")
_VISIT = re.compile(r"\bprompt[ \t]+([\w.-]{1,60})#([0-9]{1,9})\b[^\r\n]*\Z")
_ARROW_BEHIND = re.compile(r"[ \t]*->")
_VERDICTS: Final = frozenset(
    {"pass", "passed", "passes", "ok", "yes", "true", "success", "succeeded", "approved", "accepted", "done"}
    | {"fail", "failed", "fails", "no", "false", "failure", "error", "rejected"}
)
_INSIDE = re.compile(rf"{BLOCK}|{STRING}|#[^\r\n]*+|[{{}}\[\]()]")


@dataclass(frozen=True, slots=True)
class Unexpected:
    """A token where it may not stand: its terminal, its offsets, and the terminals that may stand there."""

    kind: str
    start: int
    end: int
    expected: frozenset[str]


def explain(text: str, found: Unexpected) -> Finding:
    """The finding on a token that the grammar has no place for."""
    open_string = _open_string(text, found)
    if open_string is not None:
        return open_string
    at = _whole(text, found)
    message = f"found {_described(text, found, at)}, expected {_listed(_phrases(found.expected))}"
    related: tuple[Related, ...] = ()
    if found.kind in ("END", "RBRACE", "RBRACKET", "RPAR"):
        related = tuple(_opened(text, found.start))
    return _finding(message, at, _habit(text, found, at), related)


def _finding(message: str, at: Span, help_: str | None, related: tuple[Related, ...] = ()) -> Finding:
    return Finding("syntax", Severity.ERROR, message, at, related, help_)


def _open_string(text: str, found: Unexpected) -> Finding | None:
    """The finding on a string or a block that has no end, or has words beside its quotes."""
    if found.kind != "JUNK" or text[found.start] != '"':
        return None
    if not text.startswith('"""', found.start):
        return _finding("string is not closed", Span(found.start, _line_end(text, found.start)), _LINES)
    at, end = Span(found.start, found.start + 3), _line_end(text, found.start)
    if text[found.start + 3 : end].strip(" \t"):
        return _finding("words beside the quotes that open a block", at, "the text begins on the next line")
    return _finding("block is not closed", at, "three double quotes on a line of their own close it")


_LINES: Final = r"a text of several lines stands between two lines of three double quotes"


def _line_end(text: str, start: int) -> int:
    match = re.compile(r"[\r\n]|\Z").search(text, start)
    return match.start() if match else len(text)


def _whole(text: str, found: Unexpected) -> Span:
    """The place of what was found, an arrow of another kind as a whole."""
    arrow = _ARROWS.match(text, found.start)
    end = found.start + 2 if text.startswith("->", found.start) else found.end
    return Span(found.start, arrow.end() if arrow else end)


def _described(text: str, found: Unexpected, at: Span) -> str:
    if found.kind == "END":
        return "the end of the file"
    if found.kind in ("STRING", "BLOCK"):
        return "a string"
    word = text[at.start : at.end]
    return shortened(word) if word.isprintable() and not word.isspace() else unseen(word[0])


def _phrases(expected: frozenset[str]) -> list[str]:
    rest, phrases = set(expected), []
    for terminal in _FIRST if "MATERIA" in rest else ():
        if terminal in rest:
            phrases.append(_spelt(terminal))
            rest.discard(terminal)
    if {"WORD", "STRING"} <= rest:
        phrases.append("a value" if "LBRACKET" in rest else "a text" if "BLOCK" in rest else "a name")
        rest -= {"WORD", "STRING", "BLOCK"} | ({"LBRACKET", "LBRACE"} if "LBRACKET" in rest else set())
    elif "SOCKET_ID" in rest:
        rest.discard("STRING")
    for phrase, terminals in _GROUPS:
        if len(terminals & rest) > 3:
            phrases.append(phrase)
            rest -= terminals | _ALSO.get(phrase, set())
    order = sorted(rest, key=lambda terminal: (terminal in ("RBRACE", "$END"), terminal in _SIGNS, terminal))
    return [*phrases, *(_spelt(terminal) for terminal in order if terminal != "JUNK")]


def _spelt(terminal: str) -> str:
    if terminal == "WORD":
        return "a number"
    if terminal in ("STRING", "BLOCK"):
        return "a string"
    return _SIGNS.get(terminal) or f"'{_keyword(terminal)}'"


def _keyword(terminal: str) -> str:
    return _KEYWORDS.get(terminal, terminal.lower())


def _listed(phrases: list[str]) -> str:
    *most, last = dict.fromkeys(phrases) or ["something else"]
    return f"{', '.join(most)} or {last}" if most else last


def _opened(text: str, end: int) -> Iterator[Related]:
    """Where the bracket stands that is open at an offset."""
    stack: list[int] = []
    for match in _INSIDE.finditer(text, 0, end):
        if match[0] in ("{", "[", "("):
            stack.append(match.start())
        elif match[0] in ("}", "]", ")") and stack:
            stack.pop()
    if stack:
        at = stack[-1]
        yield Related(Span(at, at + 1), f"'{text[at]}' is opened here")


def _habit(text: str, found: Unexpected, at: Span) -> str | None:
    """Advice where what was found is known from elsewhere."""
    word = text[at.start : at.end]
    if found.kind in ("WORD", "SOCKET_ID") and len(word) > 2:
        near = suggestion(word, [_keyword(terminal) for terminal in _words_of(found.expected)])
        if near is not None:
            return near
    in_path = {"ARROW", "PASSES"} <= found.expected and found.kind in ("WORD", "STRING", "COMMA")
    if in_path:
        return "a path is written 'path one -> two'"
    advice = (*_odd_signs(text, word, at.start), *_odd_words(text, word, found), *_advice(text, found))
    return next((words for applies, words in advice if applies), None)


def _odd_signs(text: str, sign: str, start: int) -> Iterator[tuple[bool, str]]:
    before = text[:start].rstrip()
    yield bool(_ARROWS.fullmatch(sign)), "an arrow is written '->'"
    yield sign in ("}", "]", ")") and before.endswith(","), "remove the comma before it"
    yield sign in (",", ";"), "statements stand one after another, with nothing between them"
    yield text.startswith(("//", "/*"), start), "a comment begins with '#'"
    yield sign != "" and sign in _QUOTES, "a string has double quotes"
    yield sign == "{" and not before, "this looks like JSON: name the file '.json'"


def _odd_words(text: str, word: str, found: Unexpected) -> Iterator[tuple[bool, str]]:
    before, expected = text[max(0, found.start - 200) : found.start], found.expected
    colon = word == ":" and bool(expected & {"WORD", "STRING"}) and not before.rstrip().endswith(":")
    yield colon, "a value stands behind its word, without a colon"
    yield found.kind == "JUNK" and bool(_BARE_PATH.search(before)), "the path of an import has double quotes"
    time = _TIME.search(before) if word in _UNITS else None
    yield time is not None, f"a time is written '{time[1] if time else ''}{word}', without a space"
    visit = _VISIT.search(before.rstrip()) if expected == {"WORD"} else None
    yield visit is not None, f"a visit is written 'prompt {' '.join(visit.groups()) if visit else ''}'"
    if "LOOP" in expected:
        yield found.kind == "PARSE", "'json' stands behind the materia, without 'parse'"
        verdict = word.lower() in _VERDICTS and "SATISFIED" in expected
        ahead = bool(_ARROW_BEHIND.match(text, found.end))
        yield verdict and ahead, "a verdict is 'satisfied' or 'not_satisfied'"


def _words_of(expected: Collection[str]) -> list[str]:
    return [terminal for terminal in expected if terminal not in _SIGNS and terminal not in _NO_WORDS]


_NO_WORDS: Final = frozenset({"WORD", "STRING", "BLOCK", "JUNK"})


def _advice(text: str, found: Unexpected) -> Iterator[tuple[bool, str]]:
    expected, kind = found.expected, found.kind
    in_file, named = "MATERIA" in expected, bool(_NAMED.match(text, found.end))
    yield (
        kind == "ATTRIBUTE" and "SOCKET_ID" in expected,
        "an attribute stands before the sockets, edges, exits or answers",
    )
    yield expected == {"ARROW"}, "an edge is written 'when -> target'"
    yield kind == "SOCKET_ID" and expected == {"WORD"}, "the sign behind it makes it the id of a socket"
    yield in_file and named, "a socket stands in a loadout, 'loadout Name { … }'"
    yield text.startswith("->", found.start), "an edge stands in a socket, 'id: Materia when -> target'"
    if "SOCKET_ID" in expected and kind in ("WORD", "STRING", "LBRACE"):
        loadout = "a socket is written 'id: Materia', an edge 'when -> target'"
        yield True, loadout if "LOOP" in expected else "an answer is written 'socket: \"text\"'"
    yield expected == {"LBRACE", "EQUALS"}, "a loadout is written 'loadout Name { … }'"
    yield expected == {"LPAR", "EQUALS"}, "a loop is written 'loop name (socket, socket)'"
    yield {"LBRACE", "AGENT"} <= expected, "a materia is written 'materia Name { … }'"
