"""Fixes of findings as actions of an editor, and the layout of `materiac fmt`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from materiac import fixing, formatting
from materiac.diagnostic import Located
from materiac.fixing.pieces import TextEdit
from materiac.lsp.buffers import Buffer
from materiac.source import Span

Edit = tuple[Span, str]

_MOST: Final = 50
"""So many fixes are offered at once: each is made by reading the text again."""


class Action(NamedTuple):
    """A way to mend a finding; `preferred` if it is safe and was proved to bring nothing new."""

    title: str
    mends: Located
    edits: Sequence[Edit]
    preferred: bool


Prove = Callable[[Sequence[tuple[Located, tuple[TextEdit, ...]]]], Sequence[str | None]]
"""Says of fixes why they do not hold, as `Checker.held` does."""


def actions(buffer: Buffer, found: Iterable[Located], start: int, end: int, prove: Prove) -> Iterator[Action]:
    """The fixes of the findings that a range touches."""
    here = [(part, edits) for part in _touched(buffer, found, start, end) if (edits := _edits(buffer, part))]
    proved = prove(here) if here else ()
    for (part, edits), why in zip(here, proved, strict=True):
        fix = part.finding.fix
        if fix is not None:
            words = [] if fix.safe else ["may change the meaning"]
            words += [why.partition(": ")[0]] if why else []
            title = f"{fix.title} ({', '.join(words)})" if words else fix.title
            made = [(Span(begin, end), new) for begin, end, new in edits]
            yield Action(title, part, made, fix.safe and why == "")


def _touched(buffer: Buffer, found: Iterable[Located], start: int, end: int) -> list[Located]:
    own = ((part, part.place.span) for part in _own(buffer, found) if part.place is not None)
    return [part for part, span in own if span.start <= end and start <= span.end][:_MOST]


def any_safe(buffer: Buffer, found: Iterable[Located]) -> bool:
    """Whether there is something to fix without a change of meaning."""
    fixes = (part.finding.fix for part in _own(buffer, found))
    return any(fix is not None and fix.safe for fix in fixes)


def _own(buffer: Buffer, found: Iterable[Located]) -> list[Located]:
    return [part for part in found if part.place is not None and part.place.source.name == buffer.name]


def _edits(buffer: Buffer, part: Located) -> tuple[TextEdit, ...]:
    fix = part.finding.fix
    return tuple(fixing.text_edits(buffer.source, fix) or ()) if fix is not None else ()


def layout(buffer: Buffer) -> list[Edit]:
    """What lays out a sound text."""
    return changed(buffer.source.text, formatting.formatted(buffer.source.text, buffer.language))


def changed(old: str, new: str) -> list[Edit]:
    """What makes one text of another: what differs, from the first character to the last that does."""
    if old == new:
        return []
    start = _shared(old, new)
    end = _shared(old[:start:-1], new[:start:-1])
    # A line break of two characters is left whole.
    start -= old[start - 1 : start + 1] == "\r\n"
    end -= old[len(old) - end - 1 : len(old) - end + 1] == "\r\n"
    return [(Span(start, len(old) - end), new[start : len(new) - end])]


def _shared(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    alike = (index for index, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(alike, min(len(one), len(other)))
