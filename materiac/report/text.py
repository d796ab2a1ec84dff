"""Findings for people: the place, the words, and the line with carets under what is wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from materiac.diagnostic import Located, Place, Severity
from materiac.report.excerpt import GUTTER, excerpt, safe, width
from materiac.report.veil import Veil

_WIDEST_HELP: Final = 110
"""Where help after the carets would go beyond this column, it gets a line of its own."""

_COLOURS: Final = {Severity.ERROR: "1;31", Severity.WARNING: "1;33", Severity.INFO: "1;36"}
_BOLD: Final = "1"
_FAINT: Final = "2"


def render(findings: Sequence[Located], *, colour: bool, suppressed: Iterable[Located] = ()) -> str:
    """All findings, in the order given, each line ended; the empty string where there are none.

    Secrets are masked; those that are `suppressed` are known, and not shown.
    """
    veil = Veil([*findings, *suppressed])
    return "".join(f"{lines(located, veil, colour=colour)}\n" for located in findings)


def summary(findings: Iterable[Located]) -> str:
    """How many findings there are of each severity, as in `2 errors, 1 warning`."""
    counts = Counter(located.finding.severity for located in findings)
    words = [f"{n} {severity.word}{'s' if n > 1 else ''}" for severity, n in sorted(counts.items())]
    return ", ".join(reversed(words)) or "no findings"


def lines(located: Located, veil: Veil | None = None, *, colour: bool) -> str:
    """One finding with its excerpts, without a line break at its end."""
    return "\n".join(_lines(located, veil or Veil([located]), _Brush(colour)))


@dataclass(frozen=True, slots=True)
class _Brush:
    """Paints where colour was asked for."""

    colour: bool

    def paint(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour else text


def _lines(located: Located, veil: Veil, brush: _Brush) -> Iterator[str]:
    located = veil.finding(located)
    finding, code = located.finding, _COLOURS[located.finding.severity]
    label = brush.paint(f"{finding.severity.word}[{_one_line(finding.rule)}]", code)
    help_ = _one_line(located.help or "")
    if located.place is None:
        yield f"{label}: {_one_line(finding.message)}"
        yield from _help_line(help_, brush)
    else:
        yield f"{_where(located.place, brush)}: {label}: {_one_line(finding.message)}"
        yield from _excerpt_lines(located.place, veil, help_, code, brush)
    for place, words in located.related:
        yield f"{_where(place, brush)}: {brush.paint('note', _BOLD)}: {_one_line(words)}"
        yield from _excerpt_lines(place, veil, "", _BOLD, brush)


def _where(place: Place, brush: _Brush) -> str:
    position = place.source.position(place.span.start)
    return brush.paint(f"{_one_line(place.source.name)}:{position.line}:{position.column}", _BOLD)


def _excerpt_lines(place: Place, veil: Veil, help_: str, code: str, brush: _Brush) -> Iterator[str]:
    shown = excerpt(Place(veil.over(place.source), place.span))
    number = f"{shown.number:>{GUTTER}}"
    beside = bool(help_) and shown.columns + 1 + width(help_) <= _WIDEST_HELP
    carets = brush.paint("^" * shown.carets + (f" {help_}" if beside else ""), code)
    yield f"{brush.paint(number + ' |', _FAINT)} {shown.line}".rstrip()
    bar = " " * len(number) + " |"
    yield f"{brush.paint(bar, _FAINT)} {shown.padding}{carets}"
    if not beside:
        yield from _help_line(help_, brush)


def _help_line(help_: str, brush: _Brush) -> Iterator[str]:
    if help_:
        yield f"{'':{GUTTER}} = {brush.paint('help', _BOLD)}: {help_}"


def _one_line(text: str) -> str:
    return safe(text).replace("\t", " ")
