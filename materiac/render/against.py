"""Two pictures as one, in which every part says whether it is new, gone or another."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from materiac.program import Image
from materiac.render.boxes import Box
from materiac.render.diagram import END_ID, START_ID, Arrow, Diagram, Node
from materiac.render.lettering import visible

NEW, GONE, OTHER = "+", "-", "~"
COLORS: Final = {NEW: "#2e7d32", GONE: "#c0392b", OTHER: "#b26a00"}
LEGEND: Final = ("marks", f"{NEW} new, {GONE} gone, {OTHER} another")

_ONCE: Final = ("entry", "budget", "limits", "artifacts")
"""Headings of facts of which a picture has one."""


@dataclass(frozen=True)
class Before:
    """What a program was: its image, and the sockets and loops of which more changed than a picture shows.

    Each of these is the section and the id of a part, as in `("sockets", "build")`.
    """

    image: Image
    changed: Collection[tuple[str, str]]


def against(new: Diagram, old: Diagram, changed: Collection[tuple[str, str]]) -> Diagram:
    """The new picture with what is gone in it too, and with signs at all that is not as it was."""
    names = {section: {visible(id_) for part, id_ in changed if part == section} for section, _ in changed}
    ids = _ids(new.nodes, old.nodes)
    boxes = _Boxes(new.boxes, old.boxes, ids)
    was = [replace(arrow, box=boxes.ids.get(arrow.box or "")) for arrow in _renamed(old.arrows, ids)]
    return Diagram(
        title=new.title if new.title == old.title else f"{old.title} → {new.title}",
        facts=(*_facts(new.facts, old.facts), LEGEND),
        nodes=tuple(_nodes(new.nodes, old.nodes, ids, names.get("sockets", set()))),
        boxes=tuple(boxes.drawn(names.get("loops", set()))),
        arrows=tuple(_arrows(new.arrows, was)),
    )


def _facts(new: Sequence[tuple[str, str]], old: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    was = dict(old)
    for heading, line in new:
        if heading in _ONCE:
            yield heading, line if was[heading] == line else f"{OTHER} {was[heading]} → {line}"
        else:
            yield heading, line if (heading, line) in old else f"{NEW} {line}"
    for fact in old:
        if fact[0] not in _ONCE and fact not in new:
            yield fact[0], f"{GONE} {fact[1]}"


# Nodes


def _ids(new: Iterable[Node], old: Iterable[Node]) -> dict[str, str]:
    """For each id of the old picture that of the same node in both; what is gone gets one of its own."""
    known = {node.name: node.id for node in new}
    ends = {END_ID: END_ID, START_ID: START_ID}
    return ends | {node.id: known.get(node.name, f"gone{node.id}") for node in old}


def _nodes(
    new: Iterable[Node], old: Iterable[Node], ids: Mapping[str, str], changed: Collection[str]
) -> Iterator[Node]:
    """All nodes; one that is gone stands behind the one that it stood behind."""
    before = {node.name: node for node in old}
    behind: defaultdict[str, list[Node]] = defaultdict(list)
    last, known = "", {node.name for node in new}
    for node in old:
        if node.name in known:
            last = node.name
        else:
            behind[last].append(replace(node, id=ids[node.id], sign=GONE))
    yield from behind[""]
    for node in new:
        yield _node(node, before.get(node.name), node.name in changed)
        yield from behind[node.name]


def _node(new: Node, old: Node | None, is_changed: bool) -> Node:
    if old is None:
        return replace(new, sign=NEW)
    was = [(old.materia, new.materia), (old.does, new.does), (f"reads {old.reads}", f"reads {new.reads}")]
    notes = [f"was: {one}" for one, other in was if one != other]
    return replace(new, notes=(*new.notes, *notes), sign=OTHER) if is_changed else new


# Arrows

_Key = tuple[str, str, str, str]


def _renamed(arrows: Iterable[Arrow], ids: Mapping[str, str]) -> list[Arrow]:
    return [replace(arrow, source=ids[arrow.source], target=ids[arrow.target]) for arrow in arrows]


def _arrows(new: Iterable[Arrow], old: Iterable[Arrow]) -> Iterator[Arrow]:
    left: defaultdict[_Key, deque[Arrow]] = defaultdict(deque)
    for arrow in old:
        left[_key(arrow)].append(arrow)
    for arrow in new:
        was = left[_key(arrow)]
        yield _arrow(arrow, was.popleft() if was else None)
    yield from (replace(arrow, sign=GONE) for arrows in left.values() for arrow in arrows)


def _key(arrow: Arrow) -> _Key:
    return arrow.source, arrow.target, arrow.kind, arrow.condition


def _arrow(new: Arrow, old: Arrow | None) -> Arrow:
    if old is None:
        return replace(new, sign=NEW)
    if old.budget == new.budget:
        return new
    before = "was unlimited" if old.budget is None else f"was ≤{old.budget}"
    return replace(new, sign=OTHER, before=before)


# Boxes


class _Boxes:
    """Boxes of both pictures. `ids` has, for each old box that is drawn, the id that it has now.

    A loop that is gone is drawn where all of its nodes are gone too, and no box that is left had one.
    """

    def __init__(self, new: Sequence[Box], old: Sequence[Box], ids: Mapping[str, str]) -> None:
        self._new, self._old, self._nodes = new, old, ids
        known = {(box.kind, box.name): box.id for box in new}
        self._kept = {box.id: known[box.kind, box.name] for box in old if (box.kind, box.name) in known}
        self._homes = self._find_homes()
        gone = {box.id: f"gone{box.id}" for box in old if self._is_gone(box)}
        self.ids = self._kept | gone

    def drawn(self, changed: Collection[str]) -> Iterator[Box]:
        inside = self._moved_in()
        before = {self._kept[box.id]: box for box in self._old if box.id in self._kept}
        for box in self._new:
            nodes = (*box.nodes, *inside.get(box.id, ()))
            yield replace(box, nodes=nodes, sign=self._sign(box, before.get(box.id), changed))
        for box in self._old:
            if box.id in self.ids and box.id not in self._kept:
                nodes = tuple(self._nodes[node] for node in box.nodes)
                yield replace(
                    box, id=self.ids[box.id], nodes=nodes, parent=self._parent(box, self.ids), sign=GONE
                )

    def _sign(self, box: Box, old: Box | None, changed: Collection[str]) -> str:
        if box.kind != "loop":
            return ""
        if old is None:
            return NEW
        return OTHER if box.lines != old.lines or box.name in changed else ""

    def _find_homes(self) -> dict[str, str]:
        """For each node that is gone and was in a box that is left, the innermost of these."""
        homes: dict[str, str] = {}
        for box in sorted(self._old, key=lambda box: -len(box.nodes)):
            if box.id in self._kept:
                homes.update({node: box.id for node in box.nodes if self._nodes[node].startswith("gone")})
        return homes

    def _is_gone(self, box: Box) -> bool:
        if box.kind != "loop" or box.id in self._kept:
            return False
        home = self._parent(box, self._kept)
        return all(
            self._nodes[node].startswith("gone") and self._kept.get(self._homes.get(node, "")) == home
            for node in box.nodes
        )

    def _parent(self, box: Box, ids: Mapping[str, str]) -> str | None:
        """The id of the next box around an old one that is among `ids`."""
        parents = {other.id: other.parent for other in self._old}
        parent = box.parent
        while parent is not None and parent not in ids:
            parent = parents[parent]
        return None if parent is None else ids[parent]

    def _moved_in(self) -> dict[str, list[str]]:
        """The nodes that are gone, by the boxes of today in which they stand."""
        around = {box.id: box.parent for box in self._new}
        inside: dict[str, list[str]] = {}
        for node, home in self._homes.items():
            at: str | None = self._kept[home]
            while at is not None:
                inside.setdefault(at, []).append(self._nodes[node])
                at = around[at]
        return inside
