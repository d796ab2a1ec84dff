"""Findings that a file says are known: `"x-materiac": {"ignore": [{"rule", "reason"}]}` where they are.

A suppression counts in its own text, for what is written within the socket, edge, loop, property, materia
or loadout that it stands on. Of several the innermost counts.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from materiac import rules
from materiac.diagnostic import Bilingual, Finding, Fix, Located, Place, Removal, Replacement, Severity
from materiac.names import nearest, suggestion
from materiac.rules import invalid_suppression, unused_suppression
from materiac.rules.rule import Rule, Stage
from materiac.source import KEY, Document, Pointer, Span, enclosing

if TYPE_CHECKING:
    from materiac.graph import LoadoutGraph
    from materiac.layers import Layered

ATTRIBUTE: Final = "x-materiac"

_RULES: Final = {rule.name: rule for rule in rules.RULES}
_OWN: Final = frozenset({invalid_suppression.RULE.name, unused_suppression.RULE.name})
_FREE: Final = frozenset({ATTRIBUTE, "params", "scenarios"})
"""Members that hold what a loadout file says nothing about."""

_FORM: Final = Bilingual(
    'write "ignore": [{"rule": "<name>", "reason": "<why>"}]', "write '# materiac: ignore[<rule>] <why>'"
)


class Suppression(NamedTuple):
    """One that is sound: its rule, where it stands, what it stands on, how far that reaches in the text."""

    rule: Rule
    at: Pointer
    owner: Pointer
    document: Document
    reach: Span


@dataclass(frozen=True)
class Applied:
    """Findings that are left, with those on suppressions, and findings that are suppressed."""

    findings: tuple[Located, ...]
    suppressed: tuple[Located, ...]


def apply(
    found: Sequence[Located], layered: Layered, graphs: Mapping[str, LoadoutGraph], *, whole: bool
) -> Applied:
    """Part findings from those that are suppressed.

    `graphs` are the loadouts that were looked at: `whole`, if they are all of the topmost text. A suppression
    without a finding is one itself, where all that it could be for was looked for.
    """
    sound: list[Suppression] = []
    kept: list[Located] = []
    suppressed: list[Located] = []
    for document in layered.documents[layered.shipped :]:
        for part in _written(document):
            if isinstance(part, Finding):
                kept.append(_located(document, part))
            else:
                sound.append(part)
    nests = _nested(sound)
    used = set()
    for located in found:
        match = _innermost(nests, located)
        used.add(match)
        (kept if match is None else suppressed).append(located)
    unused = [part for index, part in enumerate(sound) if index not in used]
    if unused and not _hides(found):
        is_judged = _Judge(layered.top, graphs, whole=whole)
        kept += [_unused(part) for part in unused if is_judged(part)]
    return Applied(tuple(kept), tuple(suppressed))


def _hides(found: Iterable[Located]) -> bool:
    """Whether an error kept some rules from looking."""
    errors = (part.finding.rule for part in found if part.finding.severity is Severity.ERROR)
    return any(name not in _RULES or _RULES[name].stage is not Stage.MEANING for name in errors)


class _Judge:
    """Whether all that a suppression could be for was looked for."""

    def __init__(self, top: Document, graphs: Mapping[str, LoadoutGraph], *, whole: bool) -> None:
        self._top = top
        self._loadouts = graphs.keys()
        sockets = (socket for graph in graphs.values() for socket in graph.sockets.values())
        self._materia = {socket.written.materia for socket in sockets} if whole else set()

    def __call__(self, part: Suppression) -> bool:
        if part.rule.on_demand or part.document is not self._top:
            return False
        container, name = part.owner[:2]
        if container == "loadouts":
            return name in self._loadouts
        return part.rule.check is None or name in self._materia


class _Nest:
    """Suppressions of one rule in one text, which lie within one another or apart."""

    def __init__(self, parts: Iterable[tuple[Span, int]]) -> None:
        # Of two on the same part the first counts: it is the inner one.
        parts = sorted(parts, key=lambda part: (part[0].start, -part[0].end, -part[1]))
        self._spans = [span for span, _ in parts]
        self._indexes = [index for _, index in parts]
        self._around = enclosing(self._spans)

    def innermost(self, span: Span) -> int | None:
        """The index of the innermost one that a place lies in."""
        at = bisect.bisect_right(self._spans, span.start, key=lambda other: other.start) - 1
        while at >= 0 and self._spans[at].end < span.end:
            at = self._around[at]
        return self._indexes[at] if at >= 0 else None


_Nests = Mapping[tuple[int, str], _Nest]


def _nested(sound: Sequence[Suppression]) -> _Nests:
    parts: dict[tuple[int, str], list[tuple[Span, int]]] = {}
    for index, part in enumerate(sound):
        key = id(part.document.source), part.rule.name
        parts.setdefault(key, []).append((part.reach, index))
    return {key: _Nest(spans) for key, spans in parts.items()}


def _innermost(nests: _Nests, located: Located) -> int | None:
    finding, place = located.finding, located.place
    if not nests or place is None:
        return None
    nest = nests.get((id(place.source), finding.rule))
    if nest is None or (finding.severity is Severity.ERROR and not _RULES[finding.rule].tolerable):
        return None
    return nest.innermost(place.span)


def _located(document: Document, finding: Finding) -> Located:
    at = finding.at
    place = Place(document.source, at if isinstance(at, Span) else document.span(at))
    if finding.fix is not None:
        edits = tuple(edit._replace(at=document.written(edit.at)) for edit in finding.fix.edits)
        finding = finding._replace(fix=finding.fix._replace(edits=edits))
    return Located(finding, place)


def _unused(part: Suppression) -> Located:
    words = f"there is nothing of '{part.rule.name}' to ignore here"
    finding = unused_suppression.RULE.finding(words, part.at, help="remove it", fix=_removed(part))
    return _located(part.document, finding)


def _removed(part: Suppression) -> Fix:
    """The entry goes, and what holds it, if it is all that this holds."""
    at = part.at
    holder: Any = part.document.data
    for step in part.owner:
        holder = holder[step]
    if len(holder[ATTRIBUTE]["ignore"]) == 1:
        at = at[:-1] if len(holder[ATTRIBUTE]) > 1 else at[:-2]
    return Fix("remove the suppression", (Removal(at),), safe=True)


def _written(document: Document) -> Iterator[Suppression | Finding]:
    """The suppressions of a text, and what is wrong with some."""
    yield from (_wrong(slip.message, slip.span, help=slip.help) for slip in document.slips)
    text = document.source.text
    if ATTRIBUTE not in text and "materiac:" not in text:
        return
    for owner, marked in _marked(document.data):
        if isinstance(marked, dict) and "ignore" in marked:
            yield from _entries(document, owner, marked["ignore"])


def _marked(data: Any) -> Iterator[tuple[Pointer, Any]]:
    """Objects that are marked, by their pointers, and their marks; deep data costs no stack."""
    waiting: list[tuple[Pointer, Any]] = [((), data)]
    while waiting:
        at, value = waiting.pop()
        if isinstance(value, list):
            waiting += [((*at, index), entry) for index, entry in enumerate(value)]
        elif isinstance(value, dict):
            if ATTRIBUTE in value:
                yield at, value[ATTRIBUTE]
            waiting += [((*at, key), inner) for key, inner in value.items() if key not in _FREE]


def _entries(document: Document, owner: Pointer, ignored: Any) -> Iterator[Suppression | Finding]:
    at = (*owner, ATTRIBUTE, "ignore")
    if not _is_owner(owner):
        words = "'ignore' counts on a socket, an edge, a loop, a property, a materia or a loadout alone"
        yield _wrong(words, (*at, KEY))
        return
    if not isinstance(ignored, list):
        yield _wrong("'ignore' is no list of suppressions", at, help=_FORM)
        return
    reach = _reach(document, owner)
    for index, entry in enumerate(ignored):
        here = (*at, index)
        wrong = _fault(entry, here)
        yield wrong if wrong is not None else Suppression(_RULES[entry["rule"]], here, owner, document, reach)


def _reach(document: Document, owner: Pointer) -> Span:
    """From the key of a part to its end."""
    value = document.span(owner)
    key = document.spans.get((*document.written(owner), KEY), value)
    return Span(min(key.start, value.start), value.end)


def _is_owner(at: Pointer) -> bool:
    match at:
        case ("materia" | "loadouts", str()) | ("loadouts", str(), "sockets" | "loops", str()):
            return True
        case ("loadouts", str(), "sockets", str(), "edges", int()) | ("loadouts", str(), "properties", int()):
            return True
    return False


def _fault(entry: Any, at: Pointer) -> Finding | None:
    """What is wrong with one suppression."""
    if not isinstance(entry, dict) or not isinstance(entry.get("rule"), str):
        return _wrong("an entry of 'ignore' names no rule", at, help=_FORM)
    name = entry["rule"]
    for key in [key for key in entry if key not in ("rule", "reason")]:
        return _wrong(f"unknown key '{key}' in a suppression", (*at, key, KEY), help=_FORM)
    if name not in _RULES:
        near = nearest(name, _RULES)
        fix = Fix(f"write '{near}'", (Replacement((*at, "rule"), near),)) if near else None
        words = f"there is no rule '{name}'"
        return _wrong(words, (*at, "rule"), help=suggestion(name, _RULES), fix=fix)
    if name in _OWN or not _RULES[name].may_be_suppressed:
        why = "it is about suppressions" if name in _OWN else "no cast could run with it"
        return _wrong(f"'{name}' cannot be ignored: {why}", (*at, "rule"))
    reason = entry.get("reason")
    if not isinstance(reason, str) or not reason.strip():
        return _wrong(f"nothing says why '{name}' is ignored here", at, help=_FORM)
    return None


_wrong = invalid_suppression.RULE.finding
