"""How findings are shown: one module a format, all of the same findings, in the order made here."""

from __future__ import annotations

from collections.abc import Iterable

from materiac.diagnostic import Bilingual, Located
from materiac.secret_shapes import veiled

SortKey = tuple[str, int, int, str, str]


def sort_key(located: Located) -> SortKey:
    """File name, place, rule, message; findings without a place come first."""
    finding, place = located.finding, located.place
    if place is None:
        return "", 0, 0, finding.rule, finding.message
    return place.source.name, place.span.start, place.span.end, finding.rule, finding.message


def ordered(findings: Iterable[Located]) -> list[Located]:
    """Findings in the order in which every format shows them, without the secrets that they quote."""
    return sorted(map(_masked, findings), key=sort_key)


def _masked(located: Located) -> Located:
    finding = located.finding
    related = tuple((place, veiled(words)) for place, words in located.related)
    advice = finding.help
    if isinstance(advice, Bilingual):
        advice = Bilingual(veiled(advice.json), veiled(advice.dsl))
    elif advice is not None:
        advice = veiled(advice)
    shown = finding._replace(message=veiled(finding.message), help=advice)
    return located._replace(finding=shown, related=related)
