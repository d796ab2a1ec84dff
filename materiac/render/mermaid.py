"""A diagram as a Mermaid flowchart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from materiac.render.against import COLORS, GONE, NEW, OTHER
from materiac.render.boxes import Box
from materiac.render.covered import color
from materiac.render.diagram import END_ID, START_ID, Arrow, Diagram, Node, captions
from materiac.render.outline import Close, outline

# `end` is a word of the language, even as an id.
_IDS: Final = {START_ID: "begin", END_ID: "finish"}
_SHAPES: Final = {
    "agent": ("(", ")"),
    "utility": ("[", "]"),
    "loop": ("[[", "]]"),
    "group": ("[", "]"),
}
_GENERATOR: Final = ("[[", "]]")
_LINES: Final = {"otherwise": "-.->", "empty": "-.->", "done": "==>", "exit": "==>"}

_CLASSES: Final = {NEW: "added", GONE: "removed", OTHER: "changed"}
_STROKES: Final = {
    NEW: f"stroke:{COLORS[NEW]},stroke-width:3px",
    GONE: f"stroke:{COLORS[GONE]},stroke-width:2px,stroke-dasharray:5 3",
    OTHER: f"stroke:{COLORS[OTHER]},stroke-width:2px",
}

# What the language, HTML or Markdown could take for its own: a space after "1." or "-" makes a list, and
# so does "-" alone.
_SPECIAL: Final = re.compile(r"[!-~](?<![\w.,:/()=-])|[.-](?= )|^-$", re.ASCII)


def render(diagram: Diagram) -> str:
    """The diagram as a flowchart; every text in it is quoted, every id is made up."""
    return "\n".join(["flowchart TB", *(f"  {line}" for line in _body(diagram)), ""])


def _body(diagram: Diagram) -> Iterator[str]:
    title = [diagram.title, *(f"{heading}: {line}" for heading, line in diagram.facts)]
    yield f"title[{_quoted(title)}]"
    yield "style title fill:none,stroke:none,text-align:left"
    yield f'{_IDS[START_ID]}(["start"])'
    for part in outline(diagram):
        yield _part(part)
    yield f'{_IDS[END_ID]}((("end")))'
    boxes = {box.id: box for box in diagram.boxes}
    for arrow in diagram.arrows:
        yield _line(arrow, boxes)
    for index, arrow in enumerate(diagram.arrows):
        line = color(was_covered=arrow.covered)
        if arrow.sign:
            yield f"linkStyle {index} {_STROKES[arrow.sign]}"
        elif line is not None:
            yield f"linkStyle {index} stroke:{line}"
    for node in diagram.nodes:
        line = color(was_covered=node.covered) or node.color
        if line is not None and not node.sign:
            yield f"style {node.id} stroke:{line},stroke-width:2px"
    yield from _signs([*diagram.nodes, *diagram.boxes])


def _signs(parts: Sequence[Node | Box]) -> Iterator[str]:
    """The classes of what changed."""
    for sign, name in _CLASSES.items():
        ids = [part.id for part in parts if part.sign == sign]
        if ids:
            yield f"classDef {name} {_STROKES[sign]}"
            yield f"class {','.join(ids)} {name}"


def _part(part: Box | Node | Close) -> str:
    if isinstance(part, Close):
        return "end"
    if isinstance(part, Box):
        return f"subgraph {part.id}[{_quoted([part.title, *part.lines])}]"
    generates = any("generator" in mark for mark in part.marks)
    before, after = _GENERATOR if generates else _SHAPES[part.kind]
    return f"{part.id}{before}{_quoted(captions(part))}{after}"


def _line(arrow: Arrow, boxes: Mapping[str, Box]) -> str:
    source = _IDS.get(arrow.source, arrow.source)
    if arrow.box is not None and arrow.target not in boxes[arrow.box].nodes:
        source = arrow.box
    target = _IDS.get(arrow.target, arrow.target)
    label = f"|{_quoted([arrow.words])}|" if arrow.words else ""
    return f"{source} {_LINES.get(arrow.kind, '-->')}{label} {target}"


def _quoted(texts: Iterable[str]) -> str:
    return '"' + "<br/>".join(_escaped(line) for text in texts for line in text.split("\n")) + '"'


def _escaped(line: str) -> str:
    return _SPECIAL.sub(lambda match: f"#{ord(match[0])};", line)
