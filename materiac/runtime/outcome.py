"""How control came to where a cast is, and what came of the visit there."""

from __future__ import annotations

from dataclasses import dataclass, field

from materiac.machine import Way
from materiac.runtime.items import Item, ItemId
from materiac.runtime.visit import Json, Output, Visit, VisitFailed, VisitWaits


@dataclass(frozen=True, slots=True)
class Arrival:
    """How control came to where it is: the way, and the item of the visit that took it."""

    way: Way
    item: ItemId | None

    @property
    def budgeted(self) -> bool:
        return self.way.edge is not None and self.way.edge.max_traversals is not None

    @property
    def rework(self) -> bool:
        return self.way.kind == "edge" and self.way.when == "not_satisfied"


@dataclass
class Outcome:
    """What came of the visit that the machine is at."""

    visit: Visit | None = None
    output: Output | None = None
    advanced: bool = False
    failure: VisitFailed | None = None
    waits: VisitWaits | None = None
    skipped: bool = False
    used_up: bool = False
    finished: bool = False
    place: Json = field(default_factory=dict)
    scope: ItemId | None = None

    @property
    def verdict(self) -> bool | None:
        accepted = self.output.accepted if self.output else None
        verdict = accepted.fields.get("satisfied") if accepted else None
        return verdict if isinstance(verdict, bool) else None

    def come(self, socket: str, item: Item | None) -> None:
        """Note which socket, and which item, control has come to; the visit may fail before it begins."""
        keyed = {"itemKey": item.key, "itemLabel": item.label} if item is not None else {}
        self.place = {"socket": socket} | keyed

    def where(self) -> Json:
        """The place of the visit, or of what stands for it, as the fields of a journal record."""
        return self.visit.place() if self.visit is not None else self.place
