"""What holds for any bytes at all, in either language: they are read or refused, and nothing is lost."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any
from unicodedata import category

from materiac import formatting, languages
from materiac.cli.importing import follow
from materiac.diagnostic import Located, Place, Severity
from materiac.dsl_print_scenario import stands_alone
from materiac.dsl_tree import comments
from materiac.languages import LANGUAGES
from materiac.pipeline import Text, check, compile_loadout
from materiac.report import as_json, ordered, text
from materiac.scenario import read as scenarios
from materiac.source import Language

Shapes = frozenset[tuple[str, str]]
"""The rules of findings, with the first words of their messages."""

UNREADABLE = frozenset({"syntax", "encoding", "duplicate-key"})
"""The rules of findings on what is no value."""

_OWN_WORDS = re.compile(r"""['"\d]""")
_STEERING = frozenset({"Cc", "Cs", "Zl", "Zp"})
_LAYOUT = str.maketrans("", "", "\n\t")
_IN_ORDER = frozenset(
    {"loadouts", "materia", "materia.*.assign"}
    | {f"loadouts.*.{part}" for part in ("sockets", "loops", "sockets.*.assign")}
)
_ENDINGS = {"json": "x.json", "dsl": "x.materia"}


def hold(raw: bytes, language: Language) -> Shapes:
    """Read an input and all that is made of it; raises `AssertionError` where a promise is broken."""
    document, found = languages.document(_ENDINGS[language], raw, language)
    _can_be_shown(found)
    assert (document is None) == bool(found), found
    checked = check(follow(Text(_ENDINGS[language], raw), allow_outside=False))
    _can_be_shown(checked)
    if document is not None:
        _spans_inside(document.spans.values(), len(document.source.text))
        _can_be_shown(scenarios.from_document(document)[1])
        _stable(document.source.text, document.data, language)
        _same_meaning(document.data)
    return frozenset((part.finding.rule, _OWN_WORDS.split(part.finding.message)[0]) for part in checked)


def _can_be_shown(findings: Iterable[Located]) -> None:
    """Each finding has words, and places inside its text; no report has characters that steer a terminal."""
    shown = ordered(findings)
    for part in shown:
        places = [part.place, *(place for place, _ in part.related)]
        _inside(place for place in places if place is not None)
        assert part.finding.message.strip(), part.finding
    report = text.render(shown, colour=False)
    assert not _STEERING & set(map(category, report.translate(_LAYOUT))), ascii(report)
    assert len(json.loads(as_json.render(shown))["findings"]) == len(shown)
    report.encode()


def _inside(places: Iterable[Place]) -> None:
    for place in places:
        _spans_inside([place.span], len(place.source.text))
        place.source.position(place.span.start)


def _spans_inside(spans: Iterable[tuple[int, int]], length: int) -> None:
    for start, end in spans:
        assert 0 <= start <= end <= length, (start, end, length)


def _stable(written: str, data: dict[str, Any], language: Language) -> None:
    """The layout keeps value and comments, and is its own; so does either spelling of the value."""
    laid_out = formatting.formatted(written, language)
    assert _value(laid_out, language) == _orders(data)
    assert formatting.formatted(laid_out, language) == laid_out
    if language == "dsl":
        assert _comments(laid_out) == _comments(written)
    for other in LANGUAGES:
        spelt = formatting.converted(data, other)
        assert _value(spelt, other) == _orders(data)
        assert formatting.formatted(spelt, other) == spelt


def _value(written: str, language: Language) -> str:
    document, found = languages.document(_ENDINGS[language], written.encode(), language)
    assert document is not None, (found, written)
    return _orders(document.data)


def _orders(data: Any) -> str:
    """A value, with the order of its keys; 1, 1.0 and true are three. A scenario alone is a list of it."""
    return json.dumps(_sorted({"scenarios": [data]} if stands_alone(data) else data))


def _sorted(value: Any, at: tuple[str, ...] = ()) -> Any:
    """Keys in order, but those whose order means something: every second step of a way is a name."""
    if not isinstance(value, dict):
        return value if not isinstance(value, list) else [_sorted(part, (*at, "")) for part in value]
    way = ".".join("*" if index % 2 else step for index, step in enumerate(at))
    names = list(value) if way in _IN_ORDER else sorted(value)
    return {name: _sorted(value[name], (*at, name)) for name in names}


def _comments(written: str) -> Counter[str]:
    spans = (comment.span for comment in comments(written))
    return Counter(written[start:end].rstrip(" \t") for start, end in spans)


def _same_meaning(data: dict[str, Any]) -> None:
    """Both spellings have the same faults and the same programs."""
    if stands_alone(data):
        return
    spellings = [(_ENDINGS[other], formatting.written(data, other).encode()) for other in LANGUAGES]
    one, other = (_meaning(Text(name, raw)) for name, raw in spellings)
    assert one == other


def _meaning(spelling: Text) -> tuple[list[tuple[str, str, str]], str | None]:
    told = scenarios.findings_of(spelling.name, spelling.raw, None)
    findings = [part.finding for part in (*check([spelling]), *told)]
    said = sorted((finding.rule, finding.message, str(finding.help)) for finding in findings)
    compiled = compile_loadout([spelling])
    errors = any(part.finding.severity is Severity.ERROR for part in compiled.findings)
    assert (compiled.image is None) == errors, compiled.findings
    return said, compiled.image.program.digest() if compiled.image is not None else None
