from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import FEATURES, Json, compiled, loadout, socket, working

from materiac.program import ImageError, from_data, image_data, image_from_data, to_data


def digest(config: Json) -> str:
    return compiled(config).program.digest()


@pytest.mark.parametrize("name", FEATURES)
def test_round_trip(name: str) -> None:
    image = compiled(FEATURES[name])
    written = json.loads(json.dumps(image_data(image)))
    assert image_from_data(written) == image
    assert from_data(to_data(image.program)) == image.program
    assert image_data(image_from_data(written)) == written


def shuffled(value: Any, chance: random.Random) -> Any:
    if isinstance(value, list):
        return [shuffled(part, chance) for part in value]
    if not isinstance(value, dict):
        return value
    keys = list(value)
    chance.shuffle(keys)
    return {key: shuffled(value[key], chance) for key in keys}


def decorated(config: Json) -> Json:
    """The same with everything that only an editor looks at."""
    marks = {"layout": {"x": 1}, "socketKind": "k", "color": "red", "group": "g", "description": "d"}
    config = {**copy.deepcopy(config), **marks}
    for spec in config["loadouts"].values():
        for part in (spec, *spec["sockets"].values(), *spec.get("loops", {}).values()):
            part.update(marks)
        for part in spec["sockets"].values():
            part["edges"] = [{**edge, **marks, "id": "e"} for edge in part.get("edges", [])]
    for materia in config["materia"].values():
        materia.update(marks)
    return config


NOT_EARLY = [name for name in FEATURES if "loadouts" in FEATURES[name]]


@pytest.mark.parametrize("name", NOT_EARLY)
@pytest.mark.parametrize("seed", range(8))
def test_digest_ignores_the_order_of_keys(name: str, seed: int) -> None:
    config = copy.deepcopy(FEATURES[name])
    for spec in config["loadouts"].values():
        for part in spec["sockets"].values():
            part.pop("assign", None)
    chance = random.Random(seed)  # noqa: S311 - nothing is kept secret
    assert digest(shuffled(config, chance)) == digest(config)


@pytest.mark.parametrize("name", NOT_EARLY)
def test_digest_ignores_what_editors_write(name: str) -> None:
    assert digest(decorated(FEATURES[name])) == digest(FEATURES[name])


def test_digest_ignores_defaults_that_are_written() -> None:
    config = working()
    spelt = working(
        budget={"warnAtPercent": 75, "stopAtLimit": True}, limits={"maxNoAdvanceCycles": 3}, parallelism={}
    )
    spelt["loadouts"]["L"]["sockets"]["plan"].update(parse="json", assign={"workItems": "$.workItems"})
    spelt["loadouts"]["L"]["loops"]["work"]["iterator"] = {
        "items": "state.workItems",
        "as": "workItem",
        "cursor": "workItemIndex",
    }
    assert digest(spelt) == digest(config)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param({"maxCostUsd": 5}, {"maxCostUsd": 5.0}, id="cost"),
        pytest.param({"maxTokens": 5}, {"maxTokens": 5.0}, id="tokens"),
        pytest.param({"warnAtPercent": 60}, {"warnAtPercent": 60.0}, id="percent"),
    ],
)
def test_digest_ignores_how_a_number_is_written(one: Json, other: Json) -> None:
    assert digest(working(budget=one)) == digest(working(budget=other))


ASSIGNS = {
    "a": "$.a",
    "b": "$.b",
    "c.d": "a",
    "c.e": "lastOutput",
    "f": "state.c.d",
    "g": "cursor.x",
    "h": "$",
}


def assigning(pairs: list[tuple[str, str]]) -> Json:
    return loadout({"a": socket(parse="json", assign=dict(pairs))})


def equivalent(pairs: list[tuple[str, str]]) -> bool:
    """Whether an order of `ASSIGNS` means the same: what is read from another comes behind it."""
    at = {target: i for i, (target, _) in enumerate(pairs)}
    return at["a"] < at["c.d"] < at["f"]


@given(st.permutations(list(ASSIGNS.items())))
def test_digest_ignores_the_order_of_assigns_that_do_not_meet(pairs: list[tuple[str, str]]) -> None:
    assert (digest(assigning(pairs)) == digest(assigning(list(ASSIGNS.items())))) is equivalent(pairs)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param([("a", "$.x"), ("b", "state.a")], [("b", "state.a"), ("a", "$.x")], id="read"),
        pytest.param([("a", "$.x"), ("b", "a.y")], [("b", "a.y"), ("a", "$.x")], id="bare"),
        pytest.param([("a", "$.x"), ("a.b", "$.y")], [("a.b", "$.y"), ("a", "$.x")], id="covered"),
        pytest.param([("a", "$.x"), ("b", "state")], [("b", "state"), ("a", "$.x")], id="whole"),
    ],
)
def test_digest_keeps_the_order_of_assigns_that_meet(
    one: list[tuple[str, str]], other: list[tuple[str, str]]
) -> None:
    assert digest(assigning(one)) != digest(assigning(other))


def _edit(config: Json, *path: str | int, value: Any) -> Json:
    changed = copy.deepcopy(config)
    part: Any = changed["loadouts"]["L"]
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    return changed


CHECK_EDGES = working()["loadouts"]["L"]["sockets"]["check"]["edges"]
EXITS = [
    {"from": "check", "condition": "satisfied", "targetSocketId": "tell"},
    {"from": "build", "condition": "always", "targetSocketId": "tell"},
]


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(_edit(working(), "sockets", "check", "edges", value=CHECK_EDGES[::-1]), id="edges"),
        pytest.param(
            _edit(working(), "sockets", "check", "edges", 1, "maxTraversals", value=3), id="traversals"
        ),
        pytest.param(_edit(working(), "sockets", "check", "limits", value={"maxVisits": 5}), id="visits"),
        pytest.param(
            _edit(working(), "sockets", "check", "limits", value={"maxOutputBytes": 5}), id="output bytes"
        ),
        pytest.param(_edit(working(), "entry", value="build"), id="entry"),
        pytest.param(_edit(working(), "loops", "work", "exits", value=EXITS), id="exits"),
        pytest.param(working(limits={"maxNoAdvanceCycles": 4}), id="cycles"),
        pytest.param(working(budget={"maxTokens": 4}), id="budget"),
        pytest.param(working(materia={"Agent": {"prompt": "Do it!"}}), id="prompt"),
        pytest.param(working(materia={"Agent": {"prompt": "Do it.", "tools": "coding"}}), id="tools"),
        pytest.param(working(materia={"Agent": {"prompt": "Do it.", "label": "A"}}), id="label"),
        pytest.param(working(materia={"Agent": {"prompt": "Do it.", "env": ["A_KEY"]}}), id="env"),
    ],
)
def test_digest_tells_what_means_something_else(changed: Json) -> None:
    assert digest(changed) != digest(working())


def test_digest_keeps_the_order_of_exits() -> None:
    assert digest(_edit(working(), "loops", "work", "exits", value=EXITS)) != digest(
        _edit(working(), "loops", "work", "exits", value=EXITS[::-1])
    )


def test_absolute_limits_are_settings() -> None:
    with_limits = compiled(working(limits={"maxItems": 5, "maxPromptBytes": 9}))
    assert with_limits.program.digest() == digest(working())
    data, plain = image_data(with_limits), image_data(compiled(working()))
    assert data["settingsHash"] != plain["settingsHash"]
    assert image_from_data(data) == with_limits


IMAGE = image_data(compiled(FEATURES["exits"]))


def test_a_machine_of_another_format_is_refused() -> None:
    with pytest.raises(ImageError, match=r"^it has format 2, this version reads format 1$"):
        image_from_data({**IMAGE, "format": 2})


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("program", "entry"), "check"),
        (("program", "sockets", 0, "edges", 0, "to"), "check"),
        (("program", "budget", "max_tokens"), 7),
        (("program", "max_no_advance_cycles"), 99),
        (("program", "materia", 0, "agent", "prompt"), "Something else."),
        (("settings", "artifact_dir"), "elsewhere"),
        (("settings", "groups"), {"g": ["nobody"]}),
        (("settings", "limits", "max_items"), 7),
        (("hash",), "0" * 64),
        (("settingsHash",), None),
        (("hash",), None),
    ],
    ids=str,
)
def test_a_machine_that_was_changed_by_hand_is_refused(path: tuple[str | int, ...], value: Any) -> None:
    changed = copy.deepcopy(IMAGE)
    part: Any = changed
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    with pytest.raises(ImageError, match=r"^its hash does not fit its content: compile the loadout again$"):
        image_from_data(changed)


def _pointers(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(pointer for key, part in inner for pointer in _pointers(part, (*at, key)))]


POINTERS = _pointers(IMAGE)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)


@given(st.sampled_from(POINTERS), VALUES, st.booleans())
def test_garbage_is_refused(pointer: tuple[Any, ...], value: Any, remove: bool) -> None:
    box: dict[str, Any] = {"image": copy.deepcopy(IMAGE)}
    part: Any = box
    *way, last = ("image", *pointer)
    for key in way:
        part = part[key]
    if remove and isinstance(part, dict):
        del part[last]
    else:
        part[last] = value
    try:
        read = image_from_data(box.get("image"))
    except ImageError:
        return
    assert read.program == image_from_data(IMAGE).program


@given(VALUES)
def test_any_value_is_refused(value: Any) -> None:
    for data in (value, {"format": 1, "program": value, "hash": ""}):
        with pytest.raises(ImageError):
            image_from_data(data)


def test_a_machine_that_is_nested_too_deep_is_refused() -> None:
    deep: Any = {}
    for _ in range(100_000):
        deep = {"a": deep}
    image = copy.deepcopy(IMAGE)
    image["program"]["properties"] = [deep]
    with pytest.raises(ImageError):
        image_from_data(image)
