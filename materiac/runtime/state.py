"""What a cast knows: its state, the last output, and how an accepted output changes them."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Self

from materiac.path import ITEM_NAMES, MISSING, parse_source, parse_target, read, write
from materiac.program import Materia, Socket
from materiac.runtime.contract import Accepted
from materiac.runtime.items import Item
from materiac.runtime.visit import VisitFailed

Cursor = Callable[[str], int | None]

MAX_DEPTH: Final = 300
"""A sound output is nested less; a state that is copied into itself, again and again, is not."""


@dataclass
class Knowledge:
    """The values that paths and templates reach. `shown` is the last output as prompts may show it."""

    state: dict[str, Any] = field(default_factory=dict)
    written: dict[str, None] = field(default_factory=dict)
    last_output: str | None = None
    last_json: Any = None
    shown: Any = None

    @classmethod
    def starting(cls, state: dict[str, Any]) -> Self:
        """With a copy of what the state holds at the start, which prompts show like what sockets wrote."""
        return cls(state=copy.deepcopy(state), written=dict.fromkeys(state))

    def fork(self) -> Knowledge:
        """A copy that goes its own way."""
        return copy.deepcopy(self)

    def read(self, source: str, item: Item | None, cursor: Cursor, output: Any = MISSING) -> Any:
        """The value of a source path, or `MISSING`."""
        path = parse_source(source)
        if path.bare and item is not None and path.segments[0] in (*ITEM_NAMES, item.alias):
            return read(item.value, path.segments[1:])
        if path.root == "cursor":
            position = cursor(path.segments[0])
            return MISSING if position is None else position
        roots = {
            "$": output,
            "state": self.state,
            "item": item.value if item else MISSING,
            "lastOutput": MISSING if self.last_output is None else self.last_output,
            "lastJson": MISSING if self.last_json is None else self.last_json,
        }
        return read(roots[path.root], path.segments)

    def take_text(self, text: str) -> None:
        """Make a text the last output."""
        self.last_output = self.shown = text

    def take_object(self, socket: Socket, materia: Materia, accepted: Accepted) -> None:
        """Take in an accepted object: its state patch, its known fields, its context."""
        self.last_json = accepted.output
        self.last_output = compact(accepted.output)
        self.shown = accepted.shown
        for key, value in (accepted.state or {}).items():
            self.state[key] = copy.deepcopy(value)
            self.written[key] = None
        known = {key: value for key, value in accepted.fields.items() if key != "text"}
        self._envelope().update(copy.deepcopy(known))
        if "workItems" in known and (materia.generator or "workItems" not in self.state):
            self.state["workItems"] = copy.deepcopy(known["workItems"])
        context = known.get("context")
        if isinstance(context, str) and context.strip():
            self._append_context(f"[{socket.id} {materia.label}] {context}")

    def assign(self, socket: Socket, item: Item | None, cursor: Cursor, output: Any) -> None:
        """Carry out the assignments of a socket, in order. Raises `VisitFailed`."""
        for target, source in socket.assign:
            value = self.read(source, item, cursor, output)
            if value is not MISSING:
                segments = parse_target(target)
                write(self.state, segments, value)
                self.written[segments[0]] = None
        if socket.assign and _is_deep(self.state):
            raise VisitFailed("output", f"'assign' nests the state more than {MAX_DEPTH} levels deep")

    def _envelope(self) -> dict[str, Any]:
        envelope = self.state.get("envelope")
        if not isinstance(envelope, dict):
            envelope = self.state["envelope"] = {}
        return envelope

    def _append_context(self, paragraph: str) -> None:
        before = self.state.get("context")
        parts = [before, paragraph] if isinstance(before, str) and before else [paragraph]
        self.state["context"] = "\n\n".join(parts)


def _is_deep(state: dict[str, Any]) -> bool:
    level: list[Any] = [state]
    for _ in range(MAX_DEPTH):
        inside = (part.values() if isinstance(part, dict) else part for part in level)
        level = [child for parts in inside for child in parts if isinstance(child, dict | list)]
        if not level:
            return False
    return True


def compact(value: Any) -> str:
    """JSON without white space."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
