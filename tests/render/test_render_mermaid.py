"""Mermaid: every line is one of the flowchart language."""

from __future__ import annotations

import re

import pytest
from drawn_programs import NASTY, chained, full, grouped, looped

from materiac.program import Image
from materiac.render import render

# In a quoted text nothing may stand that the language or HTML takes for its own but entities and <br/>.
TEXT = r'"(?:[^"#&<>`\\{}|\[\]*;%$!?@^~+\'\n]|#\d+;|<br/>)*"'
ID = r"(?:[nc]\d+|begin|finish)"
LINES = (
    r"flowchart TB",
    rf"title\[{TEXT}\]",
    r"style title fill:none,stroke:none,text-align:left",
    r'begin\(\["start"\]\)|finish\(\(\("end"\)\)\)',
    rf"{ID}(?:\({TEXT}\)|\[{TEXT}\]|\[\[{TEXT}\]\])",
    rf"subgraph c\d+\[{TEXT}\]",
    r"end",
    rf"{ID} (?:-->|-\.->|==>)(?:\|{TEXT}\|)? {ID}",
    r"style [nc]\d+ stroke:#[0-9a-f]{6},stroke-width:2px",
)


@pytest.mark.parametrize("overview", [False, True], ids=["whole", "overview"])
@pytest.mark.parametrize(
    "image",
    [full(), chained(*NASTY), grouped(looped(2, 2), all=("l0.0", "l0.1", "l1.0", "l1.1"))],
    ids=["full", "nasty", "nested"],
)
def test_every_line_is_of_the_language(image: Image, overview: bool) -> None:
    lines = render(image, "mermaid", overview=overview).decode().splitlines()
    wrong = [line for line in lines if not any(re.fullmatch(kind, line.strip()) for kind in LINES)]
    assert wrong == []
    opened = sum(line.strip().startswith("subgraph") for line in lines)
    assert opened == sum(line.strip() == "end" for line in lines)


def test_nodes_stand_in_their_boxes() -> None:
    lines = [line.strip() for line in render(full(), "mermaid").decode().splitlines()]
    inside = lines[lines.index(next(x for x in lines if x.startswith("subgraph c1"))) + 1 :]
    assert [line[:2] for line in inside[: inside.index("end")]] == ["n2", "n3", "n4"]


def test_what_would_begin_a_list_is_an_entity() -> None:
    picture = render(chained("1. one", "- two"), "mermaid").decode()
    assert "1#46; one" in picture
    assert "#45; two" in picture


def test_a_loop_as_a_whole_has_the_way_of_its_empty_list() -> None:
    assert 'c1 -.->|"list empty"| n5' in render(full(), "mermaid").decode()
