"""Fixing a text until nothing is left that can be fixed; each fix is proved by looking again.

All fixes that do not touch one another are made at once. Where that does not hold, halves of them are tried,
down to single ones: a fix that does not hold alone is left out.
"""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from materiac import rules
from materiac.diagnostic import Fix, Located, Severity
from materiac.fixing import text_edits, together
from materiac.fixing.pieces import TextEdit, edited
from materiac.rules import unused_suppression
from materiac.rules.rule import Stage
from materiac.source import Pointer, Source

MAX_ROUNDS: Final = 50

Look = Callable[[str], Sequence[Located]]
"""What is found in a text of the file that is fixed, and in others that it stands with."""

_STAGES: Final = {rule.name: rule.stage for rule in rules.RULES}
_MORE: Final = "it cannot be made without changing more than it says"
_Key = tuple[str, Severity, str]


class LeftOut(NamedTuple):
    """A finding whose fix was not made, and why."""

    located: Located
    why: str


@dataclass(frozen=True)
class Mended:
    """A text with fixes made in it, what they have mended, and which were left out."""

    text: str
    mended: tuple[Located, ...]
    left_out: tuple[LeftOut, ...]


class _Change(NamedTuple):
    """A fix of a finding as edits."""

    located: Located
    fix: Fix
    edits: Sequence[TextEdit]


def mend(source: Source, look: Look, *, unsafe: bool) -> Mended:
    """Make the safe fixes in a text, or all of them, as long as looking again finds no new fault."""
    mending = _Mending(source, look, unsafe=unsafe)
    for _ in range(MAX_ROUNDS):
        if not mending.round():
            break
    return Mended(mending.text, tuple(mending.mended), mending.left_out)


class _Mending:
    """A text on its way from round to round."""

    def __init__(self, source: Source, look: Look, *, unsafe: bool) -> None:
        self.text = source.text
        self.mended: list[Located] = []
        self._refused: dict[tuple[_Key, str], LeftOut] = {}
        self._impossible: list[LeftOut] = []
        self._waits = False
        self._source, self._look, self._unsafe = source, look, unsafe
        self._found = look(source.text)

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        return (*self._refused.values(), *self._impossible)

    def round(self) -> bool:
        """Make what fixes can be made side by side; whether there were any."""
        return self._make(wait=True) or (self._waits and self._make(wait=False))

    def _make(self, *, wait: bool) -> bool:
        source, found = replace(self._source, text=self.text), self._found
        changes = list(_apart(self._changes(source, wait=wait)))
        made: list[_Change] = []
        waiting = [changes] if changes else []
        while waiting:
            part = waiting.pop()
            why = self._tried(source, found, [*made, *part])
            if why is None:
                made += part
            elif len(part) > 1:
                waiting += [part[len(part) // 2 :], part[: len(part) // 2]]
            elif (proved := _proved(source, part[0])) is not None:
                waiting.append([proved])
            elif not made:
                # What does not hold beside others may do so behind them.
                self._refused[_name(part[0].located)] = LeftOut(part[0].located, why)
        self.mended += [change.located for change in made]
        return bool(made)

    def _tried(self, source: Source, found: Sequence[Located], changes: Sequence[_Change]) -> str | None:
        """Make changes in a text, in which something was found, or say why they do not hold."""
        edits = sorted((edit for change in changes for edit in change.edits), key=together.place)
        if not together.are_apart(edits):
            return _MORE
        text = edited(source.text, edits)
        ordered = sorted(changes, key=lambda change: together.place(change.edits[0]))
        if not together.hold(source, [change.fix for change in ordered], text):
            return _MORE
        after = self._look(text)
        why = objection(found, after, [change.located for change in changes], unsafe=self._unsafe)
        if why is None:
            self.text, self._found = text, after
        return why

    def _changes(self, source: Source, *, wait: bool) -> Iterator[_Change]:
        """The fixes that there are; of those that would make the same around them all but one can wait."""
        self._impossible, self._waits = [], False
        taken: set[Pointer] = set()
        for located in self._found:
            fix, place = located.finding.fix, located.place
            if fix is None or place is None or place.source.name != source.name:
                continue
            if _name(located) in self._refused or not _may_be_made(fix, unsafe=self._unsafe):
                continue
            containers = together.containers(source, fix) if wait else set()
            if not containers.isdisjoint(taken):
                self._waits = True
                continue
            edits = together.guessed(source, fix) or text_edits(source, fix)
            if edits:
                taken |= containers
                yield _Change(located, fix, edits)
            else:
                self._impossible.append(LeftOut(located, _MORE))


def _proved(source: Source, change: _Change) -> _Change | None:
    """A change with edits that are proved, where these are not the ones that it has."""
    edits = text_edits(source, change.fix)
    return change._replace(edits=edits) if edits and edits != list(change.edits) else None


def _apart(changes: Iterable[_Change]) -> Iterator[_Change]:
    """Changes that overlap none of those before them, and repeat no edit of these."""
    taken: list[TextEdit] = []
    for change in changes:
        if not any(_clash(taken, edit) for edit in change.edits):
            yield change
            for edit in change.edits:
                bisect.insort(taken, edit)


def _clash(taken: Sequence[TextEdit], edit: TextEdit) -> bool:
    at = bisect.bisect_left(taken, edit)
    beside = taken[max(at - 1, 0) : at + 1]
    return any(other == edit or (other[0] < edit[1] and edit[0] < other[1]) for other in beside)


def _name(located: Located) -> tuple[_Key, str]:
    """What tells a fix from others, wherever its finding has moved to."""
    fix = located.finding.fix
    return _key(located), fix.title if fix is not None else ""


def _key(located: Located) -> _Key:
    return located.finding.rule, located.finding.severity, located.finding.message


def objection(
    before: Sequence[Located], after: Sequence[Located], fixed: Sequence[Located], *, unsafe: bool
) -> str | None:
    """Why fixes do not hold: what they should have mended is still there, or there is more than before."""
    was, is_ = Counter(map(_key, before)), Counter(map(_key, after))
    for key, count in Counter(map(_key, fixed)).items():
        if is_[key] > was[key] - count:
            return "the fault would still be there"
    rules_were, rules_are = (Counter(key[:2] for key in keys.elements()) for keys in (was, is_))
    looked_further = any(_hides(located) for located in fixed)
    for located in after:
        key = _key(located)
        more = is_[key] > was[key] and rules_are[key[:2]] > rules_were[key[:2]]
        if more and not (looked_further and _was_hidden(located, unsafe=unsafe)):
            finding = located.finding
            return f"it would lead to {finding.severity.word}[{finding.rule}]: {finding.message}"
    return None


def _hides(located: Located) -> bool:
    """Whether a finding keeps rules of what loadouts mean from looking."""
    finding = located.finding
    return finding.severity is Severity.ERROR and _STAGES.get(finding.rule) is not Stage.MEANING


def _was_hidden(located: Located, *, unsafe: bool) -> bool:
    """Whether a finding may have been there before, and is only seen now.

    Of errors that is believed where they can be mended in their turn.
    """
    finding = located.finding
    late = _STAGES.get(finding.rule) is Stage.MEANING or finding.rule == unused_suppression.RULE.name
    return late and (finding.severity is not Severity.ERROR or _may_be_made(finding.fix, unsafe=unsafe))


def _may_be_made(fix: Fix | None, *, unsafe: bool) -> bool:
    return fix is not None and (fix.safe or unsafe)
