"""The text of every place is what it stands for."""

from __future__ import annotations

import json
from typing import Any

import pytest
from samples import FEATURES

from materiac import dsl_text, formatting
from materiac.source import KEY, Document, Pointer, Source

TEXT = '''\
artifacts casts
active "L"
budget { maxTokens 200 "maxCostUsd" 5 }
agents { "Build": ["pi", null, { "a": true }] }
loadout L {
  @color "red"
  entry plan
  plan: Planner -> build
  "check": Checker json
    visits 10  bytes 65536
    @layout { "x": 1 }
    assign last.check = $.context
    assign "odd key" = state.x
    foreach state.plants as plant cursor at done tell
    satisfied -> keep @label "x"
    not_satisfied -> build max 3
  keep: Keeper text
    advance workItemIndex over state.workItems when satisfied done end
  tell = { "materia": "Teller", "edges": [{ "to": "end" }] }
  loop work (build, "check") over plan.workItems as workItem cursor k {
    items state.workItems as job
    parallel 2
    exit keep satisfied -> tell @id "out"
    exit keep -> end
  }
  loop box (plan) over "a b".workItems
  never keep before check
  every path build to keep passes check
  after every build comes check
  at most 3 of build between plan and keep
  property { "other": 1 }
}
materia Planner agent generator {
  tools [read, "grep"]
  model "sonnet"  thinking high
  timeout 30s
  command [python3, -c, """
    import json
      print()
    """]
  writes []
  prompt """
    Break "it".
      Now.
  """
}
materia Old = null
'''


def document(text: str) -> Document:
    read, findings = dsl_text.read(Source("x.materia", text))
    assert read is not None, findings
    return read


def scalars(data: Any, at: Pointer = ()) -> list[tuple[Pointer, Any]]:
    if isinstance(data, dict):
        return [found for key, value in data.items() for found in scalars(value, (*at, key))]
    if isinstance(data, list):
        return [found for index, value in enumerate(data) for found in scalars(value, (*at, index))]
    return [(at, data)]


def keys(data: Any, at: Pointer = ()) -> list[Pointer]:
    if isinstance(data, list):
        return [found for index, value in enumerate(data) for found in keys(value, (*at, index))]
    members = data.items() if isinstance(data, dict) else ()
    return [found for key, value in members for found in ((*at, key), *keys(value, (*at, key)))]


UNITS = {"ms": 1, "s": 1000, "m": 60000}


def value_of(text: str, key: str) -> Any:
    """What a piece of a text stands for, read in the simplest way."""
    if text.startswith('"""'):
        _, *lines, _ = text.split("\n")
        indent = min(len(line) - len(line.lstrip()) for line in lines)
        return "\n".join(line[indent:] for line in lines)
    if key == "timeoutMs":
        number = text.rstrip("ms")
        return int(number) * UNITS[text.removeprefix(number)]
    if text == key:
        return True
    try:
        return json.loads(text)
    except ValueError:
        return "custom" if text == "tools" else text


def assert_honest(read: Document) -> None:
    text = read.source.text
    for pointer, value in scalars(read.data):
        span = read.spans[pointer]
        assert value_of(text[span.start : span.end], str(pointer[-1])) == value, pointer
    for pointer in keys(read.data):
        span, around = read.spans[pointer], read.spans[pointer[:-1]]
        assert around.start <= span.start < span.end <= around.end, pointer


def test_every_scalar_and_every_part_around_it() -> None:
    assert_honest(document(TEXT))


@pytest.mark.parametrize("name", FEATURES)
def test_features(name: str) -> None:
    assert_honest(document(formatting.written(FEATURES[name], "dsl")))


def test_names_are_the_places_of_keys() -> None:
    read = document(TEXT)
    for pointer in (("loadouts", "L"), ("loadouts", "L", "sockets", "plan"), ("materia", "Old")):
        span = read.spans[*pointer, KEY]
        assert TEXT[span.start : span.end] == pointer[-1]
    at = read.spans["loadouts", "L", "sockets", "check", KEY]
    assert TEXT[at.start : at.end] == '"check"'


def test_every_key_has_a_place() -> None:
    read = document(TEXT)
    for pointer in keys(read.data):
        if not isinstance(pointer[-1], int):
            span = read.spans[*pointer, KEY]
            assert TEXT[span.start : span.end].strip(), pointer


@pytest.mark.parametrize("ends", ["\r\n", "\r"], ids=["crlf", "cr"])
def test_other_line_ends_give_the_same_places(ends: str) -> None:
    read, other = document(TEXT), document(TEXT.replace("\n", ends))
    assert other.data == read.data
    assert other.spans.keys() == read.spans.keys()
    for pointer, span in read.spans.items():
        moved = other.spans[pointer]
        assert other.source.position(moved.start) == read.source.position(span.start)
        assert other.source.position(moved.end) == read.source.position(span.end)
