"""What of the state counts as read and written, case by case; the pages of the rules show the reports."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

RULES = ("undefined-state", "maybe-unassigned", "unused-assign", "reserved-key", "invalid-path")

Json = dict[str, Any]

ON: Json = {"edges": [{"to": "b"}]}
ITEMS: Json = {"cursor": "workItemIndex", "items": "state.xs"}


def loadout(a: Json, b: Json, materia: Json, **rest: Any) -> Json:
    """Two sockets in a row, of the materia `A` and `B`, which are agents without a wish."""
    sockets = {"a": {"materia": "A", **ON, **a}, "b": {"materia": "B", **b}}
    known = {"A": {"prompt": "p"}, "B": {"prompt": "p"}}
    return {
        "loadouts": {"L": {"entry": "a", "sockets": sockets, **rest}},
        "materia": {name: materia.get(name, fields) for name, fields in known.items()},
    }


def reading(text: str) -> Json:
    return {"B": {"prompt": text}}


def echo(**params: Any) -> Json:
    return {"utility": "echo", "params": params, "parse": "json"}


def command(**fields: Any) -> Json:
    return {"command": ["true"], "timeoutMs": 1000, "parse": "json", **fields}


JSON: Json = {"parse": "json"}
KEPT: Json = {"parse": "json", "assign": {"x": "$.x"}}
TEXT: Json = {"assign": {"x": "$"}}

SILENT: dict[str, Json] = {
    "a key that is assigned": loadout(KEPT, {}, reading("{{x}} {{state.x}} {{ x }}")),
    "something in a value": loadout(KEPT, {}, reading("{{x.y.0}}")),
    "what an assignment lies in": loadout({"assign": {"x.y": "$"}}, {}, reading("{{x}} {{x.y}}")),
    "an earlier cast": loadout({}, {}, reading("{{state.previousCast.status}}")),
    "the context of JSON": loadout(JSON, {}, reading("{{state.context}} {{context}}")),
    "the envelope of JSON": loadout(JSON, {}, reading("{{state.envelope.satisfied}}")),
    "work items of JSON": loadout(JSON, {}, reading("{{state.workItems.0.title}}")),
    "words in braces": loadout({}, {}, reading("{{nothing}} {{a.b}} {{ user | upper }} {{}}")),
    "what is escaped": loadout({}, {}, reading("\\{{state.x}}")),
    "the whole state": loadout({}, {}, reading("{{state}} {{stateJson}}")),
    "a built-in": loadout(
        {}, {}, {"A": {"utility": "vcs.detect", "parse": "json"}, **reading("{{state.vcs.kind}}")}
    ),
    "what echo sends": loadout({}, {}, {"A": echo(output={"state": {"x": 1}}), **reading("{{state.x}}")}),
    "what echo sends without output": loadout({}, {}, {"A": echo(state={"x": 1}), **reading("{{state.x}}")}),
    "what a utility says": loadout({}, {}, {"A": command(writes=["x"]), **reading("{{x}}")}),
    "null": loadout({"parse": "json", "assign": {"x": "$.x"}}, {}, reading("{{x}}")),
    "an item": loadout(
        KEPT | {"assign": {"xs": "$.xs"}},
        {
            "foreach": {"items": "state.xs", "as": "x"},
            "advance": {"cursor": "bIndex", "items": "state.xs"},
            "edges": [{"to": "b"}],
        },
        reading("{{x.title}} {{item}} {{workItem.title}}"),
    ),
}


FOUND: dict[str, tuple[Json, str]] = {
    "a key that nothing writes": (
        loadout(KEPT, {}, reading("{{state.y}} {{x}}")),
        "error[undefined-state]: 'b' reads '{{state.y}}', which nothing writes",
    ),
    "a key of the envelope": (
        loadout(JSON, {}, reading("{{state.envelope.reason}}")),
        "error[undefined-state]: 'b' reads '{{state.envelope.reason}}', which nothing writes",
    ),
    "the context without JSON": (
        loadout({}, {}, reading("{{state.context}}")),
        "error[undefined-state]: 'b' reads '{{state.context}}', which nothing writes",
    ),
    "streams without a parallel generator": (
        loadout({}, {}, reading("{{state.parallelFanIn}}")),
        "error[undefined-state]: 'b' reads '{{state.parallelFanIn}}', which nothing writes",
    ),
    "something below a text": (
        loadout(TEXT, {}, reading("{{x.y}}")),
        "error[undefined-state]: 'b' reads '{{x.y}}', which nothing writes",
    ),
    "a neighbour of an assignment": (
        loadout({"assign": {"x.y": "$"}}, {}, reading("{{x.z}}")),
        "error[undefined-state]: 'b' reads '{{x.z}}', which nothing writes",
    ),
    "a copy of nothing": (
        loadout({}, {"assign": {"x": "y"}, "edges": [{"to": "b"}]}, {}),
        "error[undefined-state]: 'b' assigns 'y' to 'x', which nothing writes",
    ),
    "an item outside of loops": (
        loadout({"assign": {"x": "item.title"}}, {}, reading("{{x}}")),
        "warning[undefined-state]: 'a' assigns 'item.title' to 'x', which only a socket in a loop has",
    ),
    "a patch of a text": (
        loadout({}, {}, {"A": {**command(writes=["x"]), "parse": "text"}, **reading("{{state.x}}")}),
        "error[undefined-state]: 'b' reads '{{state.x}}', which nothing writes",
    ),
    "a list that nothing writes": (
        loadout(
            {},
            {
                "foreach": {"items": "state.xs"},
                "advance": {"cursor": "bIndex", "items": "state.xs"},
                "edges": [{"to": "b"}],
            },
            {},
        ),
        "error[undefined-state]: the 'foreach' of 'b' goes through 'state.xs', which nothing writes",
    ),
    "a key that a utility may write": (
        loadout({}, {}, {"A": command(), **reading("{{state.x}}")}),
        "info[undefined-state]: 'b' reads '{{state.x}}', which nothing is known to write: 'a' may",
    ),
    "a utility that writes nothing": (
        loadout({}, {}, {"A": command(writes=[]), **reading("{{state.x}}")}),
        "error[undefined-state]: 'b' reads '{{state.x}}', which nothing writes",
    ),
    "a cast that begins with a read": (
        loadout(KEPT, {}, {"A": {"prompt": "{{x}}"}}),
        "warning[maybe-unassigned]: 'a' reads '{{x}}', which nothing has written when a cast begins there",
    ),
    "a way without a write": (
        loadout(
            {"parse": "json", "edges": [{"when": "satisfied", "to": "c"}, {"to": "b"}]}, {}, reading("{{x}}")
        ),
        "warning[maybe-unassigned]: 'b' reads '{{x}}', which nothing has written on the way 'a' → 'b'",
    ),
    "a copy of what may be nothing": (
        loadout(
            {"parse": "json", "edges": [{"when": "satisfied", "to": "c"}, {"to": "b"}]},
            {"assign": {"y": "state.x"}, "edges": [{"to": "b"}]},
            {},
        ),
        (
            "warning[maybe-unassigned]: 'b' assigns 'state.x' to 'y', "
            "which nothing has written on the way 'a' → 'b'"
        ),
    ),
    "what only the result has": (
        loadout({}, TEXT, {}),
        "info[unused-assign]: nothing sees 'x' after 'b' assigned it",
    ),
    "what is replaced at once": (
        loadout({"parse": "json", "assign": {"x.y": "$.y", "x": "$.x"}}, {}, {}),
        "info[unused-assign]: nothing sees 'x.y' after 'a' assigned it",
    ),
    "a part of a text": (
        loadout({"parse": "json", "assign": {"x": "$.context.why"}}, {}, {}),
        (
            "error[invalid-path]: source '$.context.why' of 'a' leads nowhere: "
            "'context' is a text and has nothing below it"
        ),
    ),
    "an event": (
        loadout({"parse": "json", "assign": {"x": "$.event"}}, {}, {}),
        (
            "error[invalid-path]: source '$.event' of 'a' leads nowhere: "
            "'event' is taken out of the output before"
        ),
    ),
    "a name in a list": (
        loadout({"parse": "json", "assign": {"x": "$.workItems.title"}}, {}, {}),
        (
            "error[invalid-path]: source '$.workItems.title' of 'a' leads nowhere: "
            "'workItems' is a list and has indexes below it"
        ),
    ),
    "a reference that is no path": (
        loadout(KEPT, {}, reading("{{state.x.length}}")),
        (
            "warning[invalid-path]: '{{state.x.length}}' in the prompt of materia 'B' is no path: "
            "there is no 'length': paths have names and indexes only"
        ),
    ),
    "a path as a key": (
        loadout({}, {}, {"A": command(writes=["x.y"])}),
        "error[invalid-path]: materia 'A' says that it writes 'x.y', which is no key of the state",
    ),
    "a key that no utility may patch": (
        loadout({}, {}, {"A": command(writes=["satisfied"])}),
        "error[reserved-key]: materia 'A' says that it writes 'satisfied', which no utility may patch",
    ),
    "an item by a reserved name": (
        loadout(
            {"parse": "json", "assign": {"xs": "$.xs"}},
            {
                "foreach": {"items": "state.xs", "as": "state"},
                "advance": {"cursor": "bIndex", "items": "state.xs"},
                "edges": [{"to": "b"}],
            },
            {},
        ),
        "error[reserved-key]: the 'foreach' of 'b' calls its item 'state', which is reserved",
    ),
}


def said(checked: Callable[..., str], config: Json) -> list[str]:
    """What the rules of the state say of a file, without places."""
    if any(edge["to"] == "c" for edge in config["loadouts"]["L"]["sockets"]["a"]["edges"]):
        third = {"materia": "A", "assign": {"x": "$"}, "edges": [{"to": "b"}]}
        config["loadouts"]["L"]["sockets"]["c"] = third
    report = checked(json.dumps(config, indent=1, ensure_ascii=False).encode())
    lines = [line.split(": ", 1)[1] for line in report.splitlines() if line.startswith("loadout.json:")]
    return [line for line in lines if any(f"[{rule}]" in line for rule in RULES)]


@pytest.mark.parametrize("config", SILENT.values(), ids=SILENT)
def test_what_is_sound(config: Json, checked: Callable[..., str]) -> None:
    assert said(checked, config) == []


@pytest.mark.parametrize(("config", "message"), FOUND.values(), ids=FOUND)
def test_what_is_found(config: Json, message: str, checked: Callable[..., str]) -> None:
    assert said(checked, config) == [message]


def _shuffled(value: Any, order: random.Random) -> Any:
    """The same loadouts with sockets, loops and materia in another order."""
    named = ("sockets", "loops", "materia")
    if not isinstance(value, dict):
        return value
    parts = {key: _shuffled(part, order) for key, part in value.items()}
    for key in named:
        if isinstance(parts.get(key), dict):
            members = list(parts[key].items())
            order.shuffle(members)
            parts[key] = dict(members)
    return parts


@pytest.mark.parametrize("seed", range(10))
def test_any_order_is_the_same(seed: int, checked: Callable[..., str]) -> None:
    order = random.Random(seed)  # noqa: S311 (no secret depends on it)
    for config, message in FOUND.values():
        assert said(checked, _shuffled(config, order)) == [message]
