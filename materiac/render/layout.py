"""Which arrows of a diagram a layered drawing lays out, and which it only names the target of.

The time of a layout grows with the layers that lines run through, and nobody can follow such lines on
a long sheet. So a deep diagram is cut into pages side by side, and in a crowded one a far way ends in
a mark that names where it leads: a thousand sockets take a second, not a minute.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from materiac.render.diagram import START_ID, Diagram

_DEEP: Final = 150
_PAGE: Final = 100
_CROWDED: Final = 1500
_FAR: Final = 6


@dataclass(frozen=True, slots=True)
class Layout:
    """For each arrow, whether it leads onward or back, and whether it is cut off short."""

    onward: tuple[bool, ...]
    cut: tuple[bool, ...]
    paged: bool


def layout(diagram: Diagram) -> Layout:
    """Sort the arrows of a diagram; a small one keeps all of them whole."""
    layer = _layers(diagram)
    page = _pages(diagram, layer)
    steps = [layer[arrow.target] - layer[arrow.source] for arrow in diagram.arrows]
    longest = _FAR if sum(map(abs, steps)) > _CROWDED else len(layer)
    return Layout(
        onward=tuple(step > 0 for step in steps),
        cut=tuple(
            abs(step) > longest or page[arrow.source] != page[arrow.target]
            for step, arrow in zip(steps, diagram.arrows, strict=True)
        ),
        paged=len(set(page.values())) > 1,
    )


def _layers(diagram: Diagram) -> dict[str, int]:
    """The layer of each node: one below the lowest of those from which an arrow leads onward to it.

    Arrows that close a circle, as a walk from the start in written order meets them, lead back: they
    alone do not lead to a greater layer.
    """
    targets: dict[str, list[str]] = {}
    for arrow in diagram.arrows:
        targets.setdefault(arrow.source, []).append(arrow.target)
    order = list(_finished(targets, [START_ID, *(node.id for node in diagram.nodes)]))[::-1]
    place = {node: index for index, node in enumerate(order)}
    found = dict.fromkeys(order, 0)
    for node in order:
        for target in targets.get(node, ()):
            if place[target] > place[node]:
                found[target] = max(found[target], found[node] + 1)
    return found


def _finished(targets: Mapping[str, Sequence[str]], roots: Sequence[str]) -> Iterator[str]:
    """Every node, each after all that a depth-first walk found below it."""
    seen: set[str] = set()
    for root in roots:
        if root not in seen:
            seen.add(root)
            yield from _walk(root, targets, seen)


def _walk(root: str, targets: Mapping[str, Sequence[str]], seen: set[str]) -> Iterator[str]:
    stack = [(root, iter(targets.get(root, ())))]
    while stack:
        node, rest = stack[-1]
        below = next((target for target in rest if target not in seen), None)
        if below is None:
            stack.pop()
            yield node
        else:
            seen.add(below)
            stack.append((below, iter(targets.get(below, ()))))


def _pages(diagram: Diagram, layer: Mapping[str, int]) -> dict[str, int]:
    """The page of each node; what is in one box stays together."""
    if max(layer.values()) <= _DEEP:
        return dict.fromkeys(layer, 0)
    pages = {node: depth // _PAGE for node, depth in layer.items()}
    for box in diagram.boxes:
        if box.parent is None:
            pages.update(dict.fromkeys(box.nodes, pages[box.nodes[0]]))
    return pages
