"""Comparisons for programs: one JSON object, of a version, built field by field."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from materiac.change import Change
from materiac.comparison import Break, Comparison, Reaching
from materiac.flow.bounds import Totals

VERSION: Final = 1

Json = dict[str, Any]


def render(
    comparisons: Sequence[Comparison], active: Change | None = None, materia: Sequence[Change] = ()
) -> str:
    """One object, in ASCII, with a line break at its end; `active` and `materia` are changes of the file."""
    report = {
        "version": VERSION,
        "same": all(part.same for part in comparisons) and active is None and not materia,
        "breaking": any(part.breaks for part in comparisons),
        "active": None if active is None else _change(active),
        "materia": [_change(change) for change in materia],
        "loadouts": [_comparison(part) for part in comparisons],
    }
    return json.dumps(report, indent=2) + "\n"


def _comparison(part: Comparison) -> Json:
    return {
        "name": part.name,
        "oldHash": part.old.digest() if part.old else None,
        "newHash": part.new.digest() if part.new else None,
        "same": part.same,
        "changes": [_change(change) for change in part.changes],
        "reach": _reaching(part.reach),
        "bound": _bound(*part.bounds) if part.bounds else None,
        "breaks": [_break(broken) for broken in part.breaks],
    }


def _change(change: Change) -> Json:
    section, id_ = change.part or (None, None)
    return {
        "section": section,
        "id": id_,
        "where": change.where,
        "what": change.what,
        "old": change.old,
        "new": change.new,
        "message": str(change),
    }


def _reaching(reach: Reaching) -> Json:
    return {
        "lost": list(reach.lost),
        "found": list(reach.found),
        "endless": list(reach.endless),
        "ending": list(reach.ending),
    }


def _bound(old: Totals, new: Totals) -> Json:
    return {
        "agentTurns": {"old": old.turns.as_data(), "new": new.turns.as_data()},
        "utilityRuns": {"old": old.runs.as_data(), "new": new.runs.as_data()},
    }


def _break(broken: Break) -> Json:
    at = broken.at
    return {
        "why": broken.why,
        "socket": at.socket if at else None,
        "inStreams": at.in_region if at else False,
        "streamAt": at.streams[0] if at and at.streams else None,
    }
