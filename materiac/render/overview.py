"""The picture of a program from further away: each loop and each group is one node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from materiac.render.boxes import Box
from materiac.render.diagram import UNCOVERED, Arrow, Diagram, Node


def overview(whole: Diagram) -> Diagram:
    """The picture with every loop, and every group without loops in it, folded to one node.

    Lines between the same two nodes become one, with their number.
    """
    around = _around_loops(whole.boxes)
    folded = {node: box for box in _outermost(whole.boxes, around) for node in box.nodes}
    names = {node: box.id for node, box in folded.items()}
    return replace(
        whole,
        nodes=tuple(_nodes(whole.nodes, folded)),
        boxes=tuple(_renamed(box, names) for box in whole.boxes if box.id in around),
        arrows=_merged(whole.arrows, names),
    )


def _around_loops(drawn: Iterable[Box]) -> set[str]:
    parents = {box.id: box.parent for box in drawn}
    return {outer for box in drawn if box.kind == "loop" for outer in _ancestors(box.id, parents)}


def _outermost(drawn: Iterable[Box], around: set[str]) -> Iterator[Box]:
    parents = {box.id: box.parent for box in drawn}
    for box in drawn:
        if box.id not in around and all(outer in around for outer in _ancestors(box.id, parents)):
            yield box


def _ancestors(box: str, parents: Mapping[str, str | None]) -> Iterator[str]:
    parent = parents[box]
    while parent is not None:
        yield parent
        parent = parents[parent]


def _nodes(nodes: Sequence[Node], folded: Mapping[str, Box]) -> Iterator[Node]:
    seen = set()
    for node in nodes:
        box = folded.get(node.id)
        if box is None:
            yield node
        elif box.id not in seen:
            seen.add(box.id)
            yield _fold(box, [other for other in nodes if other.id in box.nodes])


def _fold(box: Box, members: Sequence[Node]) -> Node:
    number = len(box.nodes)
    size = f"{number} socket{'' if number == 1 else 's'}"
    was = _all(member.covered for member in members)
    notes = (*box.lines, UNCOVERED) if was is False else box.lines
    name = f"{box.kind} of {size}"
    sign = box.sign or _sign(member.sign for member in members)
    return Node(box.id, box.name, name, box.kind, does="", notes=notes, covered=was, sign=sign)


def _sign(signs: Iterable[str]) -> str:
    """The sign that all have; where some have one, that of what is another."""
    found = set(signs)
    return found.pop() if len(found) == 1 else "~"


def _all(covered: Iterable[bool | None]) -> bool | None:
    """Whether all of what is known was covered; None where nothing is."""
    known = [was for was in covered if was is not None]
    return all(known) if known else None


def _renamed(box: Box, names: Mapping[str, str]) -> Box:
    return replace(box, nodes=tuple(dict.fromkeys(names.get(node, node) for node in box.nodes)))


def _merged(arrows: Iterable[Arrow], names: Mapping[str, str]) -> tuple[Arrow, ...]:
    lines: dict[tuple[str, str], list[Arrow]] = {}
    for arrow in arrows:
        ends = names.get(arrow.source, arrow.source), names.get(arrow.target, arrow.target)
        if ends[0] != ends[1] or arrow.source not in names:
            lines.setdefault(ends, []).append(replace(arrow, source=ends[0], target=ends[1], box=None))
    return tuple(_one(parallel) for parallel in lines.values())


def _one(parallel: list[Arrow]) -> Arrow:
    """One line for several; what they do not have in common is left out."""
    first, *others = parallel
    if not others:
        return first
    if all(other == first for other in others):
        return replace(first, count=len(parallel))
    was, sign = _all(arrow.covered for arrow in parallel), _sign(arrow.sign for arrow in parallel)
    return Arrow(first.source, first.target, "edge", count=len(parallel), covered=was, sign=sign)
