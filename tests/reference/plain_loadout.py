"""A loadout as it is meant: a file as JSON values, with what it leaves out filled in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from plain_values import Json

END = "end"


@dataclass(frozen=True)
class Exit:
    """Where a loop goes from a socket that uses its list up."""

    source: str
    condition: str
    to: str


@dataclass(frozen=True)
class Loop:
    """A loop that iterates, or a lone socket with `foreach`.

    `source` is the generator that it consumes, `empty` where it leads when it finds no item.
    """

    id: str
    sockets: Sequence[str]
    items: str
    alias: str
    cursor: str
    done: str
    empty: str
    exits: Sequence[Exit] = ()
    source: str | None = None


class Loadout:
    """One loadout of a file. `loops` are those that iterate, `member` says which one a socket is in."""

    def __init__(self, config: Json, name: str) -> None:
        written: Json = config["loadouts"][name]
        self.sockets: Mapping[str, Json] = written["sockets"]
        self.entry: str = written.get("entry") or next(iter(self.sockets))
        self.most_cycles: int = config.get("limits", {}).get("maxNoAdvanceCycles", 3)
        self.budget: Json = config.get("budget", {})
        self._materia = {id_: config["materia"][socket["materia"]] for id_, socket in self.sockets.items()}
        self._loops = {
            id_: loop
            for id_, loop in written.get("loops", {}).items()
            if "consumes" in loop or "iterator" in loop
        }
        self.loops = [*map(_iterating, self._loops, self._loops.values()), *self._foreach()]
        self.member = {socket: loop for loop in self.loops for socket in loop.sockets}

    def edges(self, id_: str) -> list[Json]:
        """The edges of a socket, in order."""
        edges: list[Json] = self.sockets[id_].get("edges", [])
        return edges

    def limit(self, id_: str, name: str) -> int | None:
        """A limit of a socket."""
        limit: int | None = self.sockets[id_].get("limits", {}).get(name)
        return limit

    def is_utility(self, id_: str) -> bool:
        """Whether a program performs the socket, and no agent."""
        return any(key in self._materia[id_] for key in ("command", "utility", "script"))

    def is_generator(self, id_: str) -> bool:
        """Whether the socket makes work items."""
        return bool(self._materia[id_].get("generator"))

    def is_talk(self, id_: str) -> bool:
        """Whether a person refines the answers of the socket."""
        return bool(self._materia[id_].get("multiTurn"))

    def label(self, id_: str) -> str:
        """What paragraphs of the context call the materia of a socket."""
        label: str = self._materia[id_].get("label") or self.sockets[id_]["materia"]
        return label

    def reads_json(self, id_: str) -> bool:
        """How an output is read: as the socket says, else its materia, else what it is needed for."""
        written = self.sockets[id_].get("parse") or self._materia[id_].get("parse")
        judged = any(
            route.source == id_ and route.condition != "always" for loop in self.loops for route in loop.exits
        )
        early = any(exit_["from"] == id_ and _when(exit_) != "always" for exit_ in self._early_exits())
        default = "json" if self.is_generator(id_) or judged or early else "text"
        return (written or default) == "json"

    def advance(self, id_: str) -> Json | None:
        """When a socket steps the cursor: as it says itself, or as an early `exit` from it says."""
        if "advance" in self.sockets[id_]:
            written: Json = self.sockets[id_]["advance"]
            return written
        return next(({"when": _when(exit_)} for exit_ in self._early_exits() if exit_["from"] == id_), None)

    def asks_verdict(self, id_: str) -> bool:
        """Whether an edge or the advance of a socket cannot do without `satisfied`."""
        return any(_when(part) != "always" for part in [*self.edges(id_), self.advance(id_) or {}])

    def assignments(self, id_: str) -> dict[str, str]:
        """Sources by their targets, in order: the materia's place, the socket's source."""
        merged = {**self._materia[id_].get("assign", {}), **self.sockets[id_].get("assign", {})}
        if self.is_generator(id_):
            merged.pop("workItems", None)
            merged["workItems"] = "$.workItems"
        return merged

    def _early_exits(self) -> Iterator[Json]:
        return (loop["exit"] for loop in self._loops.values() if "exit" in loop)

    def _foreach(self) -> Iterator[Loop]:
        for id_, socket in self.sockets.items():
            if each := socket.get("foreach"):
                alias, cursor = each.get("as", "item"), each.get("cursor", f"{id_}Index")
                done = each.get("done", END)
                yield Loop(f"foreach {id_}", [id_], each["items"], alias, cursor, done, done)


def _when(part: Json) -> str:
    when: str = part.get("when", "always")
    return when


def _iterating(id_: str, loop: Json) -> Loop:
    consumes, iterator = loop.get("consumes", {}), loop.get("iterator", {})
    exits = [
        Exit(e["from"], e.get("condition", "always"), e["targetSocketId"]) for e in loop.get("exits", [])
    ]
    always = [route.to for route in exits if route.condition == "always"]
    early = loop.get("exit")
    if early and early["to"] != END:
        exits.append(Exit(early["from"], _when(early), early["to"]))
    if early and _when(early) == "always":
        always.append(early["to"])
    done = iterator.get("done", END)
    return Loop(
        id=id_,
        sockets=loop["sockets"],
        items=iterator.get("items", "state.workItems"),
        alias=iterator.get("as") or consumes.get("as") or "workItem",
        cursor=iterator.get("cursor") or consumes.get("cursor") or "workItemIndex",
        done=done,
        empty=always[0] if always else done,
        exits=exits,
        source=consumes.get("from"),
    )
