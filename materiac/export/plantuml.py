"""A program as a PlantUML state diagram, made from the picture that all formats share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from materiac.program import Image
from materiac.render.boxes import Box
from materiac.render.diagram import END_ID, START_ID, Arrow, Diagram, Node, captions, make
from materiac.render.outline import Close, outline

_LINES: Final = {"otherwise": "-[dashed]->", "empty": "-[dashed]->", "done": "-[bold]->", "exit": "-[bold]->"}

# What PlantUML or its markup could take for its own; what follows a backslash may be a line break.
_SPECIAL: Final = re.compile(r"[!-~](?<![\w.,()=≤-])|--|__|==|\.\.", re.ASCII)


def render(image: Image) -> str:
    """The diagram; every text in it is quoted, every id is made up."""
    return "\n".join(["@startuml", *_body(make(image)), "@enduml", ""])


def _body(diagram: Diagram) -> Iterator[str]:
    yield "hide empty description"
    yield f"title {_text([diagram.title, *(f'{heading}: {line}' for heading, line in diagram.facts)])}"
    depth = 0
    for part in outline(diagram):
        depth -= isinstance(part, Close)
        yield "  " * depth + _part(part)
        depth += isinstance(part, Box)
    boxes = {box.id: box for box in diagram.boxes}
    for arrow in diagram.arrows:
        yield _arrow(arrow, boxes)


def _part(part: Box | Node | Close) -> str:
    if isinstance(part, Close):
        return "}"
    if isinstance(part, Box):
        return f'state "{_text([f"{part.kind} {part.name}", *part.lines])}" as {part.id} {{'
    color = f" #line:{part.color.lstrip('#')}" if part.color is not None else ""
    return f'state "{_text(captions(part))}" as {part.id}{color}'


def _arrow(arrow: Arrow, boxes: dict[str, Box]) -> str:
    source = "[*]" if arrow.source == START_ID else arrow.source
    if arrow.box is not None and arrow.target not in boxes[arrow.box].nodes:
        source = arrow.box
    target = "[*]" if arrow.target == END_ID else arrow.target
    words = f" : {_text([arrow.words])}" if arrow.words else ""
    return f"{source} {_LINES.get(arrow.kind, '-->')} {target}{words}"


def _text(lines: Iterable[str]) -> str:
    return "\\n".join(_escaped(part) for line in lines for part in line.split("\n"))


def _escaped(line: str) -> str:
    return _SPECIAL.sub(lambda match: "".join(f"<U+{ord(c):04X}>" for c in match[0]), line)
