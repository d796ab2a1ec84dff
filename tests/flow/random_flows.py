"""Small random loadouts that read and write the state, each the same for its seed."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

from materiac import model
from materiac.graph import LoadoutGraph
from materiac.names import END

VERDICTS = ("satisfied", "not_satisfied")
KEYS = ("a", "b", "c")
PLACES = (*KEYS, *KEYS, "a.x", "b.x", "a.x.y")

Json = dict[str, Any]


@dataclass(frozen=True)
class Flow:
    """A loadout with its materia, as a file has them, and how many cycles the stall guard allows."""

    loadout: Json
    materia: Json
    cycles: int

    def models(self) -> tuple[LoadoutGraph, dict[str, model.Materia]]:
        made: dict[str, model.Materia] = {name: _materia(fields) for name, fields in self.materia.items()}
        return LoadoutGraph("L", model.Loadout.model_validate(self.loadout), made), made


def _materia(fields: Json) -> model.Materia:
    if "prompt" in fields:
        return model.AgentMateria.model_validate(fields)
    return model.UtilityMateria.model_validate(fields)


def flow(seed: int) -> Flow:
    """The flow of a seed."""
    return _Author(Random(seed)).flow()  # noqa: S311 (no secret depends on it)


@dataclass
class _Author:
    random: Random
    sockets: Json = field(default_factory=dict)
    materia: Json = field(default_factory=dict)
    loops: Json = field(default_factory=dict)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def flow(self) -> Flow:
        names = [f"s{number}" for number in range(self.random.randint(2, 5))]
        kind = self.random.choice(("", "", "consumes", "iterator", "parallel", "foreach"))
        inside = names[1:3] if kind in ("consumes", "iterator", "parallel") and len(names) > 2 else []
        for name in names:
            self.add(name, generator=bool(inside) and name == "s0" and kind != "iterator")
        if kind == "parallel" and inside:
            self.materia["ms0"]["parallel"] = True
        for place in range(len(names)):
            self.join(names, place, inside)
        if inside:
            self.add_loop(kind, inside, names)
        elif kind == "foreach":
            self.add_foreach(names[-1])
        loadout = {"entry": "s0", "sockets": self.sockets, "loops": self.loops}
        return Flow(loadout, self.materia, self.random.choice((0, 1, 3)))

    def add(self, name: str, *, generator: bool) -> None:
        materia: Json
        if self.chance(0.2) and not generator:
            materia = {"utility": "noop", "parse": self.random.choice(("json", "text"))}
        elif self.chance(0.12) and not generator:
            materia = {"command": ["true"], "parse": "json"}
            if self.chance(0.8):
                materia["writes"] = self.random.sample((*KEYS, "xs"), self.random.randint(0, 2))
        else:
            materia = {"prompt": " ".join(["Work.", *self.references()])}
            if generator:
                materia["generator"] = True
            elif self.chance(0.5):
                materia["parse"] = "json"
        socket: Json = {"materia": f"m{name}", "assign": self.assign(materia)}
        if self.chance(0.1):
            socket["limits"] = {"maxVisits": self.random.randint(1, 2)}
        self.sockets[name], self.materia[f"m{name}"] = socket, materia

    def references(self) -> list[str]:
        places = (
            self.random.choice((*PLACES, "parallelFanIn")) for _ in range(self.random.choice((0, 1, 1, 2)))
        )
        return ["{{" + self.random.choice(("state.", "")) + place + "}}" for place in places]

    def assign(self, materia: Json) -> Json:
        pairs: Json = {}
        is_json = materia.get("parse") == "json" or "generator" in materia
        for _ in range(self.random.choice((0, 0, 1, 1, 2))):
            target = self.random.choice(PLACES)
            deep = target.count(".")
            copied = [f"state.{place}" for place in PLACES if place.count(".") <= deep]
            sources = ["$", "lastOutput", "lastJson", "lastJson.q", "item.title", *copied]
            if is_json:
                sources += ["$.q", "$.q", "$.context"]
            pairs[target] = self.random.choice(sources)
        if is_json and self.chance(0.4):
            pairs["xs"] = "$.xs"
        return pairs

    def is_json(self, name: str) -> bool:
        materia = self.materia[f"m{name}"]
        return materia.get("parse") == "json" or "generator" in materia

    def join(self, names: list[str], place: int, inside: list[str]) -> None:
        name = names[place]
        following = names[place + 1] if place + 1 < len(names) else END
        if name == "s0" and inside:
            self.sockets[name]["edges"] = [{"to": "s1"}]
        elif name in inside:
            self.sockets[name]["edges"] = self.around(name, inside)
        elif self.is_json(name) and self.chance(0.6):
            back = self.random.choice(
                (*[n for n in names if (n not in inside and n != "s0") or not inside], END)
            )
            edges = [{"when": "satisfied", "to": following}, {"when": "not_satisfied", "to": back}]
            self.sockets[name]["edges"] = [self.limited(edge) for edge in edges]
        else:
            self.sockets[name]["edges"] = [{"to": self.random.choice((following, following, END))}]

    def around(self, name: str, inside: list[str]) -> list[Json]:
        if name == inside[-1]:
            return [{"to": inside[0]}]
        if not self.is_json(name) or self.chance(0.4):
            return [{"to": inside[-1]}]
        edges = [{"when": "satisfied", "to": inside[-1]}, {"when": "not_satisfied", "to": inside[0]}]
        return [self.limited(edge) for edge in edges]

    def limited(self, edge: Json) -> Json:
        return {**edge, "maxTraversals": self.random.randint(1, 2)} if self.chance(0.4) else edge

    def add_loop(self, kind: str, inside: list[str], names: list[str]) -> None:
        items = "state.xs" if kind == "iterator" else "state.workItems"
        after = names[3] if len(names) > 3 else END
        loop: Json = {"sockets": inside}
        if kind == "iterator":
            loop["iterator"] = {"items": items, "done": self.random.choice((after, END))}
        else:
            loop["consumes"] = {"from": "s0"}
            loop["exits"] = [{"from": inside[-1], "condition": "always", "targetSocketId": after}]
        when = self.random.choice(("always", "satisfied")) if self.is_json(inside[-1]) else "always"
        self.sockets[inside[-1]]["advance"] = {"cursor": "workItemIndex", "items": items, "when": when}
        self.loops["l"] = loop

    def add_foreach(self, name: str) -> None:
        self.sockets[name]["foreach"] = {"items": "state.xs", "done": self.random.choice((END, "s0"))}
        self.sockets[name]["advance"] = {"cursor": f"{name}Index", "items": "state.xs"}
        self.sockets[name]["edges"] = [{"to": name}]
