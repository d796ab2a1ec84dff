"""Two pictures as one: what is new, gone and another is marked, in every format."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from drawn_programs import chain, full, grouped, looped
from samples import FEATURES, Json, compiled, loadout, socket, working

from materiac.comparison.marking import before
from materiac.program import Image
from materiac.render import FORMATS, render
from materiac.render.against import COLORS, GONE, NEW, OTHER, against
from materiac.render.diagram import END_ID, START_ID, Diagram, make
from materiac.render.overview import overview

SAMPLES = {name: compiled(config) for name, config in FEATURES.items()}
DRAWN = {"full": full(), "looped": looped(2, 3), "more loops": looped(3, 2), "chain": chain(4)}
PAIRS = list(itertools.permutations((SAMPLES | DRAWN).items(), 2))


def both(new: Image, old: Image) -> Diagram:
    was = before(old, new)
    return against(make(new), make(old), was.changed)


def nodes(picture: Diagram) -> dict[str, str]:
    return {node.name: node.sign for node in picture.nodes}


def ways(picture: Diagram) -> list[str]:
    """The marked arrows."""
    names = {node.id: node.name for node in picture.nodes} | {START_ID: "start", END_ID: "end"}
    return [
        f"{names[arrow.source]} → {names[arrow.target]}: {arrow.words}"
        for arrow in picture.arrows
        if arrow.sign
    ]


@pytest.mark.parametrize("image", (SAMPLES | DRAWN).values(), ids=(SAMPLES | DRAWN).keys())
def test_what_is_the_same_has_no_sign(image: Image) -> None:
    picture = both(image, image)
    assert replace(picture, facts=picture.facts[:-1]) == make(image)


@pytest.mark.parametrize(("new", "old"), PAIRS, ids=[f"{one[0]}-{other[0]}" for one, other in PAIRS])
def test_both_are_in_the_picture(new: tuple[str, Image], old: tuple[str, Image]) -> None:
    now, was, picture = make(new[1]), make(old[1]), both(new[1], old[1])
    assert [node.id for node in picture.nodes if node.sign != GONE] == [node.id for node in now.nodes]
    assert {name for name, sign in nodes(picture).items() if sign != NEW} == {node.name for node in was.nodes}
    left = [replace(arrow, sign="", before="") for arrow in picture.arrows if arrow.sign != GONE]
    assert left == list(now.arrows)
    assert sum(arrow.sign != NEW for arrow in picture.arrows) == len(was.arrows)
    assert_whole(picture)
    assert_whole(overview(picture))


def assert_whole(picture: Diagram) -> None:
    """Every part that is named is there, and boxes nest."""
    ids = {node.id for node in picture.nodes}
    frames = {box.id: set(box.nodes) for box in picture.boxes}
    assert len(ids) == len(picture.nodes)
    assert all({arrow.source, arrow.target} <= {*ids, START_ID, END_ID} for arrow in picture.arrows)
    assert {arrow.box for arrow in picture.arrows} <= {None, *frames}
    for box in picture.boxes:
        assert box.nodes
        assert set(box.nodes) <= ids
        assert box.parent is None or set(box.nodes) <= frames[box.parent]
    for one, other in itertools.combinations(frames.values(), 2):
        assert one <= other or other <= one or not one & other


def edited(path: str, value: object) -> Json:
    config = working()
    part = config["loadouts"]["L"]
    *keys, last = path.split("/")
    for key in keys:
        part = part[int(key) if key.isdigit() else key]
    part[int(last) if last.isdigit() else last] = value
    return config


BACK = "sockets/check/edges/1"


@pytest.mark.parametrize(
    ("path", "value", "marked", "arrows"),
    [
        pytest.param(
            f"{BACK}/maxTraversals",
            5,
            {},
            ["check → build: ~ not_satisfied ≤5, was ≤2"],
            id="budget",
        ),
        pytest.param(
            BACK,
            {"when": "not_satisfied", "to": "build"},
            {},
            ["check → build: ~ not_satisfied was ≤2"],
            id="no-budget",
        ),
        pytest.param(
            f"{BACK}/to",
            "check",
            {},
            ["check → check: + not_satisfied ≤2", "check → build: - not_satisfied ≤2"],
            id="target",
        ),
        pytest.param(
            "loops/work/exits/0/targetSocketId",
            "end",
            {},
            [
                "check → end: + used up",
                "build → end: + list empty",
                "check → tell: - used up",
                "build → tell: - list empty",
            ],
            id="exit",
        ),
        pytest.param("sockets/tell/limits", {"maxVisits": 3}, {"tell": OTHER}, [], id="limit"),
        pytest.param(
            "sockets/more",
            {"materia": "Agent", "edges": [{"to": "tell"}]},
            {"more": NEW},
            ["more → tell: +"],
            id="new",
        ),
        pytest.param(
            "entry",
            "build",
            {},
            ["start → build: +", "start → plan: -"],
            id="entry",
        ),
    ],
)
def test_one_edit(path: str, value: object, marked: dict[str, str], arrows: list[str]) -> None:
    picture = both(compiled(edited(path, value)), SAMPLES["work"])
    assert {name: sign for name, sign in nodes(picture).items() if sign} == marked
    assert ways(picture) == arrows


def test_what_is_gone_stands_where_it_was() -> None:
    picture = both(chain(2), chain(4))
    assert list(nodes(picture).items()) == [("s0", ""), ("s1", ""), ("s2", GONE), ("s3", GONE)]


def test_sockets_are_another_by_their_materia() -> None:
    changed = working()
    changed["materia"]["Agent"] = {"command": ["make"]}
    changed["loadouts"]["L"]["sockets"]["check"]["parse"] = "json"
    picture = both(compiled(changed), compiled(working()))
    assert nodes(picture) == {"plan": "", "build": OTHER, "check": OTHER, "tell": OTHER}
    assert "was: no tools" in picture.nodes[1].notes


def test_loops_that_are_another_and_that_are_gone() -> None:
    other = looped(2, 3)
    loops = {**other.program.loops, "l0": replace(other.program.loops["l0"], items="state.y")}
    changed = replace(other, program=replace(other.program, loops=loops))
    assert [(box.name, box.sign) for box in both(changed, other).boxes] == [("l0", OTHER), ("l1", "")]
    picture = both(looped(1, 3), looped(2, 3))
    assert [(box.name, box.sign, len(box.nodes)) for box in picture.boxes] == [("l0", "", 3), ("l1", GONE, 3)]
    picture = both(looped(1, 2), looped(1, 3))
    assert [(box.name, len(box.nodes)) for box in picture.boxes] == [("l0", 3)]


def test_a_loop_that_is_gone_stands_in_its_group() -> None:
    new, old = (grouped(image, all=tuple(image.program.sockets)) for image in (looped(2, 3), looped(3, 3)))
    picture = both(new, old)
    assert_whole(picture)
    gone = next(box for box in picture.boxes if box.sign == GONE)
    assert gone.name == "l2"
    homes = {box.id: box.name for box in picture.boxes}
    assert homes[gone.parent or ""] == "all"


def test_facts() -> None:
    one = compiled(working(budget={"maxTokens": 10}))
    two = compiled(working(limits={"maxNoAdvanceCycles": 5}) | {})
    facts = dict(both(two, one).facts)
    assert facts["budget"].startswith("~ 10 tokens")
    assert facts["budget"].endswith("→ none")
    assert facts["limits"] == "~ at most 3 cycles without advance → at most 5 cycles without advance"
    assert facts["marks"] == "+ new, - gone, ~ another"


def test_properties_that_are_new_and_gone() -> None:
    one, two = (
        compiled(edited("properties", [{"never": id_, "before": "plan"}])) for id_ in ("build", "tell")
    )
    told = [line for heading, line in both(two, one).facts if heading == "property"]
    assert told == ["+ never tell, before plan", "- never build, before plan"]


def test_an_overview() -> None:
    changed = compiled(edited(f"{BACK}/maxTraversals", 5))
    picture = overview(both(changed, SAMPLES["work"]))
    assert nodes(picture) == {"plan": "", "work": "", "tell": ""}
    changed = compiled(edited("sockets/check/limits", {"maxVisits": 5}))
    assert nodes(overview(both(changed, SAMPLES["work"])))["work"] == OTHER


@pytest.fixture(scope="module")
def pictures() -> dict[str, bytes]:
    """A picture with a socket more, one less, and an edge whose budget is another."""
    config = edited(f"{BACK}/maxTraversals", 5)
    spec = config["loadouts"]["L"]
    spec["sockets"]["say"] = spec["sockets"].pop("tell")
    spec["loops"]["work"]["exits"][0]["targetSocketId"] = "say"
    new = compiled(config)
    was = before(SAMPLES["work"], new)
    return {name: render(new, name, before=was) for name in FORMATS if name != "pdf"}


def test_text(pictures: dict[str, bytes]) -> None:
    lines = pictures["text"].decode().splitlines()
    assert "marks" in lines[5]
    assert max(map(len, lines)) <= 100
    starts = ("+ say", "- tell", "      ~ not_satisfied → build (≤5, was ≤2)", "+ after check: used up → say")
    for start in starts:
        assert any(start in line for line in lines), (start, lines)


def test_dot(pictures: dict[str, bytes]) -> None:
    lines = pictures["dot"].decode().splitlines()
    [said] = [line for line in lines if '"+ say' in line]
    [told] = [line for line in lines if '"- tell' in line]
    [back] = [line for line in lines if "was ≤2" in line]
    assert f'style="rounded,filled,bold", color="{COLORS[NEW]}"' in said
    assert f'style="rounded,filled,dashed", color="{COLORS[GONE]}"' in told
    assert f'style=solid, color="{COLORS[OTHER]}"' in back


def test_mermaid(pictures: dict[str, bytes]) -> None:
    lines = [line.strip() for line in pictures["mermaid"].decode().splitlines()]
    assert f"classDef added stroke:{COLORS[NEW]},stroke-width:3px" in lines
    assert any(line.startswith("class gone") and line.endswith(" removed") for line in lines)
    assert any(f"stroke:{COLORS[OTHER]}" in line for line in lines if line.startswith("linkStyle"))


def test_marks_are_escaped_on_edges_as_on_nodes() -> None:
    """Also where there is nothing beside them: Markdown makes a list of what begins with one."""
    ways = {"a": [{"to": "b"}], "b": [{"to": "c"}], "c": []}
    old, new = (
        compiled(loadout({id_: socket(edges=edges) for id_, edges in sockets.items()}))
        for sockets in (ways, {"a": [{"to": "c"}], "c": []})
    )
    text = render(new, "mermaid", before=before(old, new)).decode()
    said = re.findall(r'\|"(.*?)"\|', text) + re.findall(r'\("(.*?)<br/>', text)
    assert sorted(said) == ["#43;", "#45;", "#45;", "#45; b", "a", "c"]
    changed = compiled(edited(f"{BACK}/maxTraversals", 5))
    text = render(changed, "mermaid", before=before(SAMPLES["work"], changed)).decode()
    assert '|"#126; not_satisfied ≤5, was ≤2"|' in text


def test_drawings(pictures: dict[str, bytes]) -> None:
    drawn = pictures["svg"].decode()
    ET.fromstring(drawn)  # noqa: S314 - it is our own
    for color in COLORS.values():
        assert color in drawn
    assert pictures["png"].startswith(b"\x89PNG")
