"""A diagram in the DOT language, laid out fast and read from top to bottom."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from materiac.render.against import COLORS, GONE, NEW, OTHER
from materiac.render.boxes import Box
from materiac.render.covered import color
from materiac.render.diagram import END_ID, START_ID, Arrow, Diagram, Node, captions
from materiac.render.layout import layout
from materiac.render.lettering import columns, label_width, wrap
from materiac.render.outline import Close, outline

_HEAD: Final = """\
digraph {
  rankdir=TB; ordering=out; nodesep=0.35; ranksep=0.4; fontname="Helvetica"; fontsize=11
  node [shape=box, style="rounded,filled", color="#5b6b7f", fillcolor="#f3f7fd", margin="0.14,0.08",
    fontname="Helvetica", fontsize=10]
  edge [fontname="Helvetica", fontsize=9, color="#44505e", fontcolor="#44505e", arrowsize=0.7]"""
_PAGES: Final = "pack=true; packmode=array_tu32; sortv=0"
_START: Final = 'label="start", shape=oval, fillcolor="#ffffff"'
_END: Final = (
    'label="end", shape=doublecircle, style=filled, fillcolor="#333b45", fontcolor="#ffffff", margin="0.04"'
)
_BOX_STYLES: Final = {
    "loop": 'style="rounded,filled"; color="#c9a24b"; fillcolor="#fffaf0"',
    "group": 'style="rounded,dashed"; color="#8a94a0"',
}
_NODE_STYLES: Final = {
    "agent": [],
    "utility": ["style=filled", 'fillcolor="#f1f1ef"'],
    "loop": ['color="#c9a24b"', 'fillcolor="#fffaf0"', "peripheries=2"],
    "group": ['style="rounded,dashed"'],
}
_SIGN_STYLES: Final = {NEW: "bold", GONE: "dashed", OTHER: "solid"}
_NODE_SHAPES: Final = {
    "agent": "rounded,filled",
    "utility": "filled",
    "loop": "rounded,filled",
    "group": "rounded",
}
_ARROW_STYLES: Final = {"otherwise": "dashed", "empty": "dotted", "done": "bold", "exit": "bold"}

_LINE: Final = 36
_TITLE_LINE: Final = 72
_CELL_INCHES: Final = 0.085
_MARGIN_INCHES: Final = 0.3


def render(diagram: Diagram) -> str:
    """The diagram as a DOT graph; every text in it is quoted, every id is made up."""
    return "\n".join([_HEAD, *(f"  {line}" for line in _body(diagram)), "}", ""])


def _body(diagram: Diagram) -> Iterator[str]:
    yield f"label={_left(_wrapped(_title(diagram), _TITLE_LINE))}; labelloc=t; labeljust=l"
    yield f"{START_ID} [{_START}]"
    for part in outline(diagram):
        yield _part(part)
    yield from _ways(diagram)


def _title(diagram: Diagram) -> Iterator[str]:
    yield diagram.title
    for heading, line in diagram.facts:
        yield f"{heading}: {line}"


def _part(part: Box | Node | Close) -> str:
    if isinstance(part, Close):
        return "}"
    if isinstance(part, Node):
        return f"{part.id} [{', '.join(_node(part))}]"
    label = _left(_wrapped([part.title, *part.lines]))
    sign = f'; color="{COLORS[part.sign]}"; style="rounded,{_SIGN_STYLES[part.sign]}"' if part.sign else ""
    return f"subgraph cluster_{part.id} {{ label={label}; labeljust=l; {_BOX_STYLES[part.kind]}{sign}"


def _node(node: Node) -> Iterator[str]:
    lines = list(_wrapped(captions(node)))
    yield f"label={_quoted(lines)}"
    yield from _NODE_STYLES[node.kind]
    if any("generator" in mark for mark in node.marks):
        yield "peripheries=2"
    if node.sign:
        yield f'style="{_NODE_SHAPES[node.kind]},{_SIGN_STYLES[node.sign]}"'
    line = COLORS.get(node.sign) or color(was_covered=node.covered) or node.color
    if line is not None:
        yield f'color="{line}", penwidth=2'
    if not all(map(str.isascii, lines)):
        # A layout without fonts for a script takes its letters for narrow ones.
        yield f"width={_MARGIN_INCHES + _CELL_INCHES * max(map(columns, lines)):.2f}"


def _ways(diagram: Diagram) -> Iterator[str]:
    plan = layout(diagram)
    names = {node.id: node.name for node in diagram.nodes}
    if plan.paged:
        yield _PAGES
    ends = [cut for arrow, cut in zip(diagram.arrows, plan.cut, strict=True) if arrow.target == END_ID]
    if not ends or not all(ends):
        yield f"{END_ID} [{_END}]"
    for index, (arrow, onward, cut) in enumerate(zip(diagram.arrows, plan.onward, plan.cut, strict=True)):
        if cut:
            yield f"j{index} [{_mark(arrow, names)}]"
            yield _line(replace(arrow, target=f"j{index}"))
        else:
            # The weight keeps the main way straight where there are marks beside it.
            yield _line(arrow, "weight=4" if onward else "constraint=false")


def _mark(arrow: Arrow, names: Mapping[str, str]) -> str:
    """What stands at the end of an arrow that is cut off."""
    if arrow.target == END_ID:
        return _END
    return f'label={_quoted(_wrapped([f"→ {names[arrow.target]}"]))}, shape=plain, style=""'


def _line(arrow: Arrow, *placing: str) -> str:
    attributes = list(placing)
    style = _SIGN_STYLES.get(arrow.sign) or _ARROW_STYLES.get(arrow.kind)
    if style is not None:
        attributes.append(f"style={style}")
    line = COLORS.get(arrow.sign) or color(was_covered=arrow.covered)
    if line is not None:
        attributes.append(f'color="{line}", fontcolor="{line}"')
    if arrow.words:
        attributes.append(f'label=" {arrow.words}"')
    return f"{arrow.source} -> {arrow.target} [{', '.join(attributes)}]"


def _wrapped(texts: Iterable[str], width: int = _LINE) -> list[str]:
    return [line for text in texts for line in wrap(text, label_width(text, width))]


def _quoted(lines: Iterable[str]) -> str:
    return '"' + "\\n".join(map(_escaped, lines)) + '"'


def _left(lines: Iterable[str]) -> str:
    return '"' + "".join(f"{_escaped(line)}\\l" for line in lines) + '"'


def _escaped(line: str) -> str:
    # An ampersand may begin an entity in a label, as in "&lt;".
    return line.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
