"""Small random loadouts for searches: branches, budgets, loops, exits, lone sockets with lists, limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from materiac import model
from materiac.graph import LoadoutGraph
from materiac.lower import lower
from materiac.names import END
from materiac.program import Program

Json = dict[str, Any]

MATERIA: Final[dict[str, model.Materia]] = {
    "Plain": model.AgentMateria.model_validate({"prompt": "p"}),
    "Judge": model.AgentMateria.model_validate({"prompt": "p", "parse": "json"}),
    "Planner": model.AgentMateria.model_validate({"prompt": "p", "generator": True}),
    "Lister": model.AgentMateria.model_validate({"prompt": "p", "parse": "json", "assign": {"xs": "$.xs"}}),
}
LISTS: Final = ("state.workItems", "workItems", "state.workItems", "state.xs")
VERDICTS: Final = ("satisfied", "not_satisfied")


@dataclass(frozen=True)
class Sample:
    """A loadout, as checks see it and as casts run it."""

    graph: LoadoutGraph
    program: Program
    cycles: int


def sample(seed: int) -> Sample:
    """The loadout of a seed."""
    chance = Random(seed)  # noqa: S311 (no secret depends on it)
    cycles = chance.choice((0, 0, 1, 2, 3))
    return made(_Author(chance).loadout(), cycles)


def made(loadout: Json, cycles: int = 3) -> Sample:
    """A loadout of the materia here, as a sample."""
    graph = LoadoutGraph("L", model.Loadout.model_validate(loadout), MATERIA)
    frame = model.Frame.model_validate({"limits": {"maxNoAdvanceCycles": cycles}})
    return Sample(graph, lower(graph, frame, MATERIA).program, cycles)


@dataclass
class _Author:
    chance: Random
    sockets: dict[str, Json] = field(default_factory=dict)
    loops: dict[str, Json] = field(default_factory=dict)

    def loadout(self) -> Json:
        names = [f"s{number}" for number in range(self.chance.randint(2, 6))]
        thrift = self.chance.choice((0.1, 0.4, 0.8))
        for name in names:
            materia = self.chance.choice(("Plain", "Judge", "Judge", "Planner", "Lister"))
            self.sockets[name] = {"materia": materia}
            if self.likely(0.1):
                self.sockets[name]["limits"] = {"maxVisits": self.chance.randint(1, 3)}
        if self.likely(0.7):
            self.sockets["s0"]["materia"] = "Planner"
        members = self.members(names)
        for name in names:
            self.sockets[name]["edges"] = self.edges(name, names, members.get(name, ()), thrift)
            if name not in members and self.likely(0.15):
                self.alone(name, names)
        return {"entry": "s0", "sockets": self.sockets, "loops": self.loops}

    def likely(self, probability: float) -> bool:
        return self.chance.random() < probability

    def target(self, names: list[str]) -> str:
        return self.chance.choice([*names, END])

    def judges(self, name: str) -> bool:
        return bool(self.sockets[name]["materia"] != "Plain")

    def members(self, names: list[str]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for id_ in ("l0", "l1")[: self.chance.choice((0, 1, 1, 2))]:
            free = [name for name in names if name not in found]
            inside = self.chance.sample(free, min(len(free), self.chance.randint(1, 3)))
            if inside:
                found |= dict.fromkeys(inside, inside)
                self.loops[id_] = self.loop(inside, names)
        return found

    def loop(self, inside: list[str], names: list[str]) -> Json:
        items = self.chance.choice(LISTS)
        iterator = {"items": items} | ({"done": self.target(names)} if self.likely(0.6) else {})
        loop: Json = {"sockets": inside, "iterator": iterator, "exits": []}
        planners = [name for name in names if self.sockets[name]["materia"] == "Planner"]
        if planners and self.likely(0.5):
            loop["consumes"] = {"from": self.chance.choice(planners)}
        for name in self.chance.sample(inside, min(len(inside), self.chance.choice((1, 1, 2)))):
            self.sockets[name]["advance"] = self.advance(name, "workItemIndex", items)
        for name in inside:
            for condition in ("always", *VERDICTS) if self.judges(name) else ("always",):
                if self.likely(0.25):
                    way = {"from": name, "condition": condition, "targetSocketId": self.target(names)}
                    loop["exits"].append(way)
        return loop

    def advance(self, name: str, cursor: str, items: str) -> Json:
        advance: Json = {"cursor": cursor, "items": items}
        if self.judges(name) and self.likely(0.6):
            advance["when"] = self.chance.choice(VERDICTS)
        return advance

    def alone(self, name: str, names: list[str]) -> None:
        items = self.chance.choice(LISTS)
        foreach = {"items": items} | ({"done": self.target(names)} if self.likely(0.6) else {})
        self.sockets[name] |= {"foreach": foreach, "advance": self.advance(name, f"{name}Index", items)}

    def edges(self, name: str, names: list[str], inside: Any, thrift: float) -> list[Json]:
        whens: tuple[str, ...] = ("always",) if self.likely(0.9) else ()
        if self.judges(name) and self.likely(0.8):
            whens = self.chance.choice((VERDICTS, (*VERDICTS, "always"), ("not_satisfied", "always")))
        return [self.edge(when, names, inside, thrift) for when in whens]

    def edge(self, when: str, names: list[str], inside: Any, thrift: float) -> Json:
        target = self.chance.choice(inside) if inside and self.likely(0.6) else self.target(names)
        edge: Json = {"when": when, "to": target}
        if self.likely(thrift):
            edge["maxTraversals"] = self.chance.choice((1, 1, 2, 3))
        return edge
