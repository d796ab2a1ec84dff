"""The nodes of a diagram inside their boxes, as a walk from the outside in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from materiac.render.boxes import Box
from materiac.render.diagram import Diagram, Node


@dataclass(frozen=True, slots=True)
class Close:
    """The end of a box."""

    box: Box


def outline(diagram: Diagram) -> Iterator[Box | Node | Close]:
    """Each box, what is in it, and its end; everything in the order of the first node in it."""
    within = _within(diagram)
    stack: list[tuple[Box | None, Iterator[Box | Node]]] = [(None, iter(within.get(None, ())))]
    while stack:
        box, rest = stack[-1]
        part = next(rest, None)
        if part is not None:
            yield part
        if isinstance(part, Box):
            stack.append((part, iter(within.get(part.id, ()))))
        if part is None:
            stack.pop()
            if box is not None:
                yield Close(box)


def _within(diagram: Diagram) -> dict[str | None, list[Box | Node]]:
    """What is directly in each box, and under None what is in none."""
    by_id = {box.id: box for box in diagram.boxes}
    innermost: dict[str, str] = {}
    for box in sorted(diagram.boxes, key=lambda box: -len(box.nodes)):
        innermost.update(dict.fromkeys(box.nodes, box.id))
    within: dict[str | None, list[Box | Node]] = {}
    for node in diagram.nodes:
        part: Box | Node = node
        holder = innermost.get(node.id)
        while holder is not None and holder not in within:
            within[holder] = [part]
            part, holder = by_id[holder], by_id[holder].parent
        within.setdefault(holder, []).append(part)
    return within
