"""What tests came to, in pictures of every format."""

from __future__ import annotations

from typing import Any

import pytest
from samples import compiled, working

from materiac.render import render
from materiac.render.covered import GREEN, RED, CoverageError, Covered, covered
from materiac.render.diagram import END_ID, Arrow, make
from materiac.scenario.elements import elements

IMAGE = compiled(working())
KEYS = [element.key for element in elements(IMAGE.program)]
WAY_BACK = ("edge", "check", "1")


def seen(*missed: Any) -> Covered:
    """All is covered but what is named."""
    return Covered({key: int(key not in missed) for key in KEYS})


def marked(arrows: tuple[Arrow, ...]) -> dict[str, int]:
    """How many arrows are covered, are not, and are of no account."""
    return {word: sum(str(arrow.covered) == word for arrow in arrows) for word in ("True", "False", "None")}


def test_every_arrow_is_something_that_is_counted() -> None:
    assert marked(make(IMAGE, seen()).arrows) == {"True": len(make(IMAGE).arrows), "False": 0, "None": 0}
    assert marked(make(IMAGE, seen(*KEYS)).arrows) == {"True": 0, "False": len(make(IMAGE).arrows), "None": 0}
    assert marked(make(IMAGE).arrows)["None"] == len(make(IMAGE).arrows)


@pytest.mark.parametrize("key", [key for key in KEYS if key[0] not in ("repair", "exhaustion")])
def test_one_thing_is_marked(key: Any) -> None:
    picture = make(IMAGE, seen(key))
    nodes = [node.name for node in picture.nodes if node.covered is False]
    arrows = [arrow for arrow in picture.arrows if arrow.covered is False]
    assert nodes == ([key[1]] if key[0] == "socket" else [])
    entry = key == ("socket", IMAGE.program.entry, "")
    assert len(arrows) == (key[0] != "socket") + entry
    assert all(arrow.target == END_ID for arrow in arrows if key[0] == "end")


def test_what_goes_wrong_is_told_beside() -> None:
    picture = make(IMAGE, seen(("exhaustion", "check", "1"), ("repair", "plan", "")))
    assert [arrow.words for arrow in picture.arrows if arrow.spent is False] == [
        "not_satisfied ≤2 not used up"
    ]
    assert [node.name for node in picture.nodes if "no repair turn covered" in node.notes] == ["plan"]


def test_the_formats() -> None:
    missed = seen(WAY_BACK, ("socket", "tell", ""))
    text, dot, mermaid = (render(IMAGE, name, seen=missed).decode() for name in ("text", "dot", "mermaid"))
    assert "not_satisfied → build (≤2)  NOT COVERED" in text
    assert f'color="{RED}", fontcolor="{RED}", label=" not_satisfied ≤2 NOT COVERED"' in dot
    assert [line.split(":")[-1] for line in mermaid.splitlines() if "linkStyle" in line].count(RED) == 1
    for picture in (dot, mermaid):
        assert GREEN in picture
    assert "NOT COVERED" not in render(IMAGE, "text", seen=seen()).decode()


def test_an_overview_is_covered_where_all_in_it_is() -> None:
    def folded(missed: Any) -> list[bool | None]:
        whole = render(IMAGE, "text", overview=True, seen=seen(missed)).decode()
        return ["NOT COVERED" in whole]

    assert folded(("socket", "check", "")) == [True]
    assert folded(("repair", "check", "")) == [False]


GOOD = {"loadouts": [{"hash": "h", "elements": [{"kind": "edge", "of": "a", "index": 0, "count": 2}]}]}


def test_reading_a_file() -> None:
    assert covered(GOOD, "h", "L").was("edge", "a", "0") is True
    assert covered(GOOD, "h", "L").was("edge", "a", "1") is None


@pytest.mark.parametrize(
    "data", [[], {}, {"loadouts": [{}]}, {"loadouts": [{"hash": "h", "elements": [{"kind": "edge"}]}]}]
)
def test_what_is_no_coverage(data: Any) -> None:
    with pytest.raises(CoverageError, match="it is no coverage in JSON"):
        covered(data, "h", "L")
