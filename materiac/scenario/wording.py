"""Verdicts on scenarios in words, for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from materiac.diagnostic import Located, Place
from materiac.report import text
from materiac.report.excerpt import safe
from materiac.scenario.expectations import Misfit
from materiac.scenario.suite import Verdict

Json = dict[str, Any]

_LABELS: Final = {"passed": "ok", "failed": "FAIL", "broken": "BROKEN"}


def lines(verdict: Verdict) -> Iterator[str]:
    """A verdict: the scenario, then what is wrong and where."""
    label = _LABELS[verdict.outcome]
    yield f"{label:<6} {_line(verdict.placed.scenario.name)}  ({_where(verdict.placed.place())})"
    if verdict.trouble is not None:
        yield f"  {_where(verdict.placed.place('loadout'))}: {_line(verdict.trouble)}"
    for located in verdict.findings:
        yield from (f"  {line}" for line in text.lines(located, colour=False).splitlines())
    for misfit in verdict.played.misfits if verdict.played else ():
        yield f"  {_where(place_of(verdict, misfit))}: {_line(misfit.message)}"
        yield from (f"    {_line(detail)}" for detail in misfit.details)


def place_of(verdict: Verdict, misfit: Misfit) -> Place:
    """Where the expectation stands that does not hold."""
    return verdict.placed.place("expect", *misfit.loc)


def _where(place: Place) -> str:
    position = place.source.position(place.span.start)
    return f"{_line(place.source.name)}:{position.line}:{position.column}"


def _line(words: str) -> str:
    return safe(" ".join(words.split()))


def summary(verdicts: Sequence[Verdict], unreadable: int = 0) -> str:
    """How many passed, and how many did not, as in `3 passed, 1 failed`."""
    counts = {name: sum(v.outcome == name for v in verdicts) for name in _LABELS}
    counts["broken"] += unreadable
    return ", ".join(f"{n} {name}" for name, n in counts.items() if n) or "no scenarios"


def as_data(verdict: Verdict) -> Json:
    """A verdict as `--json` prints it."""
    played = verdict.played
    result = played.result if played else {}
    return {
        "name": verdict.placed.scenario.name,
        **_place_data(verdict.placed.place()),
        "outcome": verdict.outcome,
        "status": result.get("status"),
        "path": result.get("path"),
        "seconds": round(played.seconds, 3) if played else None,
        "misfits": [
            {**_place_data(place_of(verdict, m)), "message": m.message, "details": list(m.details)}
            for m in (played.misfits if played else ())
        ],
        "findings": [finding_data(located) for located in verdict.findings],
        "trouble": verdict.trouble,
    }


def finding_data(located: Located) -> Json:
    """A finding as `--json` prints it."""
    finding = located.finding
    place = _place_data(located.place) if located.place is not None else {}
    return {**place, "rule": finding.rule, "message": finding.message, "help": located.help}


def _place_data(place: Place) -> Json:
    position = place.source.position(place.span.start)
    return {"file": place.source.name, "line": position.line, "column": position.column}
