"""Comparisons for people: a line for each thing that is another, with a mark before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from materiac.change import Change
from materiac.comparison import Comparison, Reaching
from materiac.difference import quoted

_NEW, _GONE, _OTHER, _BREAKS = "+", "-", "~", "!"
_COLOURS: Final = {_NEW: "32", _GONE: "31", _OTHER: "33", _BREAKS: "1;31"}
_BOLD: Final = "1"


def render(comparisons: Sequence[Comparison], around: Sequence[Change] = (), *, colour: bool) -> str:
    """The lines of what is another, first of that `around` loadouts; nothing where all means the same."""
    parts = [_lines(comparison) for comparison in comparisons if not comparison.same]
    if around:
        parts.insert(0, (f"{_mark(change)} {change}" for change in around))
    return "\n".join("".join(f"{_painted(line, colour=colour)}\n" for line in part) for part in parts)


def _painted(line: str, *, colour: bool) -> str:
    return f"\x1b[{_COLOURS.get(line[0], _BOLD)}m{line}\x1b[0m" if colour else line


def _lines(part: Comparison) -> Iterator[str]:
    name = quoted(part.name)
    if part.old is None or part.new is None:
        yield f"{_NEW} loadout {name} is new" if part.old is None else f"{_GONE} loadout {name} is gone"
    else:
        yield f"loadout {name}"
    for change in part.changes:
        yield f"{_mark(change)} {change}"
    for mark, words in _reached(part.reach):
        yield f"{mark} reach: {words}"
    for what, old, new in _bounds(part):
        yield f"{_OTHER} bound: at most {old} → {new} {what}"
    for broken in part.breaks:
        yield f"{_BREAKS} resume: {broken.why}"


def _bounds(part: Comparison) -> Iterator[tuple[str, str, str]]:
    """What there is at most of turns and runs, where that is another; formulas may differ unseen."""
    if part.bounds is None:
        return
    was, now = part.bounds
    for what, old, new in (("agent turns", was.turns, now.turns), ("utility runs", was.runs, now.runs)):
        if str(old) != str(new):
            yield what, str(old), str(new)


def _mark(change: Change) -> str:
    if change.old is None and change.new is not None:
        return _NEW
    return _GONE if change.new is None and change.old is not None else _OTHER


def _reached(reach: Reaching) -> Iterator[tuple[str, str]]:
    for id_ in reach.lost:
        yield _GONE, f"no cast comes to {quoted(id_)} any more"
    for id_ in reach.found:
        yield _NEW, f"a cast may come to {quoted(id_)} now"
    for id_ in reach.endless:
        yield _GONE, f"no cast comes from {quoted(id_)} to its end any more"
    for id_ in reach.ending:
        yield _NEW, f"a cast may come from {quoted(id_)} to its end now"
