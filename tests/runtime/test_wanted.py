"""Contracts as schemas: what a strict one says, what it cannot say, and what a tool is given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from test_contract import ITEM, PLAIN, PLAN, STREAMS, VERDICT, contract, schedule

from materiac.handoff_server import problems_of
from materiac.runtime.contract import Contract, check
from materiac.runtime.wanted import NoSchemaError, schema_of, without_absent

Json = dict[str, Any]

FILES = contract(assign={"files": "$.files"})
DEEP = contract(assign={"name": "$.author.name.first", "age": "$.author.age", "top": "$.list.0.x"})
LATEST = contract(assign={"x": "lastJson.found"}, when="satisfied")
TOLD = contract(assign={"why": "$.context", "told": "$.text"}, when="satisfied")
REPORT = contract(assign={"report": "$"}, when="satisfied")
ODD = contract(assign={"x": "$.größe"})


def fields(schema: Json) -> tuple[set[str], set[str]]:
    """The fields that are needed, and those that may be there."""
    needed = set(schema["required"])
    nullable = {name for name, part in schema["properties"].items() if "null" in part.get("type", ())}
    return needed - nullable, (set(schema["properties"]) - needed) | nullable


@pytest.mark.parametrize(
    ("wanted", "needed", "optional"),
    [
        (PLAIN, set(), {"context"}),
        (VERDICT, {"satisfied"}, {"context"}),
        (PLAN, {"workItems"}, set()),
        (STREAMS, {"workItems", "parallelSchedule"}, set()),
        (TOLD, {"satisfied", "context", "text"}, set()),
    ],
    ids=["nothing", "a verdict", "work items", "streams", "texts"],
)
@pytest.mark.parametrize("strict", [True, False], ids=["strict", "for a tool"])
def test_fields(wanted: Contract, needed: set[str], optional: set[str], *, strict: bool) -> None:
    assert fields(schema_of(wanted, strict=strict)) == (needed, optional)


@pytest.mark.parametrize(
    ("wanted", "needed", "optional"),
    [
        (FILES, {"files"}, set()),
        (DEEP, {"author", "list"}, set()),
        (LATEST, {"satisfied"}, {"found", "context"}),
        (REPORT, {"satisfied"}, {"context"}),
    ],
    ids=["any value", "deep", "what came last", "all of it"],
)
def test_what_only_a_tool_can_be_given(wanted: Contract, needed: set[str], optional: set[str]) -> None:
    assert fields(schema_of(wanted, strict=False)) == (needed, optional)
    with pytest.raises(NoSchemaError):
        schema_of(wanted)


@pytest.mark.parametrize(
    ("wanted", "strict", "reason"),
    [
        (FILES, True, "'files' may be any value"),
        (DEEP, True, "'author' may be any value"),
        (LATEST, True, "'found' may be any value"),
        (REPORT, True, "the whole object is assigned, whatever fields it has"),
        (ODD, False, "not every provider takes a field that is called 'größe'"),
    ],
)
def test_why_there_is_no_schema(wanted: Contract, strict: bool, reason: str) -> None:
    with pytest.raises(NoSchemaError) as caught:
        schema_of(wanted, strict=strict)
    assert str(caught.value) == reason


def test_deep_paths_of_a_tool() -> None:
    properties = schema_of(DEEP, strict=False)["properties"]
    author = properties["author"]
    assert (author["required"], author["additionalProperties"]) == (["name", "age"], True)
    assert author["properties"]["name"]["properties"] == {"first": {}}
    assert author["properties"]["age"] == {}
    assert properties["list"] == {}


def objects(schema: Any) -> Iterator[Json]:
    if isinstance(schema, dict):
        if schema.get("type") in ("object", ["object", "null"]):
            yield schema
        for part in schema.values():
            yield from objects(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from objects(part)


@pytest.mark.parametrize("wanted", [PLAIN, VERDICT, PLAN, STREAMS, TOLD])
def test_strict_schemas_keep_to_what_providers_take(wanted: Contract) -> None:
    schema = schema_of(wanted)
    Draft202012Validator.check_schema(schema)
    found = list(objects(schema))
    assert found
    for part in found:
        assert part["additionalProperties"] is False
        assert part["required"] == list(part["properties"])
    words = {key for part in found for field in part["properties"].values() for key in field}
    known = {"type", "description", "items", "enum", "properties", "required", "additionalProperties"}
    assert words <= known


ANSWERS: list[tuple[Contract, Json, bool]] = [
    (VERDICT, {"satisfied": True, "context": None}, True),
    (VERDICT, {"satisfied": False, "context": "too short"}, True),
    (VERDICT, {"satisfied": "no", "context": None}, False),
    (VERDICT, {"satisfied": True, "context": None, "summary": "x"}, False),
    (PLAN, {"workItems": [ITEM]}, True),
    (PLAN, {"workItems": []}, True),
    (PLAN, {"workItems": [{**ITEM, "id": 1}]}, False),
    (PLAN, {"workItems": ["Mend it"]}, False),
    (STREAMS, {"workItems": [ITEM], "parallelSchedule": schedule(("a", [0]))}, True),
    (STREAMS, {"workItems": [ITEM], "parallelSchedule": schedule(("a", [0]), version=2)}, False),
    (TOLD, {"satisfied": True, "context": "c", "text": "t"}, True),
    (TOLD, {"satisfied": True, "context": None, "text": "t"}, False),
    (PLAIN, {"context": None}, True),
]


@pytest.mark.parametrize(("wanted", "answer", "fits"), ANSWERS)
def test_answers(wanted: Contract, answer: Json, fits: bool) -> None:
    """A validator, the server of the tool and the contract are of one mind."""
    schema = schema_of(wanted)
    assert Draft202012Validator(schema).is_valid(answer) is fits
    assert (not list(problems_of(answer, schema))) is fits
    accepted, _ = check(without_absent(answer, wanted), wanted)
    assert not fits or accepted is not None


@pytest.mark.parametrize(
    ("wanted", "answer", "left"),
    [
        (VERDICT, {"satisfied": True, "context": None}, {"satisfied": True}),
        (VERDICT, {"satisfied": None, "context": "c"}, {"satisfied": None, "context": "c"}),
        (TOLD, {"context": None}, {"context": None}),
        (LATEST, {"found": None}, {"found": None}),
    ],
    ids=["optional", "needed", "assigned", "any value"],
)
def test_what_is_absent(wanted: Contract, answer: Json, left: Json) -> None:
    assert without_absent(answer, wanted) == left
