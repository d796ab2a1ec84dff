"""What of loadouts was covered: counted from the journals of casts, whoever ran them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from materiac.diagnostic import Place
from materiac.layers import Layered
from materiac.pipeline import Compiled
from materiac.program import Image, Program
from materiac.runtime.journal import JournalError, Record, read
from materiac.scenario.elements import Element, Key, elements, taken
from materiac.scenario.loadouts import Loadouts
from materiac.scenario.model import Target
from materiac.source import Pointer

FORMAT: Final = 1

Json = dict[str, Any]


@dataclass
class Covered:
    """How often casts came to each element of a loadout."""

    program: Program
    digest: str
    layered: Layered | None
    casts: int = 0
    counts: Counter[Key] = field(default_factory=Counter)

    def add(self, records: Iterable[Record]) -> None:
        """Count what the journal of a cast says."""
        self.casts += 1
        keys = (taken(self.program, record) for record in records)
        self.counts.update(key for key in keys if key is not None)

    @property
    def elements(self) -> list[Element]:
        return elements(self.program)

    @property
    def missed(self) -> list[Element]:
        """What no cast came to."""
        return [element for element in self.elements if not self.counts[element.key]]

    @property
    def percent(self) -> float:
        total = len(self.elements)
        return 100 * (total - len(self.missed)) / total

    def place(self, element: Element | None = None) -> Place | None:
        """Where an element, or the loadout itself, is written."""
        if self.layered is None:
            return None
        base: Pointer = ("loadouts", self.program.name)
        at = base if element is None else (*base, *_pointer(element, self.program, self._loops()))
        return self.layered.place(at)

    def _loops(self) -> Json:
        data = self.layered.data["loadouts"][self.program.name] if self.layered else {}
        loops: Json = data.get("loops") or {}
        return loops


class Coverage:
    """The coverage of every loadout that something was counted for."""

    def __init__(self) -> None:
        self.of: dict[str, Covered] = {}
        self.passed_over = 0
        self._digests: dict[int, tuple[Image, str]] = {}

    def add(self, compiled: Compiled, records: Iterable[Record] | None) -> None:
        """Count a cast of a loadout; without records the loadout is in the report all the same."""
        if compiled.image is None:
            return
        digest = self._digest(compiled.image)
        fresh = Covered(compiled.image.program, digest, compiled.layered)
        covered = self.of.setdefault(digest, fresh)
        if records is not None:
            covered.add(records)

    def add_casts(self, folder: Path, loadouts: Loadouts) -> None:
        """Count the casts in a folder that are of the loadouts known so far, or of the layers' own.

        Casts of anything else, or of another version of it, are passed over. Raises `OSError`.
        """
        for journal in sorted(folder.glob("*/events.jsonl")):
            try:
                records = read(journal).records
            except JournalError:
                self.passed_over += 1
                continue
            fields = records[0].fields if records else {}
            digest = str(fields.get("hash"))
            if digest not in self.of and isinstance(fields.get("loadout"), str):
                compiled = loadouts.get(Target(name=fields["loadout"]), folder)
                if compiled.image is not None and self._digest(compiled.image) == digest:
                    self.add(compiled, None)
            if digest in self.of:
                self.of[digest].add(records)
            else:
                self.passed_over += 1

    def _digest(self, image: Image) -> str:
        if id(image) not in self._digests:
            self._digests[id(image)] = image, image.program.digest()
        return self._digests[id(image)][1]

    def lines(self) -> Iterable[str]:
        """The report for people: each loadout, and what of it nothing came to."""
        for covered in self.of.values():
            total, missed = len(covered.elements), covered.missed
            share = f"{total - len(missed)} of {total} covered, {covered.percent:.1f} %"
            yield f"{covered.program.name} ({_file(covered.place())}): {share}"
            yield from (
                f"  {_where(covered.place(element))}: not covered: {element.words}" for element in missed
            )
        if self.passed_over:
            yield f"casts of other loadouts, or of other versions, that are not counted: {self.passed_over}"

    def as_data(self) -> Json:
        """The report for programs, `render --coverage` among them."""
        listed = [_data(covered) for covered in self.of.values()]
        return {"format": FORMAT, "loadouts": listed, "castsPassedOver": self.passed_over}


def _pointer(element: Element, program: Program, loops: Json) -> Pointer:
    """The way from a loadout to an element; where it is not written, to something around it."""
    if element.kind in ("edge", "exhaustion") and element.index is not None:
        limit = ("maxTraversals",) if element.kind == "exhaustion" else ()
        return ("sockets", element.of, "edges", element.index, *limit)
    if element.kind == "exit":
        return _exit(element, loops)
    if element.kind == "empty":
        loop = program.loops[element.of]
        return ("sockets", loop.sockets[0], "foreach") if loop.foreach else ("loops", element.of)
    if element.kind == "done":
        return ("sockets", element.of, "advance")
    return ("sockets", element.of)


def _exit(element: Element, loops: Json) -> Pointer:
    for name, loop in loops.items():
        for index, route in enumerate(loop.get("exits") or ()):
            if route.get("from") == element.of and (route.get("condition") or "always") == element.when:
                return ("loops", name, "exits", index)
        if (loop.get("exit") or {}).get("from") == element.of:
            return ("loops", name, "exit")
    return ("sockets", element.of)


def _data(covered: Covered) -> Json:
    return {
        "loadout": covered.program.name,
        "hash": covered.digest,
        "casts": covered.casts,
        "percent": round(covered.percent, 2),
        "elements": [
            {
                "kind": element.kind,
                "of": element.of,
                "to": element.to,
                "when": element.when,
                "index": element.index,
                "count": covered.counts[element.key],
                **_place_data(covered.place(element)),
            }
            for element in covered.elements
        ],
    }


def _place_data(place: Place | None) -> Mapping[str, Any]:
    if place is None:
        return {"file": None, "line": None, "column": None}
    position = place.source.position(place.span.start)
    return {"file": place.source.name, "line": position.line, "column": position.column}


def _file(place: Place | None) -> str:
    return place.source.name if place is not None else "no file"


def _where(place: Place | None) -> str:
    if place is None:
        return "no file"
    position = place.source.position(place.span.start)
    return f"{place.source.name}:{position.line}:{position.column}"
