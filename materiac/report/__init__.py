"""How findings are shown: one module a format, all of the same findings, in the order made here."""

from __future__ import annotations

from collections.abc import Iterable

from materiac.diagnostic import Located
from materiac.report.veil import Veil

SortKey = tuple[str, int, int, str, str]


def sort_key(located: Located) -> SortKey:
    """File name, place, rule, message; findings without a place come first."""
    finding, place = located.finding, located.place
    if place is None:
        return "", 0, 0, finding.rule, finding.message
    return place.source.name, place.span.start, place.span.end, finding.rule, finding.message


def ordered(findings: Iterable[Located], suppressed: Iterable[Located] = ()) -> list[Located]:
    """Findings in the order in which every format shows them, without the secrets that they quote.

    Secrets are known by what was found and by what is `suppressed`, which is not shown.
    """
    found = list(findings)
    veil = Veil([*found, *suppressed])
    return sorted(map(veil.finding, found), key=sort_key)
