"""What a cast can take at most: turns of agents, repair turns among them, runs of utilities, tokens, dollars.

Each is a formula in N, the most items that a list of the cast has. The stall guard ends every cast, so there
is a bound for every loadout; `flow.termination` finds the cycles that nothing else ends. Not counted are the
words of a person, of which each takes a turn more (`Bound.talks`), and turns that are asked for again after
a fault of an agent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from weakref import WeakKeyDictionary

from materiac import model
from materiac.flow.formula import Formula
from materiac.flow.terms import Term, terms
from materiac.flow.terrain import terrain_of
from materiac.flow.worst_case import WorstCase

if TYPE_CHECKING:
    from materiac.graph import LoadoutGraph, SocketView

CYCLES: Final = 3
"""How many cycles the stall guard lets pass where no file says otherwise: `limits.maxNoAdvanceCycles`."""


@dataclass(frozen=True, slots=True)
class OfMateria:
    """The most of one materia: turns of an agent, repair turns among them, or runs of a utility."""

    name: str
    kind: str
    sockets: tuple[str, ...]
    count: Formula
    repairs: Formula

    def as_data(self) -> dict[str, Any]:
        key = "agentTurns" if self.kind == "agent" else "utilityRuns"
        data: dict[str, Any] = {"materia": self.name, "type": self.kind, "sockets": list(self.sockets)}
        data[key] = self.count.as_data()
        return data | ({"repairTurns": self.repairs.as_data()} if self.kind == "agent" else {})


@dataclass(frozen=True, slots=True)
class Spent:
    """The most that the turns of agents cost; `unknown` are the materia that do not say what a turn costs."""

    unit: str
    most: Formula
    unknown: tuple[str, ...]

    def as_data(self) -> dict[str, Any]:
        return {"most": self.most.as_data(), "unknown": list(self.unknown)}


class Totals(NamedTuple):
    """The most turns of agents, with their repair turns, and the most runs of utilities."""

    turns: Formula
    runs: Formula


@dataclass(frozen=True, slots=True)
class Bound:
    """What no cast of a loadout exceeds.

    `turns` are turns of agents with their repair turns, `repairs` those alone, `runs` are runs of
    utilities. `talks` are the sockets where each reply of a person takes a turn more, `terms` the limits
    that the turns come from.
    """

    loadout: str
    turns: Formula
    repairs: Formula
    runs: Formula
    materia: tuple[OfMateria, ...]
    spent: tuple[Spent, ...]
    talks: tuple[str, ...]
    terms: tuple[Term, ...]

    def spending(self, unit: str) -> Spent | None:
        """What is known of tokens, inputTokens, outputTokens or usd; None where no materia says it."""
        return next((spent for spent in self.spent if spent.unit == unit), None)

    def as_data(self) -> dict[str, Any]:
        """The bound as JSON values."""
        return {
            "loadout": self.loadout,
            "agentTurns": self.turns.as_data(),
            "repairTurns": self.repairs.as_data(),
            "utilityRuns": self.runs.as_data(),
            "materia": [part.as_data() for part in self.materia],
            "spent": {part.unit: part.as_data() for part in self.spent},
            "perReplyOf": list(self.talks),
            "terms": [term.as_data() for term in self.terms],
        }


def bound(graph: LoadoutGraph, cycles: int = CYCLES) -> Bound:
    """The bound of a loadout whose names lead somewhere; `cycles` is its `limits.maxNoAdvanceCycles`."""
    known = _known(graph, cycles)
    if known.bound is None:
        known.bound = _bound(graph, known.worst)
    return known.bound


def totals(graph: LoadoutGraph, cycles: int = CYCLES) -> Totals:
    """The turns and runs of a bound alone, without what each materia has of them, which takes its time."""
    known = _known(graph, cycles)
    if known.totals is None:
        known.totals = _totals(graph, known.worst)
    return known.totals


def spending(graph: LoadoutGraph, cycles: int = CYCLES) -> tuple[Spent, ...]:
    """What is known of the costs of a cast, without the rest of its bound."""
    known = _known(graph, cycles)
    if known.spent is None:
        agents = [socket for socket in _sockets(graph, known.worst) if not socket.utility]
        known.spent = tuple(_spent(agents, known.worst))
    return known.spent


def visits_of(graph: LoadoutGraph, socket: str, cycles: int = CYCLES) -> Formula:
    """How often a cast visits a socket at most."""
    return _known(graph, cycles).worst.most({socket: 1})


@dataclass
class _Known:
    worst: WorstCase
    bound: Bound | None = None
    totals: Totals | None = None
    spent: tuple[Spent, ...] | None = None


_KNOWN: Final[WeakKeyDictionary[LoadoutGraph, dict[int, _Known]]] = WeakKeyDictionary()


def _known(graph: LoadoutGraph, cycles: int) -> _Known:
    """What is known of a graph so far: several rules and commands ask for the same."""
    found = _KNOWN.setdefault(graph, {})
    if cycles not in found:
        found[cycles] = _Known(WorstCase(terrain_of(graph, cycles)))
    return found[cycles]


def _sockets(graph: LoadoutGraph, worst: WorstCase) -> list[SocketView]:
    """The sockets that a cast may come to, those of streams and of lists that become too short too."""
    nodes = dict.fromkeys([*graph.reached, *worst.terrain.order])
    return [graph.sockets[node] for node in nodes if node in graph.sockets]


def _totals(graph: LoadoutGraph, worst: WorstCase) -> Totals:
    sockets = _sockets(graph, worst)
    return Totals(
        turns=worst.most({socket.id: _turns(socket) for socket in sockets if not socket.utility}),
        runs=worst.most({socket.id: 1 for socket in sockets if socket.utility}),
    )


def _bound(graph: LoadoutGraph, worst: WorstCase) -> Bound:
    sockets = _sockets(graph, worst)
    agents = [socket for socket in sockets if not socket.utility]
    utilities = [socket for socket in sockets if socket.utility]
    turns, longest = worst.told({socket.id: _turns(socket) for socket in agents})
    return Bound(
        loadout=graph.name,
        turns=turns,
        repairs=worst.most({socket.id: _repairs(socket) for socket in agents}),
        runs=worst.most({socket.id: 1 for socket in utilities}),
        materia=tuple(_of_materia(sockets, worst)),
        spent=tuple(_spent(agents, worst)),
        talks=tuple(socket.id for socket in agents if _talks(socket)),
        terms=tuple(terms(graph, worst.terrain, longest.reasons)),
    )


def _talks(socket: SocketView) -> bool:
    return isinstance(socket.materia, model.AgentMateria) and socket.materia.multi_turn


def _repairs(socket: SocketView) -> int:
    return int(socket.parse == "json" and not socket.utility)


def _turns(socket: SocketView) -> int:
    """The turns of one visit: a talk has the first one and that for the final form, however short it is.

    Of a utility it is its run.
    """
    return 1 + _talks(socket) + _repairs(socket)


def _of_materia(sockets: Iterable[SocketView], worst: WorstCase) -> Iterator[OfMateria]:
    using: dict[str, list[SocketView]] = {}
    for socket in sockets:
        using.setdefault(socket.written.materia, []).append(socket)
    turns = worst.each({name: {user.id: _turns(user) for user in users} for name, users in using.items()})
    repairs = worst.each({name: {user.id: _repairs(user) for user in users} for name, users in using.items()})
    for name, users in using.items():
        kind = "utility" if users[0].utility else "agent"
        yield OfMateria(name, kind, tuple(user.id for user in users), turns[name], repairs[name])


_UNITS: Final[dict[str, Callable[[model.Cost], float | None]]] = {
    "inputTokens": lambda cost: cost.input_tokens,
    "outputTokens": lambda cost: cost.output_tokens,
    "tokens": lambda cost: _sum(cost.input_tokens, cost.output_tokens),
    "usd": lambda cost: cost.usd,
}


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


def _spent(agents: Sequence[SocketView], worst: WorstCase) -> Iterator[Spent]:
    for unit, figure in _UNITS.items():
        priced: dict[str, Fraction] = {}
        unknown: dict[str, None] = {}
        for socket in agents:
            cost = socket.materia.cost if isinstance(socket.materia, model.AgentMateria) else None
            price = figure(cost) if cost is not None else None
            if price is None:
                unknown[socket.written.materia] = None
            else:
                priced[socket.id] = Fraction(str(price)) * _turns(socket)
        if priced:
            yield Spent(unit, _most_of(priced, worst), tuple(unknown))


def _most_of(prices: Mapping[str, Fraction], worst: WorstCase) -> Formula:
    """The most of something that comes in fractions, which are told as whole parts of one."""
    parts = lcm(*(price.denominator for price in prices.values()))
    whole = {id_: int(price * parts) for id_, price in prices.items()}
    return worst.most(whole).times(Fraction(1, parts))
