"""DOT: no user's text outside of quotes, and layouts that end."""

from __future__ import annotations

import re
import time

import pytest
from drawn_programs import NASTY, chain, chained, full, looped

from materiac.program import Image
from materiac.render import render

WORDS = re.compile(
    r"(?:[ncj]\d+|cluster_c\d+|start|end|->|digraph|subgraph|node|edge|[{}\[\];,=]|\d+(?:\.\d+)?|true|false"
    r"|rankdir|TB|ordering|out|nodesep|ranksep|font(?:name|size|color)|label(?:loc|just)?|shape|style|margin"
    r"|(?:fill)?color|arrowsize|penwidth|peripheries|width|weight|constraint|pack(?:mode)?|array_tu32|sortv"
    r"|box|oval|doublecircle|plain|filled|dashed|dotted|bold|[tl]|\s|\"\")*"
)


@pytest.mark.parametrize("image", [full(), chained(*NASTY), chain(400)], ids=["full", "nasty", "long"])
def test_outside_of_quotes_are_words_of_our_own(image: Image) -> None:
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', '""', render(image, "dot").decode())
    assert WORDS.fullmatch(bare)


def test_a_small_picture_keeps_all_lines_whole() -> None:
    picture = render(full(), "dot").decode()
    assert "j1 " not in picture
    assert "pack" not in picture
    assert picture.count("shape=doublecircle") == 1


def test_onward_lines_place_and_lines_back_do_not() -> None:
    picture = render(chain(3), "dot").decode()
    assert 'n2 -> n3 [weight=4, label=" satisfied"]' in picture
    assert 'n2 -> n1 [constraint=false, label=" not_satisfied ≤3"]' in picture


def test_a_far_line_ends_in_a_mark_with_its_target() -> None:
    picture = render(chain(100, far=True), "dot").decode()
    assert 'n100 -> j200 [label=" not_satisfied ≤3"]' in picture
    assert 'j200 [label="→ s0", shape=plain' in picture
    assert "n2 -> n1" in picture


def test_a_deep_picture_is_cut_into_pages() -> None:
    picture = render(chain(400), "dot").decode()
    assert "pack=true" in picture
    assert re.search(r'n99 -> j\d+ \[label=" satisfied"\]', picture)
    assert "n98 -> n99 " in picture


def test_no_end_stands_alone() -> None:
    picture = render(looped(40, 5), "dot").decode()
    ends = re.findall(r'(\w+) \[label="end"', picture)
    assert ends
    assert [end for end in ends if f"-> {end} " not in picture] == []


def test_a_loop_is_not_cut_apart() -> None:
    picture = render(looped(20, 30), "dot").decode()
    for number in range(20):
        first = number * 30 + 1
        assert all(f"n{node} -> n{node + 1} " in picture for node in range(first, first + 29))


@pytest.mark.parametrize(
    "image", [chain(1000), chain(1000, far=True), looped(200, 5)], ids=["chain", "far", "loops"]
)
def test_a_thousand_sockets_are_drawn_soon(image: Image) -> None:
    started = time.monotonic()
    picture = render(image, "svg", timeout_s=30).decode()
    assert time.monotonic() - started < 30
    missing = [name for name in image.program.sockets if f">{name}</text>" not in picture]
    assert missing == []


def test_ten_thousand_sockets_from_afar() -> None:
    picture = render(looped(500, 20), "svg", overview=True, timeout_s=30).decode()
    assert picture.count("loop of 20 sockets") == 500
