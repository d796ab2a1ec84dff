"""How findings are shown: one module a format, all of the same findings, in the order made here."""

from __future__ import annotations

from collections.abc import Iterable

from materiac.diagnostic import Located

SortKey = tuple[str, int, int, str, str]


def sort_key(located: Located) -> SortKey:
    """File name, place, rule, message; findings without a place come first."""
    finding, place = located.finding, located.place
    if place is None:
        return "", 0, 0, finding.rule, finding.message
    return place.source.name, place.span.start, place.span.end, finding.rule, finding.message


def ordered(findings: Iterable[Located]) -> list[Located]:
    """Findings in the order in which every format shows them."""
    return sorted(findings, key=sort_key)
