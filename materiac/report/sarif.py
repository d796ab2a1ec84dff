"""Findings for code scanning: a log of SARIF 2.1.0 with one run, built field by field."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from materiac import __version__
from materiac.diagnostic import Located, Place
from materiac.report import rule_page
from materiac.report.as_json import sound
from materiac.report.files import absolute, below, is_file
from materiac.secret_shapes import veiled
from materiac.source import Mark, Span

TextEdits = Sequence[tuple[int, int, str]]
Mend = Callable[[Located], TextEdits | None]
"""Gives what a fix changes in the text that a finding is about; None where there is no fix."""

_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT: Final = "%SRCROOT%"
_FINGERPRINT: Final = "materiac/v1"
_ENOUGH: Final = 4_000_000
"""Characters of the texts that fixes are made in; each fix has its text read again, which takes its time."""

_LEVELS: Final = {"error": "error", "warning": "warning", "info": "note"}


def render(
    findings: Sequence[Located], folder: Path, *, whole: bool = True, mend: Mend = lambda _: None
) -> str:
    """One log, in ASCII, with a line break at its end.

    Files below `folder` are named from there. Columns count UTF-16 code units, from 1; the end is the
    place after the last one. `whole` is false where a file could not be looked at.
    """
    rules = sorted({located.finding.rule for located in findings})
    run = {
        "tool": {
            "driver": {"name": "materiac", "version": __version__, "rules": [_rule(name) for name in rules]}
        },
        "invocations": [{"executionSuccessful": whole}],
        "columnKind": "utf16CodeUnits",
        "newlineSequences": ["\r\n", "\n", "\r"],
        "originalUriBaseIds": {_ROOT: {"description": {"text": "the folder that files are named from"}}},
        "results": list(_results(findings, rules, folder, _sparing(mend))),
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(name: str) -> dict[str, Any]:
    page = rule_page.read(name)
    return {
        "id": name,
        "shortDescription": {"text": page.summary},
        "fullDescription": {"text": page.reasons},
        "help": {"text": page.reasons, "markdown": page.text},
        "defaultConfiguration": {"level": _LEVELS[page.severity]},
    }


def _results(
    findings: Sequence[Located], rules: Sequence[str], folder: Path, mend: Mend
) -> Iterator[dict[str, Any]]:
    seen: Counter[tuple[str, str | None]] = Counter()
    for located in findings:
        finding, identity = located.finding, _identity(located)
        seen[identity] += 1
        yield {
            "ruleId": finding.rule,
            "ruleIndex": rules.index(finding.rule),
            "level": _LEVELS[finding.severity.word],
            "message": {"text": _message(located)},
            "locations": [_location(located.place, folder)] if located.place is not None else [],
            "relatedLocations": [
                {"id": number, **_location(place, folder), "message": {"text": sound(words)}}
                for number, (place, words) in enumerate(located.related, 1)
            ],
            "partialFingerprints": {_FINGERPRINT: f"{identity[0]}:{seen[identity]}"},
            **_fixes(located, folder, mend),
        }


def _identity(located: Located) -> tuple[str, str | None]:
    """What tells a finding from others of its file, and stays as it is where lines and list items move."""
    finding, place = located.finding, located.place
    way = () if isinstance(finding.at, Span) else finding.at
    names = [part for part in way if not isinstance(part, int | Mark)]
    told = json.dumps([finding.rule, finding.message, *names])
    return hashlib.sha256(told.encode()).hexdigest()[:16], place and place.source.name


def _message(located: Located) -> str:
    message = located.finding.message
    return sound(f"{message}\nhelp: {located.help}" if located.help else message)


def _sparing(mend: Mend) -> Mend:
    """The same, which gives no more fixes when those before have taken long enough."""
    read = 0

    def sparing(located: Located) -> TextEdits | None:
        nonlocal read
        if located.finding.fix is None or located.place is None or read > _ENOUGH:
            return None
        read += len(located.place.source.text)
        return mend(located)

    return sparing


def _fixes(located: Located, folder: Path, mend: Mend) -> dict[str, Any]:
    fix, place, edits = located.finding.fix, located.place, mend(located)
    if fix is None or place is None or not edits or any(veiled(new) != new for _, _, new in edits):
        return {}
    replacements = [
        {
            "deletedRegion": _region(Place(place.source, Span(start, end))),
            "insertedContent": {"text": sound(new)},
        }
        for start, end, new in edits
    ]
    change = {"artifactLocation": _artifact(place.source.name, folder), "replacements": replacements}
    told = {"description": {"text": sound(fix.title)}, "properties": {"safe": fix.safe}}
    return {"fixes": [{**told, "artifactChanges": [change]}]}


def _location(place: Place, folder: Path) -> dict[str, Any]:
    region = _region(place)
    return {"physicalLocation": {"artifactLocation": _artifact(place.source.name, folder), "region": region}}


def _artifact(name: str, folder: Path) -> dict[str, Any]:
    if not is_file(name):
        return {"description": {"text": name}}
    inside = below(name, folder)
    if inside is None:
        return {"uri": absolute(name).as_uri()}
    return {"uri": quote(os.fsencode(inside)), "uriBaseId": _ROOT}


def _region(place: Place) -> dict[str, int]:
    (line, column), (end_line, end_column) = (_position(place, offset) for offset in place.span)
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def _position(place: Place, offset: int) -> tuple[int, int]:
    line, column = place.source.position(offset)
    before = place.source.text[offset - column + 1 : offset]
    return line, len(before.encode("utf-16-le", "surrogatepass")) // 2 + 1
