"""A diagram as plain text, for a terminal a hundred columns wide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Final

from materiac.render.boxes import Box
from materiac.render.diagram import END_ID, Arrow, Diagram, Node
from materiac.render.lettering import columns, one_line, pad, wrap

_WIDTH: Final = 100
_GAP: Final = "  "
_WIDEST: Final = (24, 24, 20)
_NARROWEST: Final = (8, 8, 7)
_READS: Final = 4


def render(diagram: Diagram) -> str:
    """The diagram line by line: the cast, each socket with its ways below it, then loops and groups."""
    names = {node.id: one_line(node.name) for node in diagram.nodes} | {END_ID: "end"}
    lines = [*_head(diagram), *_sockets(diagram, names), *_boxes(diagram, names)]
    return "".join(f"{line}\n" for line in lines)


def _head(diagram: Diagram) -> Iterator[str]:
    facts = [("loadout", diagram.title), *diagram.facts]
    size = max(len(heading) for heading, _ in facts)
    for heading, line in facts:
        yield from _row([heading, one_line(line)], [size, _WIDTH - size - len(_GAP)])


def _sockets(diagram: Diagram, names: Mapping[str, str]) -> Iterator[str]:
    ways: dict[str, list[Arrow]] = {}
    for arrow in diagram.arrows:
        if arrow.box is None:
            ways.setdefault(arrow.source, []).append(arrow)
    rows = {node.id: _cells(node) for node in diagram.nodes}
    sizes = _sizes(rows.values())
    for node, cells in rows.items():
        yield ""
        yield from _row(cells, sizes)
        yield from _ways(ways.get(node, ()), names, indent=sizes[0])


def _cells(node: Node) -> list[str]:
    kind = " ".join([node.kind, *node.marks]) if node.does else ""
    does = "\n".join(one_line(text) for text in (node.does, *node.notes) if text)
    return [one_line(node.title), one_line(node.materia), kind, does, node.reads]


def _sizes(rows: Iterable[Sequence[str]]) -> list[int]:
    sizes = list(_NARROWEST)
    for row in rows:
        for index, widest in enumerate(_WIDEST):
            sizes[index] = min(widest, max(sizes[index], columns(row[index])))
    return [*sizes, _WIDTH - sum(sizes) - _READS - 4 * len(_GAP), _READS]


def _row(cells: Sequence[str], sizes: Sequence[int]) -> Iterator[str]:
    """The cells side by side, each over as many lines as it needs."""
    blocks = [wrap(cell, size) for cell, size in zip(cells, sizes, strict=True)]
    for parts in zip_longest(*blocks, fillvalue=""):
        yield _GAP.join(map(pad, parts, sizes)).rstrip()


def _ways(arrows: Sequence[Arrow], names: Mapping[str, str], indent: int) -> Iterator[str]:
    """One line for each way, the arrows below one another."""
    size = max((len(arrow.when) for arrow in arrows), default=0)
    for arrow in arrows:
        limit = f" ({arrow.limit})" if arrow.limit else ""
        when = f"{arrow.when:>{size}} " if size else ""
        fault = f"  {arrow.fault}" if arrow.fault else ""
        sign = f"{arrow.sign:<{len(_GAP)}}"
        yield f"{' ' * indent}{sign}{when}→ {names[arrow.target]}{limit}{fault}"


def _boxes(diagram: Diagram, names: Mapping[str, str]) -> Iterator[str]:
    headings = [one_line(box.title) for box in diagram.boxes]
    size = min(_WIDEST[0], max(map(columns, headings), default=0))
    for box, heading in zip(diagram.boxes, headings, strict=True):
        yield ""
        members = ", ".join(names[node] for node in box.nodes)
        for first, line in zip_longest([heading], [members, *map(one_line, box.lines)], fillvalue=""):
            yield from _row([first, line], [size, _WIDTH - size - len(_GAP)])
        for line in _ends(diagram, box, names):
            yield f"{' ' * size}{_GAP}{line}"


def _ends(diagram: Diagram, box: Box, names: Mapping[str, str]) -> Iterator[str]:
    """The ways out of a loop whose list is used up or empty."""
    nodes = set(box.nodes)
    for arrow in diagram.arrows:
        if box.kind == "loop" and arrow.source in nodes and arrow.kind in ("exit", "done"):
            yield _end(arrow, f"after {names[arrow.source]}: {arrow.when}", names)
        if arrow.box == box.id:
            yield _end(arrow, arrow.when, names)


def _end(arrow: Arrow, when: str, names: Mapping[str, str]) -> str:
    words = f"{when} → {names[arrow.target]}  {arrow.fault}".rstrip()
    return f"{arrow.sign} {words}" if arrow.sign else words
