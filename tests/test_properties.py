"""The four forms of properties, and what they say of the ways that casts go."""

from __future__ import annotations

from functools import reduce
from typing import Any

import pytest

from materiac.properties import BROKEN, Mode, Property, PropertyError, parse

NEVER = {"never": "ship", "before": "test"}
PASSES = {"every path": ["make", "ship"], "passes": "test"}
COMES = {"after every": "make", "comes": "test"}
AT_MOST = {"at most": 2, "of": "make", "between": ["plan", "ship"]}


def after(rule: Property, way: str, mode: Mode | None = None) -> Mode:
    """The mode behind a way; the last step alone may break the property."""
    modes = [rule.start if mode is None else mode]
    for at in way.split():
        assert modes[-1] != BROKEN
        modes.append(rule.step(modes[-1], at))
    return modes[-1]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (NEVER, "never 'ship' before 'test'"),
        (PASSES, "every path from 'make' to 'ship' passes 'test'"),
        (COMES, "after every 'make' comes 'test'"),
        (AT_MOST, "at most 2 of 'make' between 'plan' and 'ship'"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_property_is_read_and_said(data: dict[str, Any], words: str) -> None:
    rule = parse(data)
    assert str(rule) == words
    named = [name for value in data.values() for name in (value if isinstance(value, list) else [value])]
    assert sorted(rule.sockets) == sorted(name for name in named if isinstance(name, str))


@pytest.mark.parametrize(
    ("data", "way"),
    [
        (NEVER, "plan test ship end"),
        (NEVER, "plan end"),
        (NEVER | {"never": "end"}, "plan test end"),
        (PASSES, "make test ship"),
        (PASSES, "ship make make test ship ship"),
        (PASSES, "make end"),
        (PASSES | {"every path": ["make", "make"]}, "make test make test make"),
        (COMES, "make make test end"),
        (COMES, "plan end"),
        (COMES, "make make"),
        (AT_MOST, "make make plan make make ship make end"),
        (AT_MOST, "plan make ship plan make make ship"),
        (AT_MOST | {"between": ["make", "ship"]}, "make make ship make make"),
        (AT_MOST | {"between": ["plan", "plan"]}, "plan make make plan make make plan"),
        (AT_MOST | {"between": ["make", "make"]}, "make make make"),
        (AT_MOST | {"at most": 0}, "make plan ship make"),
    ],
    ids=str,
)
def test_way_keeps_the_property(data: dict[str, Any], way: str) -> None:
    assert after(parse(data), way) != BROKEN


@pytest.mark.parametrize(
    ("data", "way"),
    [
        (NEVER, "plan ship"),
        (NEVER | {"never": "end"}, "plan end"),
        (PASSES, "make ship"),
        (PASSES, "make test ship make ship"),
        (PASSES | {"every path": ["make", "end"]}, "make end"),
        (PASSES | {"every path": ["make", "make"]}, "make test make make"),
        (COMES, "make end"),
        (COMES, "make test make end"),
        (AT_MOST, "plan make make make"),
        (AT_MOST, "plan make plan make make"),
        (AT_MOST | {"between": ["make", "ship"]}, "make make make"),
        (AT_MOST | {"between": ["plan", "make"], "at most": 0}, "plan make"),
        (AT_MOST | {"at most": 1, "between": ["make", "make"]}, "make make"),
        (AT_MOST | {"at most": 0}, "plan make"),
    ],
    ids=str,
)
def test_last_step_of_the_way_breaks_the_property(data: dict[str, Any], way: str) -> None:
    assert after(parse(data), way) == BROKEN


@pytest.mark.parametrize(
    ("data", "before", "streams", "then"),
    [
        (NEVER, "plan", ["make", "test"], "ship"),
        (NEVER, "test", [], "ship"),
        (COMES, "plan", ["make test", "make test"], "end"),
        (AT_MOST, "plan make", ["make", "look"], "ship"),
        (AT_MOST, "plan", ["make ship", "make ship"], "plan make make"),
        (AT_MOST, "plan make", [], "make"),
    ],
    ids=str,
)
def test_streams_keep_the_property(data: dict[str, Any], before: str, streams: list[str], then: str) -> None:
    assert after(parse(data), then, _joined(data, before, streams)) != BROKEN


@pytest.mark.parametrize(
    ("data", "before", "streams", "then"),
    [
        (NEVER, "plan", ["make", "look"], "ship"),
        (PASSES, "plan", ["make test", "make"], "ship"),
        (COMES, "plan", ["make test", "make"], "end"),
        (AT_MOST, "plan", ["make", "make make"], "look"),
        (AT_MOST, "plan make", ["make", "make"], "end"),
    ],
    ids=str,
)
def test_streams_break_the_property_together(
    data: dict[str, Any], before: str, streams: list[str], then: str
) -> None:
    assert after(parse(data), then, _joined(data, before, streams)) == BROKEN


def _joined(data: dict[str, Any], before: str, streams: list[str]) -> Mode:
    rule = parse(data)
    mode = after(rule, before)
    return rule.join(mode, [reduce(rule.step, way.split(), mode) for way in streams])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({}, "none of the four forms"),
        (NEVER | {"comes": "test"}, "none of the four forms"),
        (NEVER | {"before": 1}, "none of the four forms"),
        (PASSES | {"every path": ["make"]}, "none of the four forms"),
        (AT_MOST | {"at most": -1}, "none of the four forms"),
        (AT_MOST | {"at most": True}, "none of the four forms"),
        (AT_MOST | {"at most": 1.5}, "none of the four forms"),
        (NEVER | {"before": "ship"}, "'ship' twice"),
        (PASSES | {"passes": "make"}, "'make' twice"),
        (COMES | {"comes": "make"}, "'make' twice"),
        (COMES | {"after every": "end"}, "nothing comes after 'end'"),
        (PASSES | {"every path": ["end", "ship"]}, "nothing comes after 'end'"),
        (PASSES | {"passes": "end"}, "no way passes 'end'"),
        (COMES | {"comes": "end"}, "has come to 'end'"),
        (AT_MOST | {"of": "end"}, "comes to 'end' once"),
        (AT_MOST | {"between": ["end", "ship"]}, "nothing comes after 'end'"),
    ],
    ids=str,
)
def test_what_is_no_property_is_refused(data: dict[str, Any], words: str) -> None:
    with pytest.raises(PropertyError, match=words):
        parse(data)
