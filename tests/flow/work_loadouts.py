"""Small random loadouts as people write them: steps, reviews that send back, a loop over a plan, ways out."""

from __future__ import annotations

from random import Random
from typing import Any

from random_casts import Sample, made

from materiac.names import END

Json = dict[str, Any]


def work(seed: int) -> Sample:
    """The loadout of a seed."""
    chance = Random(seed)  # noqa: S311 (no secret depends on it)
    loadout = _Author(chance).loadout()
    return made(loadout, chance.choice((0, 1, 2, 3)))


class _Author:
    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.names = [f"s{number}" for number in range(chance.randint(2, 6))]
        self.thrift = chance.choice((0.6, 0.85, 1.0))
        """How many of the edges that send back have a budget."""
        self.members = self._members()

    def likely(self, probability: float) -> bool:
        return self.chance.random() < probability

    def _members(self) -> list[str]:
        count = len(self.names)
        if count < 3 or not self.likely(0.6):
            return []
        first = self.chance.randint(1, count - 2)
        return self.names[first : first + self.chance.randint(1, min(3, count - first))]

    def loadout(self) -> Json:
        sockets = {name: self.socket(number, name) for number, name in enumerate(self.names)}
        loops = {"work": self.loop()} if self.members else {}
        return {"entry": "s0", "sockets": sockets, "loops": loops}

    def planner(self) -> str | None:
        return self.names[self.names.index(self.members[0]) - 1] if self.members else None

    def loop(self) -> Json:
        after = self.names.index(self.members[-1]) + 1
        to = self.names[after] if after < len(self.names) else END
        iterator = {"items": "state.workItems", "done": to}
        loop: Json = {"sockets": self.members, "consumes": {"from": self.planner()}, "iterator": iterator}
        if self.likely(0.7):
            target = to if self.likely(0.85) else self.chance.choice([*self.names, END])
            way = {"from": self.members[-1], "condition": "always", "targetSocketId": target}
            loop["exits"] = [way]
        return loop

    def socket(self, number: int, name: str) -> Json:
        materia = "Planner" if name == self.planner() else self.chance.choice(("Plain", "Judge", "Judge"))
        socket: Json = {"materia": materia}
        if name in self.members:
            socket |= self.member(name, judges=materia == "Judge")
        else:
            socket["edges"] = self.edges(number, judges=materia == "Judge")
        if self.likely(0.05):
            socket["limits"] = {"maxVisits": self.chance.randint(1, 3)}
        return socket

    def member(self, name: str, *, judges: bool) -> Json:
        """A socket of the loop: the last one steps the cursor, and each may send back within the item."""
        index = self.members.index(name)
        is_last = name == self.members[-1]
        following = self.members[(index + 1) % len(self.members)]
        socket: Json = {"edges": [{"to": following}]}
        if judges and (is_last or self.likely(0.8)):
            nearby = self.members if is_last else self.members[: index + 1]
            back = self.chance.choice(nearby if self.likely(0.8) else self.names)
            socket["edges"] = [{"when": "satisfied", "to": following}, self.back(back)]
        if is_last:
            when = self.chance.choice(("always", "satisfied")) if judges else "always"
            advance = {"cursor": "workItemIndex", "items": "state.workItems"}
            socket["advance"] = advance if when == "always" else {**advance, "when": when}
        return socket

    def edges(self, number: int, *, judges: bool) -> list[Json]:
        names = self.names
        ahead = [*names[number + 1 :], END]
        if not judges or not self.likely(0.85):
            return [self.bounded({"to": ahead[0]}, 0.15)]
        edges = [{"when": "satisfied", "to": ahead[0]}]
        if self.likely(0.65):
            edges.append(self.back(self.chance.choice(names[: number + 1])))
        else:
            edges.append(self.bounded({"when": "not_satisfied", "to": self.chance.choice(ahead)}, 0.15))
        if self.likely(0.15):
            edges.append({"to": self.chance.choice(ahead)})
        return edges

    def back(self, target: str) -> Json:
        return self.bounded({"when": "not_satisfied", "to": target}, self.thrift)

    def bounded(self, edge: Json, probability: float) -> Json:
        if self.likely(probability):
            edge["maxTraversals"] = self.chance.choice((1, 1, 2, 3))
        return edge
