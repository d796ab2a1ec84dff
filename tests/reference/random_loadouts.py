"""Small random loadouts and what their sockets answer: about half are sound, each is the same for its seed.

Whatever can meet is let meet: loops that share a cursor, generators in loops, loops left and come back to,
empty lists, edges to oneself, budgets everywhere. Reasons and items are told apart by their numbers.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Any

END = "end"
VERDICTS = ("satisfied", "not_satisfied")
WHEN = ("always", *VERDICTS)
LISTS = (*["state.workItems"] * 6, "workItems", "state.xs", "lastJson.xs")
SOURCES = ("$", "state.b.c", "b", "item", "item.title", "workItem.title", "thing", "lastOutput", "lastJson.x")
TARGETS = ("a", "b", "b.c", "b.d", "workItem", "c.0")

Json = dict[str, Any]


@dataclass(frozen=True)
class Play:
    """A file with one loadout, `Random`, and a script for the agents; `printed` is what utilities print."""

    config: Json
    script: Json
    printed: dict[str, str]


def play(seed: int) -> Play:
    """The play of a seed."""
    return _Author(Random(seed)).play()  # noqa: S311 (no secret depends on it)


@dataclass
class _Author:
    random: Random
    thrift: float = field(init=False)
    """How many edges have a budget."""
    crossing: bool = field(init=False)
    """Whether there are two loops for certain, and ways from each into the midst of the other."""
    sockets: dict[str, Json] = field(default_factory=dict)
    materia: dict[str, Json] = field(default_factory=dict)
    loops: dict[str, Json] = field(default_factory=dict)
    judged: set[str] = field(default_factory=set)
    numbers: count[int] = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        self.thrift = self.random.choice((0.1, 0.3, 0.6))
        self.crossing = self.chance(0.5)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def play(self) -> Play:
        most = 7 if self.crossing else self.random.choice((2, 3, 4, 4, 5, 5, 6, 6, 7, 7))
        names = [f"s{number}" for number in range(most)]
        for name in names:
            self.add_socket(name)
        members = self.add_loops(names[1:] if self.chance(0.95) else names)
        for name in names:
            self.add_edges(name, members.get(name))
        for loop in self.loops.values():
            self.add_ways_out(loop)
        for name in names:
            if name not in members and self.chance(0.02 if name == "s0" else 0.15):
                self.add_foreach(name)
        answers = {name: self.answers(name) for name in names}
        printed = {name: answers[name][0] for name in names if "command" in self.materia[f"m{name}"]}
        for name, text in printed.items():
            self.materia[f"m{name}"]["command"] = ["printf", "%s", text]
        script = {name: answers[name] for name in names if name not in printed}
        return Play(self.config(), {"sockets": script}, printed)

    def config(self) -> Json:
        reason = "what becomes of a read without a value is part of what is compared"
        ignored = [{"rule": "undefined-state", "reason": reason}]
        loadout: Json = {"sockets": self.sockets, "loops": self.loops, "x-materiac": {"ignore": ignored}}
        if self.chance(0.8):
            loadout["entry"] = "s0"
        config: Json = {"loadouts": {"Random": loadout}, "materia": self.materia}
        if self.chance(0.7):
            config["limits"] = {"maxNoAdvanceCycles": self.random.choice((0, 1, 2, 3, 8))}
        if self.chance(0.1):
            config["budget"] = {"maxTokens": self.random.randint(1, 120), "stopAtLimit": self.chance(0.7)}
        return config

    # Sockets.

    def add_socket(self, name: str) -> None:
        materia: Json = {"prompt": "Work."}
        socket: Json = {"materia": f"m{name}"}
        if self.chance(0.07):
            materia = {"command": []}
        if self.chance(0.85 if name == "s0" else 0.2):
            materia["generator"] = True
        elif self.chance(0.65):
            self.random.choice((socket, materia))["parse"] = "json"
        if self.chance(0.01) and "prompt" in materia:
            materia["multiTurn"] = True
        if self.chance(0.3):
            materia["label"] = f"Label {name}"
        self.sockets[name], self.materia[f"m{name}"] = socket, materia
        for holder in (socket, materia):
            if self.chance(0.35):
                holder["assign"] = self.assign(name)
        if self.chance(0.03):
            socket["limits"] = {"maxVisits": self.random.randint(1, 3)}
        if self.chance(0.02):
            socket.setdefault("limits", {})["maxOutputBytes"] = self.random.randint(20, 60)

    def assign(self, name: str) -> Json:
        sources = [*SOURCES, *(f"cursor.{cursor}" for cursor in ("workItemIndex", "k", "k", f"{name}Index"))]
        if self.is_json(name):
            sources += ["$.x", "$.context", "$.deep.0", "$.satisfied"]
        pairs = [(target, self.random.choice(sources)) for target in self.random.sample(TARGETS, 2)]
        pairs = [(target, source) for target, source in pairs if (target[:2], source) != ("b.", "b")]
        if self.is_json(name) and self.chance(0.1):
            pairs.append((self.random.choice(("context", "envelope.note")), "$.context"))
        if self.is_json(name) and self.chance(0.5):
            pairs.append(("xs", "$.xs"))
        if self.is_json(name) and not self.is_generator(name) and self.chance(0.2):
            pairs.append(("workItems", self.random.choice(("$.workItems", "$.xs", "state.xs"))))
        self.random.shuffle(pairs)
        return dict(pairs)

    def is_json(self, name: str) -> bool:
        socket, materia = self.sockets[name], self.materia[f"m{name}"]
        return name in self.judged or "parse" in socket or "parse" in materia or "generator" in materia

    def is_generator(self, name: str) -> bool:
        return "generator" in self.materia[f"m{name}"]

    # Loops.

    def add_loops(self, names: list[str]) -> dict[str, list[str]]:
        """Loops of distinct members: which members each of them shares its loop with."""
        members: dict[str, list[str]] = {}
        for loop in ("l0", self.random.choice(("l1", "s1")))[
            : 2 if self.crossing else self.random.randint(0, 2)
        ]:
            free = [name for name in names if name not in members]
            start = 0 if self.crossing else self.random.randint(0, max(0, len(free) - 2))
            inside = free[start : start + self.random.randint(1, 3)]
            if inside:
                members |= dict.fromkeys(inside, inside)
                self.loops[loop] = self.loop(inside)
        if self.chance(0.1):
            one, two = self.random.sample(list(self.sockets), 2)
            self.loops["box"] = {"sockets": [one, two]}
            if self.chance(0.5):
                way = {"from": one, "condition": self.condition(), "targetSocketId": two}
                self.loops["box"]["exits"] = [way]
        return members

    def loop(self, inside: list[str]) -> Json:
        feeding = [name for name in self.sockets if self.is_generator(name) and name not in inside]
        loop: Json = {"sockets": inside}
        if feeding and self.chance(0.4):
            before = [name for name in feeding if name < min(inside)]
            source = before[-1] if before and self.chance(0.8) else self.random.choice(feeding)
            loop["consumes"] = {"from": source, **self.naming()}
        if "consumes" not in loop or self.chance(0.25):
            loop["iterator"] = {"items": self.random.choice(LISTS), **self.naming()}
            if self.chance(0.7):
                loop["iterator"]["done"] = self.random.choice((*self.sockets, END))
        return loop

    def naming(self) -> Json:
        naming = {}
        if self.chance(0.4):
            naming["cursor"] = self.random.choice(("k", "workItemIndex"))
        if self.chance(0.4):
            naming["as"] = self.random.choice(("thing", "workItem"))
        return naming

    def add_ways_out(self, loop: Json) -> None:
        if "consumes" not in loop and "iterator" not in loop:
            return
        advancing = self.random.sample(loop["sockets"], self.random.randint(0, min(2, len(loop["sockets"]))))
        advancing = advancing or loop["sockets"][-1:]
        if self.chance(0.5):
            loop["exit"] = {"from": advancing[0], "to": self.random.choice((*self.sockets, END, END))}
            if self.chance(0.8):
                loop["exit"]["when"] = self.random.choice(WHEN)
        for name in advancing[1:] if "exit" in loop and self.chance(0.8) else advancing:
            self.sockets[name]["advance"] = self.advance(name, loop)
        early = loop.get("exit")
        if early and "advance" in self.sockets[early["from"]]:
            self.sockets[early["from"]]["advance"]["when"] = early.get("when", "always")
        ways = {
            (self.random.choice(loop["sockets"]), self.condition())
            for _ in range(self.random.choice((0, 1, 2, 3, 4)))
        }
        if early and early["to"] != END:
            ways.discard((early["from"], early.get("when", "always")))
        conditions = {*ways, *([(early["from"], early.get("when", "always"))] if early else [])}
        self.judged |= {source for source, condition in conditions if condition != "always"}
        loop["exits"] = [
            {
                "from": source,
                "condition": condition,
                "targetSocketId": self.random.choice((*self.sockets, END)),
            }
            for source, condition in sorted(ways)
        ]

    def advance(self, name: str, loop: Json) -> Json:
        iterator, consumes = loop.get("iterator", {}), loop.get("consumes", {})
        advance: Json = {
            "cursor": iterator.get("cursor") or consumes.get("cursor") or "workItemIndex",
            "items": iterator.get("items", "state.workItems"),
        }
        if self.chance(0.7):
            advance["when"] = self.condition() if self.is_json(name) else "always"
        if self.chance(0.25):
            advance["done"] = self.random.choice((*self.sockets, END))
        return advance

    def add_foreach(self, name: str) -> None:
        items = self.random.choice(LISTS)
        socket = self.sockets[name]
        socket["foreach"] = {"items": items}
        if self.chance(0.4):
            socket["foreach"]["as"] = "thing"
        if self.chance(0.4):
            socket["foreach"]["cursor"] = self.random.choice(("k", "workItemIndex"))
        if self.chance(0.4):
            socket["foreach"]["done"] = self.random.choice((*self.sockets, END))
        if self.chance(0.8):
            cursor = socket["foreach"].get("cursor", f"{name}Index")
            socket["advance"] = {**self.advance(name, {}), "cursor": cursor, "items": items}
        if self.chance(0.7):
            socket["edges"] = [{"to": name}]

    def condition(self) -> str:
        return self.random.choice(WHEN)

    # Edges.

    def add_edges(self, name: str, loop: list[str] | None) -> None:
        whens: tuple[str, ...] = () if not loop and name != "s0" and self.chance(0.1) else ("always",)
        if self.is_json(name) and self.chance(0.75):
            whens = self.random.choice(
                (VERDICTS, VERDICTS[::-1], (*VERDICTS, "always"), ("not_satisfied", "always"),
                 ("satisfied", "always"))
            )  # fmt: skip
            whens = whens[: 1 if self.chance(0.12) else None]
        targets = [self.target(name, loop, when) for when in whens]
        if loop and not self.chance(0.1):
            targets[-1] = loop[(loop.index(name) + 1) % len(loop)]
        self.sockets[name]["edges"] = [self.edge(*pair) for pair in zip(whens, targets, strict=True)]

    def edge(self, when: str, target: str) -> Json:
        edge: Json = {"to": target}
        if when != "always" or self.chance(0.5):
            edge["when"] = when
        if self.chance(self.thrift):
            edge["maxTraversals"] = self.random.choice((1, 1, 2, 2, 3, 3, 8))
        return edge

    def target(self, name: str, loop: list[str] | None, when: str) -> str:
        """Members go round their loop, others go on or, refused, back; now and then anywhere."""
        names = list(self.sockets)
        here = names.index(name)
        if self.chance(0.8 if here and self.crossing else 0.5 if loop else 0.1):
            return self.random.choice(names[1:] if self.crossing or not here else [*names, END])
        if loop:
            return loop[(loop.index(name) + 1) % len(loop)]
        if when == "not_satisfied" and self.chance(0.7):
            return self.random.choice(names[: here + 1])
        return self.random.choice(names[here + 1 : here + 3] or [END])

    # Answers.

    def answers(self, name: str) -> list[Any]:
        tendency = self.random.choice((0.3, 0.5, 0.5, 0.8))
        return [self.answer(name, tendency) for _ in range(self.random.randint(1, 9))]

    def answer(self, name: str, tendency: float) -> Any:
        utility = "command" in self.materia[f"m{name}"]
        given = self.object(name, tendency)
        if utility and self.chance(0.5):
            given["state"] = {"b": {"c": next(self.numbers)}, "patched": [name], "satisfied": True}
        text = json.dumps(given) if self.chance(0.985) else self.random.choice(("{}", "no answer", "[]"))
        if not self.is_json(name) and self.chance(0.8):
            text = f" words {next(self.numbers)}\n"
        if utility or self.chance(0.5):
            return text
        return {"text": text, "usage": {"input": self.random.randint(0, 9), "output": 1, "cost": 0.125}}

    def object(self, name: str, tendency: float) -> Json:
        given: Json = {"satisfied": self.chance(tendency)} if self.chance(0.96) else {}
        asked = {*self.assigned(name).values()}
        if self.is_generator(name) or "$.workItems" in asked or self.chance(0.1):
            given["workItems"] = [self.work_item() for _ in range(self.random.choice((0, 1, 2, 2, 3, 3)))]
            if self.chance(0.02):
                given["workItems"].append(self.loose_item())
        if "$.context" in asked or self.chance(0.6):
            given["context"] = self.random.choice((f"because {next(self.numbers)}", "", "  ", " it leaks "))
        if "$.xs" in asked or self.chance(0.2):
            given["xs"] = [self.loose_item() for _ in range(self.random.choice((0, 1, 2, 3, 3)))]
        if "$.deep.0" in asked or self.chance(0.1):
            given["deep"] = [{"n": next(self.numbers)}]
        if "$.x" in asked or self.chance(0.1):
            given["x"] = self.random.choice((None, next(self.numbers), {"y": []}, "x"))
        for key, value in (("text", "shown"), ("summary", "dropped"), ("event", [{"type": "a.b"}])):
            if self.chance(0.08):
                given[key] = value
        return given

    def assigned(self, name: str) -> dict[str, str]:
        return {**self.materia[f"m{name}"].get("assign", {}), **self.sockets[name].get("assign", {})}

    def work_item(self) -> Json:
        number = next(self.numbers)
        return {"title": f"title {number}", "context": f"about {number}"}

    def loose_item(self) -> Any:
        return self.random.choice((None, "word", {"name": "n"}, {"title": f"t{next(self.numbers)}"}, 0))
