"""Findings for programs: one JSON object, of a version, built field by field."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from materiac.diagnostic import Located, Place, Severity

VERSION: Final = 1


def render(findings: Sequence[Located], suppressed: int = 0) -> str:
    """One object, in ASCII, with a line break at its end.

    Lines and columns count from 1, columns in characters; the end is the place after the last
    character. A finding without a place has null in all of these fields and in `file`. One that tells of a
    counterexample has all of its steps as `way`. Those that are `suppressed` are counted alone.
    """
    report = {
        "version": VERSION,
        "findings": [_finding(located) for located in findings],
        "summary": {
            "errors": _count(findings, Severity.ERROR),
            "warnings": _count(findings, Severity.WARNING),
            "infos": _count(findings, Severity.INFO),
            "suppressed": suppressed,
        },
    }
    return json.dumps(report, indent=2) + "\n"


def _finding(located: Located) -> dict[str, Any]:
    finding = located.finding
    return {
        "rule": sound(finding.rule),
        "severity": finding.severity.word,
        "message": sound(finding.message),
        **_place(located.place),
        "related": [{**_place(place), "message": sound(words)} for place, words in located.related],
        "help": None if located.help is None else sound(located.help),
        **({"way": [{step.kind: sound(step.name)} for step in finding.way]} if finding.way else {}),
    }


def _place(place: Place | None) -> dict[str, Any]:
    if place is None:
        return dict.fromkeys(("file", "line", "column", "endLine", "endColumn"))
    start, end = (place.source.position(offset) for offset in (place.span.start, place.span.end))
    return {
        "file": sound(place.source.name),
        "line": start.line,
        "column": start.column,
        "endLine": end.line,
        "endColumn": end.column,
    }


def sound(text: str) -> str:
    """Half characters, as in the names of files that are no UTF-8, cannot be written in JSON."""
    return text.encode("utf-8", "replace").decode()


def _count(findings: Sequence[Located], severity: Severity) -> int:
    return sum(located.finding.severity is severity for located in findings)
