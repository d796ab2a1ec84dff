"""Random loadouts in which `check` finds nothing: a chain of parts in any order, each the same for its seed.

Every one has what each rule looks at, so that it can be damaged in the way that the rule is for: a
generator and its loop, a loop over another list, a socket with a list of its own, streams, a review with
a way back, utilities, properties. The names of sockets and materia are drawn too; `roles` tells them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

Json = dict[str, Any]

_WORDS: Final = """
amber aspen basil birch cedar clover daisy dill ebony elder fennel fern ginger gorse hazel heather iris ivy
jasmine kale laurel maple nettle olive pepper quince rose sage thyme umbel violet willow yarrow zinnia
"""
LIST: Final = {"work": "state.workItems", "rooms": "state.rooms", "files": "state.files"}
SAID: Final = ("Look at it.", "Do it well.", "Say what you see.", "Be brief.", "Take your time.")


@dataclass
class Sound:
    """A file with one loadout, and the names of its sockets by what they are."""

    config: Json
    roles: dict[str, str]
    random: Random
    loops: dict[str, str] = field(default_factory=dict)
    """The loops that have another name than this one has here."""

    @property
    def loadout(self) -> str:
        (name,) = self.config["loadouts"]
        return str(name)

    @property
    def spec(self) -> Json:
        found: Json = self.config["loadouts"][self.loadout]
        return found

    def socket(self, role: str) -> Json:
        found: Json = self.spec["sockets"][self.roles[role]]
        return found

    def materia(self, role: str) -> Json:
        found: Json = self.config["materia"][self.socket(role)["materia"]]
        return found

    def at(self, role: str) -> tuple[str, ...]:
        """The pointer of a socket."""
        return ("loadouts", self.loadout, "sockets", self.roles[role])

    def materia_at(self, role: str) -> tuple[str, ...]:
        return ("materia", self.socket(role)["materia"])

    def loop(self, loop: str) -> Json:
        found: Json = self.spec["loops"][self.loops.get(loop, loop)]
        return found

    def loop_at(self, loop: str) -> tuple[str, ...]:
        return ("loadouts", self.loadout, "loops", self.loops.get(loop, loop))


def sound(seed: int) -> Sound:
    """The loadout of a seed."""
    return _Author(Random(seed)).write()  # noqa: S311 (no secret depends on it)


@dataclass
class _Author:
    random: Random
    sockets: dict[str, Json] = field(default_factory=dict)
    materia: dict[str, Json] = field(default_factory=dict)
    loops: dict[str, Json] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        words = _WORDS.split()
        self.words = self.random.sample(words, len(words))

    def write(self) -> Sound:
        parts: list[Callable[[str], str]] = [self.work, self.rooms, self.files, self.streams, self.tools]
        self.random.shuffle(parts)
        last = self.agent("tell", prompt=f"{self.said()} {{{{state.notes}}}} {{{{state.parallelFanIn}}}}")
        for part in parts:
            last = part(last)
            if self.random.random() < 0.5:
                last = self.agent(f"more{len(self.roles)}", to=last)
        judge = self.agent("review", judge=True)
        first = self.agent("first", assign={"notes": "$"})
        aside = self.agent("aside", to=last)
        self.sockets[first]["edges"] = [{"to": judge}]
        self.sockets[judge]["edges"] = self.verdicts(aside, first)
        return Sound(self.config(first), self.roles, self.random)

    def config(self, entry: str) -> Json:
        sockets = self.random.sample(list(self.sockets.items()), len(self.sockets))
        loadout: Json = {
            "entry": entry,
            "sockets": dict(sockets),
            "loops": self.loops,
            "properties": [{"every path": [entry, self.roles["tell"]], "passes": self.roles["review"]}],
        }
        return {
            "activeLoadout": "Garden",
            "budget": {"maxTokens": 10**9},
            "agents": {"default": "ask"},
            "loadouts": {"Garden": loadout},
            "materia": dict(self.random.sample(list(self.materia.items()), len(self.materia))),
        }

    # Sockets

    def said(self) -> str:
        return " ".join(self.random.sample(SAID, self.random.randint(1, 3)))

    def add(self, role: str, materia: Json, **socket: Any) -> str:
        """A new socket of a new materia; its name."""
        name = self.words.pop()
        self.materia[name.title()] = materia
        self.sockets[name] = {"materia": name.title(), **socket}
        self.roles[role] = name
        return name

    def agent(
        self,
        role: str,
        *,
        to: str = "",
        prompt: str = "",
        judge: bool = False,
        safe: bool = False,
        **socket: Any,
    ) -> str:
        materia: Json = {
            "prompt": prompt or self.said(),
            "tools": self.random.choice(("none", "readOnly", "coding")),
        }
        if judge:
            self.random.choice((materia, socket))["parse"] = "json"
        if safe:
            materia["parallelSafe"] = True
        if to:
            socket["edges"] = [{"to": to}]
        return self.add(role, materia, **socket)

    def verdicts(self, good: str, bad: str) -> list[Json]:
        edges: list[Json] = [
            {"when": "satisfied", "to": good},
            {"when": "not_satisfied", "to": bad, "maxTraversals": self.random.randint(1, 4)},
        ]
        return self.random.sample(edges, 2)

    # Parts: each is given where it leads to, and gives the socket that it begins with.

    def work(self, to: str) -> str:
        build, _check = self.members("work", to, cursor="workItemIndex")
        between = self.agent("between", to=build)
        plan = self.add("plan", {"prompt": self.said(), "generator": True}, edges=[{"to": between}])
        self.loops["work"]["consumes"] = {"from": plan}
        return plan

    def rooms(self, to: str) -> str:
        build, _check = self.members("rooms", to, cursor="roomIndex")
        self.loops["rooms"]["iterator"] = {"items": LIST["rooms"], "cursor": "roomIndex", "as": "room"}
        return self.seed("rooms", build)

    def files(self, to: str) -> str:
        each = self.agent("each")
        cursor = f"{each}Index"
        self.sockets[each] |= {
            "foreach": {"items": LIST["files"], "as": "file", "done": to},
            "advance": {"cursor": cursor, "items": LIST["files"]},
            "edges": [{"to": each}],
        }
        return self.seed("files", each)

    def seed(self, key: str, to: str) -> str:
        """A utility that sends a list."""
        output = {"state": {key: [self.words[0], self.words[1]]}}
        materia: Json = {"utility": "echo", "params": {"output": output}, "parse": "json"}
        return self.add(f"seed {key}", materia, edges=[{"to": to}])

    def streams(self, to: str) -> str:
        make, _look = self.members("streams", to, cursor="workItemIndex", safe=True)
        ready = self.agent("ready", to=make, safe=True)
        materia: Json = {"prompt": self.said(), "generator": True, "parallel": True}
        split = self.add("split", materia, edges=[{"to": ready}])
        self.loops["streams"]["consumes"] = {"from": split}
        return split

    def tools(self, to: str) -> str:
        count = self.add(
            "count", {"command": ["wc", "-w", "notes.txt"], "timeoutMs": 5000}, edges=[{"to": to}]
        )
        tools: Json = {"type": "custom", "tools": ["read", "bash"]}
        return self.add("custom", {"prompt": self.said(), "tools": tools}, edges=[{"to": count}])

    def members(self, loop: str, to: str, *, cursor: str, safe: bool = False) -> tuple[str, str]:
        """A loop of two sockets that leads to `to`: the first does, the second judges."""
        build = self.agent(f"{loop} build", safe=safe, prompt=f"{self.said()} {{{{item.title}}}}")
        check = self.agent(f"{loop} check", judge=True, safe=safe)
        self.sockets[build]["edges"] = [{"to": check}]
        self.sockets[check] |= {
            "advance": {"cursor": cursor, "items": LIST.get(loop, LIST["work"]), "when": "satisfied"},
            "edges": self.verdicts(build, build),
        }
        sockets = self.random.sample([build, check], 2)
        self.loops[loop] = {"sockets": sockets, "exits": [{"from": check, "targetSocketId": to}]}
        return build, check
