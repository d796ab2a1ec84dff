"""Reads of items and cursors where there are none, misspelt words, and what follows from a fault."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

Json = dict[str, Any]

STEP: Json = {"cursor": "workItemIndex", "items": "state.workItems"}


def loadout(*, back: bool = False, alias: str | None = None, **sockets: Json) -> Json:
    """A generator, a loop over what it plans, two sockets behind it; `back` leads out and in again.

    What is given for a socket is its prompt, and more of it.
    """
    edges = [{"when": "satisfied", "to": "build"}]
    out = {"when": "not_satisfied", "to": "help" if back else "build", "maxTraversals": 2}
    graph: Json = {
        "plan": {"edges": [{"to": "build"}]},
        "build": {"parse": "json", "advance": {**STEP, "when": "satisfied"}, "edges": [*edges, out]},
        "help": {"edges": [{"to": "build"}]},
        "tell": {"edges": [{"to": "last"}]},
        "last": {},
    }
    if not back:
        del graph["help"]
    given = {id_: dict(sockets.get(id_, {})) for id_ in graph}
    materia: Json = {id_: {"prompt": given[id_].pop("prompt", "Do it.")} for id_ in graph}
    materia["plan"]["generator"] = True
    consumes = {"from": "plan"} | ({"as": alias} if alias else {})
    loop = {
        "sockets": ["build"],
        "consumes": consumes,
        "exits": [{"from": "build", "targetSocketId": "tell"}],
    }
    return {
        "loadouts": {
            "L": {
                "entry": "plan",
                "sockets": {id_: {"materia": id_, **part, **given[id_]} for id_, part in graph.items()},
                "loops": {"work": loop},
            }
        },
        "materia": materia,
    }


SILENT: dict[str, Json] = {
    "items and cursors in a loop": loadout(
        build={
            "prompt": "{{item}} {{itemJson}} {{item.title}} {{workItem.title}} {{cursor.workItemIndex}}",
            "assign": {"t": "item.title", "at": "cursor.workItemIndex"},
        },
        last={"prompt": "{{lastOutput}}"},
    ),
    "the alias of a loop": loadout(alias="page", build={"prompt": "{{page.title}}"}),
    "a cursor while its loop is under way": loadout(
        back=True, help={"prompt": "{{cursor.workItemIndex}}", "assign": {"at": "cursor.workItemIndex"}}
    ),
    "all cursors": loadout(tell={"prompt": "{{cursor}}"}),
    "a key that is called like an item": loadout(
        plan={"assign": {"workItem.title": "$.context"}}, tell={"prompt": "{{workItem.title}}"}
    ),
    "code of others": loadout(
        tell={
            "prompt": "{{ .Request }} {{ stage }} {{ stats.total }} {{ states }} {{ requests }} "
            "{{ items.x }} {{ status }} {{ request | upper }} {{ $state }} {{#each state}} {{ its }}"
        }
    ),
    "what is escaped": loadout(tell={"prompt": "\\{{requst}} \\{{item.title}}"}),
    "a word that is known": loadout(plan={"assign": {"reques": "$.context"}}, tell={"prompt": "{{reques}}"}),
}

ITEM = "which only a socket in a loop has"
IDLE = "which is there only while loop 'work' is under way"
TEXT = "which is no reference and stays a text"

FOUND: dict[str, tuple[Json, list[str]]] = {
    "an item": (
        loadout(tell={"prompt": "{{item.title}}"}),
        [f"warning[undefined-state]: 'tell' reads '{{{{item.title}}}}', {ITEM}"],
    ),
    "a whole item": (
        loadout(tell={"prompt": "{{ itemJson }}"}),
        [f"warning[undefined-state]: 'tell' reads '{{{{itemJson}}}}', {ITEM}"],
    ),
    "a work item": (
        loadout(tell={"prompt": "{{workItem.title}}"}),
        [f"warning[undefined-state]: 'tell' reads '{{{{workItem.title}}}}', {ITEM}"],
    ),
    "an item, in a prompt that the loop has too": (
        loadout(build={"prompt": "{{item.title}}"}, tell={"materia": "build"}),
        [f"warning[undefined-state]: 'tell' reads '{{{{item.title}}}}', {ITEM}"],
    ),
    "an alias": (
        loadout(alias="page", tell={"prompt": "{{page.title}}"}),
        [f"warning[undefined-state]: 'tell' reads '{{{{page.title}}}}', {ITEM}"],
    ),
    "an item while a loop is under way": (
        loadout(back=True, help={"prompt": "{{item.title}}"}),
        [f"warning[undefined-state]: 'help' reads '{{{{item.title}}}}', {ITEM}"],
    ),
    "a cursor before the loop": (
        loadout(plan={"prompt": "{{cursor.workItemIndex}}"}),
        [f"warning[undefined-state]: 'plan' reads '{{{{cursor.workItemIndex}}}}', {IDLE}"],
    ),
    "a cursor behind the loop": (
        loadout(back=True, tell={"prompt": "{{cursor.workItemIndex}}"}),
        [f"warning[undefined-state]: 'tell' reads '{{{{cursor.workItemIndex}}}}', {IDLE}"],
    ),
    "a cursor of no loop": (
        loadout(build={"prompt": "{{cursor.index}}"}),
        ["warning[undefined-state]: 'build' reads '{{cursor.index}}', which is the cursor of no loop"],
    ),
    "an item that is assigned": (
        loadout(tell={"assign": {"t": "item.title"}}, last={"prompt": "{{t}} {{t.x}}"}),
        [f"warning[undefined-state]: 'tell' assigns 'item.title' to 't', {ITEM}"],
    ),
    "a work item that is assigned": (
        loadout(tell={"assign": {"t": "workItem.title"}}, last={"prompt": "{{t}}"}),
        [f"warning[undefined-state]: 'tell' assigns 'workItem.title' to 't', {ITEM}"],
    ),
    "a cursor that is assigned": (
        loadout(tell={"assign": {"t": "cursor.x"}}, last={"prompt": "{{state.t}}"}),
        ["warning[undefined-state]: 'tell' assigns 'cursor.x' to 't', which is the cursor of no loop"],
    ),
    "what nothing writes, handed on": (
        loadout(tell={"assign": {"v": "stat.x", "w": "v"}}, last={"prompt": "{{v}} {{w.y}} {{state.w}}"}),
        ["error[undefined-state]: 'tell' assigns 'stat.x' to 'v', which nothing writes"],
    ),
    "what nothing writes, read elsewhere too": (
        loadout(tell={"assign": {"v": "stat.x"}}, last={"prompt": "{{state.stat.x}}"}),
        [
            "error[undefined-state]: 'last' reads '{{state.stat.x}}', which nothing writes",
            "error[undefined-state]: 'tell' assigns 'stat.x' to 'v', which nothing writes",
        ],
    ),
    "what is only copied in a circle": (
        loadout(tell={"assign": {"v": "w", "w": "v"}}),
        [
            "error[undefined-state]: 'tell' assigns 'v' to 'w', which nothing writes",
            "error[undefined-state]: 'tell' assigns 'w' to 'v', which nothing writes",
        ],
    ),
    "misspelt words": (
        loadout(
            plan={"assign": {"summary": "$.context"}},
            tell={"prompt": "{{lastOuput}} {{ requst }} {{sate.x}} {{sumary}} {{workitem.title}}"},
        ),
        [
            f"warning[undefined-state]: 'tell' has '{{{{{word}}}}}' in its prompt, {TEXT}"
            for word in ("lastOuput", "requst", "sate.x", "sumary", "workitem.title")
        ],
    ),
}


def said(report: str) -> list[str]:
    lines = [line.split(": ", 1)[1] for line in report.splitlines() if line.startswith("loadout.json:")]
    return sorted(line for line in lines if "[undefined-state]" in line or "[maybe-unassigned]" in line)


def text(config: Json) -> bytes:
    return json.dumps(config, indent=1).encode()


@pytest.mark.parametrize("config", SILENT.values(), ids=SILENT)
def test_what_is_there(config: Json, checked: Callable[..., str]) -> None:
    assert said(checked(text(config))) == []


@pytest.mark.parametrize(("config", "messages"), FOUND.values(), ids=FOUND)
def test_what_is_not_there(config: Json, messages: list[str], checked: Callable[..., str]) -> None:
    assert said(checked(text(config))) == sorted(messages)


@pytest.mark.parametrize(("config", "messages"), FOUND.values(), ids=FOUND)
def test_no_word_is_proposed_that_is_there(
    config: Json, messages: list[str], checked: Callable[..., str]
) -> None:
    report = checked(text(config))
    for message in messages:
        read = message.split("'")[3].strip("{}")
        assert f"did you mean '{read}'" not in report
