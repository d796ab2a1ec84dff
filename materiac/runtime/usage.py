"""What a cast has used: the sums of its turns, `usage.json`, and the budget they are held to."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from materiac.agents.protocol import Usage
from materiac.program import Budget
from materiac.runtime.chronicle import TURN
from materiac.runtime.journal import Record, read
from materiac.runtime.manifest import GrowingFile

Json = dict[str, Any]

_SUMS: Final = ("byMateria", "bySocket", "byItem", "byAttempt")
_ANY: Final = "any item"
"""Stands for all item keys; none has a space in it."""
_HUNDRED: Final = Decimal(100)


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of an agent and what it used; `usage` is None where the back end does not know."""

    socket: str
    materia: str
    item_key: str | None
    item_label: str | None
    visit: int
    turn: int
    usage: Usage | None
    model: str | None = None
    provider: str | None = None

    def as_data(self) -> Json:
        """The turn as the fields of a journal record."""
        return {
            "socket": self.socket,
            "materia": self.materia,
            "itemKey": self.item_key,
            "itemLabel": self.item_label,
            "visit": self.visit,
            "turn": self.turn,
            "usage": None if self.usage is None else _usage_data(self.usage),
            "model": self.model,
            "provider": self.provider,
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Turn:
        """The inverse of `as_data`; other fields of the record do not matter."""
        return cls(
            socket=data["socket"],
            materia=data["materia"],
            item_key=data["itemKey"],
            item_label=data["itemLabel"],
            visit=data["visit"],
            turn=data["turn"],
            usage=usage_of(data["usage"]),
            model=data["model"],
            provider=data["provider"],
        )


_FIELDS: Final = {
    "input": "input",
    "output": "output",
    "cacheRead": "cache_read",
    "cacheWrite": "cache_write",
    "cost": "cost",
}


def usage_of(data: Mapping[str, Any] | None) -> Usage | None:
    """The usage that a record has."""
    return None if data is None else Usage(**{_FIELDS[key]: value for key, value in data.items()})


def _usage_data(usage: Usage) -> Json:
    return {key: getattr(usage, name) for key, name in _FIELDS.items()}


@dataclass
class Total:
    """A sum of turns. `unknown` of the `turns` did not say what they used and count for nothing else.

    Costs are added as the decimal numbers that they are written as, so that 0.1 and 0.2 make 0.3.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost: Decimal = Decimal(0)
    turns: int = 0
    unknown: int = 0

    @property
    def tokens(self) -> int:
        """What a budget of tokens counts: input and output."""
        return self.input + self.output

    def add(self, usage: Usage | None) -> None:
        self.turns += 1
        if usage is None:
            self.unknown += 1
            return
        self.input += usage.input
        self.output += usage.output
        self.cache_read += usage.cache_read
        self.cache_write += usage.cache_write
        self.cost += Decimal(str(usage.cost))

    def as_data(self) -> Json:
        """The sum as `usage.json` has it; the cost is a number again."""
        used = {key: getattr(self, name) for key, name in _FIELDS.items()}
        return used | {"cost": float(self.cost), "turns": self.turns, "unknown": self.unknown}


class Tally:
    """The turns of a cast, and their sums: in all, by materia, by socket, by item, by attempt.

    Turns without an item are in no sum by item. The attempts of a socket at an item are its visits
    there, from 1 in the order of their first turns. Subscribe it to the journal, `UsageFile` after it.
    It keeps no turn but the `last` one, as `usage.json` lists it.
    """

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self.total = Total()
        self._sums: dict[str, dict[str, Total]] = {name: {} for name in _SUMS}
        self._members: dict[str, dict[str, str]] = {name: {} for name in _SUMS}
        self._attempts: dict[tuple[str, str | None], tuple[int, int]] = {}
        self.last: Json = {}
        self._asked: Counter[tuple[str, str | None]] = Counter()
        for record in records:
            self(record)

    def __call__(self, record: Record) -> None:
        """Count the turn that a record is, if it is one."""
        if record.type == TURN:
            self.add(Turn.from_data(record.fields))

    def add(self, turn: Turn) -> Json:
        """Count one more turn; gives it as `usage.json` lists it."""
        attempt = self._attempt(turn)
        keys = (turn.materia, turn.socket, turn.item_key, str(attempt))
        for name, key in zip(_SUMS, keys, strict=True):
            if key is not None:
                self._add(name, key, turn.usage)
        self.total.add(turn.usage)
        self._asked.update([(turn.socket, turn.item_key), (turn.socket, _ANY)])
        self.last = turn.as_data() | {"attempt": attempt}
        return self.last

    def asked(self, socket: str, item_key: str | None) -> tuple[int, int]:
        """How many turns a socket has had, in all and at an item."""
        return self._asked[socket, _ANY], self._asked[socket, item_key]

    def _add(self, name: str, key: str, usage: Usage | None) -> None:
        total = self._sums[name].setdefault(key, Total())
        total.add(usage)
        self._members[name][key] = f"{json.dumps(key)}: {json.dumps(total.as_data())}"

    def _attempt(self, turn: Turn) -> int:
        place = turn.socket, turn.item_key
        visit, attempt = self._attempts.get(place, (0, 0))
        self._attempts[place] = (turn.visit, attempt + (turn.visit != visit))
        return self._attempts[place][1]

    def as_data(self, turns: Sequence[Json]) -> Json:
        """All of it, as `usage.json` has it, with the turns that it does not keep."""
        sums = {name: {key: one.as_data() for key, one in part.items()} for name, part in self._sums.items()}
        return {"turns": turns, "total": self.total.as_data(), **sums}

    def sums_as_text(self) -> str:
        """The members of `as_data` but for the turns, as JSON without braces, a line for each.

        It is put together from what is kept of each sum: there are as many as a list has items.
        """
        sums = [f'"{name}": {{{", ".join(members.values())}}}' for name, members in self._members.items()]
        return ",\n".join([f'"total": {json.dumps(self.total.as_data())}', *sums])


class UsageFile:
    """`usage.json`, current after every turn, at a price that does not grow with the turns.

    New turns are added in their place and the sums behind them are written again. That is apart from
    the tally, which has to go on counting for the budget on a disk that is full.
    """

    def __init__(self, path: Path, tally: Tally, records: Iterable[Record] = ()) -> None:
        """Have the tally count the records so far, and write that. Raises `ArtifactError`."""
        self._tally = tally
        self._file = GrowingFile(path, '{"turns": [')
        self._file.rewrite(_counted(tally, records), self._tail())

    def __call__(self, record: Record) -> None:
        """Write down what the tally has taken from a record. Raises `ArtifactError`."""
        if record.type == TURN:
            self._file.append([self._tally.last], self._tail())

    def _tail(self) -> str:
        return f"\n],\n{self._tally.sums_as_text()}}}\n"


def used(journal: Path) -> Json:
    """What the turns of a journal have used, as `usage.json` has it. Raises `JournalError`."""
    tally = Tally()
    return tally.as_data(_counted(tally, read(journal, {TURN}).records))


def _counted(tally: Tally, records: Iterable[Record]) -> list[Json]:
    """The turns among some records, as `usage.json` lists them, when the tally has counted them."""
    return [tally.add(Turn.from_data(record.fields)) for record in records if record.type == TURN]


def over(budget: Budget, tally: Tally) -> str | None:
    """Say which limit of the budget has been reached, at it or over it; None where none has."""
    reached = [
        f"{used} have been used, the budget is {limit}"
        for share, used, limit in _shares(budget, tally)
        if share >= _HUNDRED
    ]
    return " and ".join(reached) or None


def warn(budget: Budget, tally: Tally) -> str | None:
    """Say which limit of the budget has been used up to `warn_at_percent`; None where none has."""
    near = [
        f"{used} have been used, {share:.0f} % of the budget of {limit}"
        for share, used, limit in _shares(budget, tally)
        if share >= Decimal(str(budget.warn_at_percent))
    ]
    return " and ".join(near) or None


def _shares(budget: Budget, tally: Tally) -> Iterable[tuple[Decimal, str, str]]:
    """For each limit: how many percent of it are used, and both in words."""
    total = tally.total
    if budget.max_tokens is not None:
        share = _HUNDRED * total.tokens / budget.max_tokens
        yield share, f"{total.tokens} tokens", f"{budget.max_tokens} tokens"
    if budget.max_cost_usd is not None:
        limit = Decimal(str(budget.max_cost_usd))
        yield _HUNDRED * total.cost / limit, f"{_usd(total.cost)} US dollars", f"{_usd(limit)} US dollars"


def _usd(amount: Decimal) -> str:
    return f"{amount.normalize():f}"
