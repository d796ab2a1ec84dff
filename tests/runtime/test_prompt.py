from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from materiac.program import Agent, Edge, Loop, Materia, Program, Socket
from materiac.runtime.contract import contract_of
from materiac.runtime.follow_up import Note
from materiac.runtime.items import Item
from materiac.runtime.prompt import PromptView, build, final_form, repair

BUILD = Socket("build", "Build", "text", edges=(Edge("always", "check"),), loop="work")
CHECK = Socket(
    "check",
    "Check",
    "json",
    assign=(("verdict.note", "$.note"),),
    edges=(Edge("satisfied", "end"), Edge("not_satisfied", "build")),
    loop="work",
)
PLAN = Socket("plan", "Plan", "json", assign=(("workItems", "$.workItems"),))
MATERIA = {
    "Build": Materia("Build", "Build", Agent("Build {{item.title}} for {{request}}.")),
    "Check": Materia("Check", "Check", Agent("Check it.")),
    "Plan": Materia("Plan", "Plan", Agent("Plan it."), generator=True),
}
WORK = Loop("work", ("build", "check"), "state.pieces", "piece", "at", "end", "end")
PROGRAM = Program(
    "P",
    "plan",
    {socket.id: socket for socket in (PLAN, BUILD, CHECK)},
    MATERIA,
    {"work": WORK},
    state_keys=("verdict", "later.on"),
)


def item(value: Any) -> Item:
    return Item(("work", 1, 0), "WI-1", "a roof", "piece", value)


ROOF = item({"title": "a roof", "context": "It leaks."})


def view(socket: Socket, **more: Any) -> PromptView:
    base = PromptView(PROGRAM, socket, MATERIA[socket.materia], "mend the shed", {})
    return replace(base, **more)


def filled(text: str, **more: Any) -> str:
    """What a template becomes, alone."""
    base = view(BUILD, **more)
    prompt = build(replace(base, materia=Materia("T", "T", Agent(f"<<{text}>>"))))
    return prompt.removeprefix("<<").split(">>")[0]


def test_sections_come_in_order_and_once() -> None:
    plan = view(
        PLAN,
        item=ROOF,
        upstream=[{"title": "u", "context": "up"}],
        notes=[Note("check", "plan", 1, "too thin")],
        state={"verdict": {"note": "n"}, "context": "[plan Plan] before", "envelope": {"context": "before"}},
        written=["verdict.note"],
        previous={"v": 1},
    )
    assert build(plan) == (
        "Plan it.\n\n"
        "## Current item\n\nTitle: a roof\n\nContext: It leaks.\n\n"
        '## Work items so far\n\n[\n  {\n    "title": "u",\n    "context": "up"\n  }\n]\n\n'
        "## Runtime follow-up context\n\n"
        "This visit is rework of the current item: what was done so far was not accepted. "
        "Mend what the reasons below say; the last one is the newest.\n\n"
        "From 'check': too thin\n\n"
        "## Cast context\n\nRequest: mend the shed\nSocket: plan\nItem: WI-1\n\n"
        'State:\n\n{\n  "verdict": {\n    "note": "n"\n  }\n}\n\n'
        "Context:\n\n[plan Plan] before\n\n"
        'Previous output:\n\n{\n  "v": 1\n}\n\n'
        "## Answer format\n\n"
        "Answer with exactly one JSON object and nothing else: no text before or after it, no code fence. "
        "It has:\n\n"
        '- "workItems": a list of objects {"title": string, "context": string}, neither blank, '
        "without other keys\n"
    )


def test_a_bare_visit_is_told_little() -> None:
    text = build(view(BUILD, item=ROOF))
    assert text.startswith("Build a roof for mend the shed.\n\n## Current item")
    assert text.endswith("## Cast context\n\nRequest: mend the shed\nSocket: build\nItem: WI-1\n")


def test_a_text_socket_has_no_json_instructions() -> None:
    text = build(view(BUILD, previous="done", upstream=[1]))
    assert "JSON" not in text
    assert "Work items so far" not in text
    assert text.endswith("Previous output:\n\ndone\n")


def test_rework_without_an_item_speaks_of_none() -> None:
    text = build(view(CHECK, notes=[Note("check", "check", 1, "too thin")]))
    assert "This visit is rework of earlier work: " in text
    assert "current item" not in text


def test_the_contract_is_that_of_the_socket_alone() -> None:
    text = build(view(CHECK))
    assert text.endswith('It has:\n\n- "satisfied": true or false\n- "note": any value\n')
    assert "workItems" not in text
    assert build(view(Socket("x", "Check", "json"))).endswith("It needs no field.\n")


def test_a_talk_is_told_the_form_at_its_end_only() -> None:
    talk = Materia("Talk", "Talk", Agent("Discuss.", multi_turn=True))
    assert "JSON" not in build(view(CHECK, materia=talk))
    assert final_form(contract_of(PROGRAM, CHECK)).endswith("any value\n")
    assert "JSON" not in final_form(None)


@pytest.mark.parametrize(
    ("value", "told"),
    [(None, "null"), (0, "0"), ("", '""'), ({"name": "n"}, '{\n  "name": "n"\n}'), ("é", '"é"')],
    ids=["null", "zero", "empty", "another object", "text"],
)
def test_any_value_can_be_an_item(value: Any, told: str) -> None:
    assert f"## Current item\n\n{told}\n\n" in build(view(BUILD, item=item(value)))


def test_state_is_what_was_written_and_not_told_elsewhere() -> None:
    state = {"a": 1, "b": 2, "envelope": {"x": 1}, "workItems": [], "context": "c", "d": [1]}
    written = ["d.x", "a", "envelope", "workItems", "context", "gone", "a"]
    text = build(view(BUILD, state=state, written=written))
    assert 'State:\n\n{\n  "d": [\n    1\n  ],\n  "a": 1\n}\n\nContext:\n\nc\n' in text


def test_a_context_that_is_no_text_is_state() -> None:
    text = build(view(BUILD, state={"context": {"a": 1}}, written=["context"]))
    assert '"context": {' in text
    assert "Context:" not in text


def test_of_a_long_context_the_newest_is_told() -> None:
    text = build(view(BUILD, state={"context": "old " + "x" * 7_994 + " new"}))
    told = text.split("Context:\n\n")[1].rstrip("\n")
    assert told == "…d " + "x" * 7_994 + " new"


def test_the_previous_output_is_shown_whole() -> None:
    items = [{"title": "t", "context": "c"}]
    previous = {"context": "why", "workItems": items, "v": 1}
    state = {"context": "[check Check] why"}
    told = build(view(BUILD, state=state, previous=previous)).split("Previous output:\n\n")[1]
    assert json.loads(told) == previous
    assert "Previous output" not in build(view(BUILD, previous=""))


KNOWN: list[tuple[str, str, str]] = [
    ("request", "{{request}}", "mend the shed"),
    ("spaces", "{{ request\n}}", "mend the shed"),
    ("state", "{{state}}", '{\n  "pieces": [\n    1\n  ],\n  "workItem": "w",\n  "t": "x {{request}}"\n}'),
    ("state value", "{{state.pieces.0}}", "1"),
    ("bare key", "{{pieces.0}}", "1"),
    ("not expanded again", "{{t}}", "x {{request}}"),
    ("known key without a value", "[{{verdict.note}}{{later}}]", "[]"),
    ("state without a value", "[{{state.nope}}]", "[]"),
    ("item", "{{item.title}}", "a roof"),
    ("workItem", "{{workItem.title}}", "a roof"),
    ("alias", "{{piece.title}}", "a roof"),
    ("item without the key", "[{{item.nope}}]", "[]"),
    ("itemJson", "{{itemJson}}", '{\n  "title": "a roof",\n  "context": "It leaks."\n}'),
    ("lastOutput", "{{lastOutput}}", '{"a":{"b":null}}'),
    ("lastJson", "{{lastJson}}", '{\n  "a": {\n    "b": null\n  }\n}'),
    ("lastJson value", "{{lastJson.a}}", '{\n  "b": null\n}'),
    ("null", "[{{lastJson.a.b}}]", "[]"),
    ("cursor", "{{cursor.at}}", "3"),
    ("unknown cursor", "[{{cursor.z}}]", "[]"),
    ("cursors", "{{cursor}}", '{\n  "at": 3\n}'),
    ("innermost", "{{ {{request}} }}", "{{ mend the shed }}"),
    ("escaped", "\\{{request}}", "{{request}}"),
]


@pytest.mark.parametrize(("text", "expected"), [pytest.param(t, e, id=i) for i, t, e in KNOWN])
def test_references_are_filled_in(text: str, expected: str) -> None:
    known = filled(
        text,
        item=ROOF,
        state={"pieces": [1], "workItem": "w", "t": "x {{request}}"},
        last_output='{"a":{"b":null}}',
        last_json={"a": {"b": None}},
        cursor={"at": 3}.get,
    )
    assert known == expected


@pytest.mark.parametrize(
    "text",
    [
        '{"a": {"b": 1}} and {x}',
        "{{nope}}",
        "{{cursors.at}}",
        "{{request.x}}",
        "{{some words}}",
        "{{}}",
        "{{$.a}}",
        "{{pieces.length}}",
        "{{cursor.a.b}}",
        "{{satisfied}}",
    ],
)
def test_other_braces_stay_as_they_are(text: str) -> None:
    assert filled(text, state={"pieces": [1]}) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[{{item}}{{item.x}}{{itemJson}}{{piece}}{{piece.x}}{{workItem.x}}]", "[]"),
        ("[{{lastOutput}}{{lastJson}}{{lastJson.x}}{{cursor}}]", "[]"),
        ("{{stateJson}}", "{}"),
    ],
)
def test_known_references_without_a_value_are_empty(text: str, expected: str) -> None:
    assert filled(text) == expected


def test_without_an_item_its_names_are_state() -> None:
    assert filled("{{workItem.title}}", state={"workItem": {"title": "T"}}) == "T"


@pytest.mark.parametrize(
    ("value", "expected"),
    [(None, "[] [null]"), (0, "[0] [0]"), ("", '[] [""]'), (False, "[false] [false]")],
)
def test_an_empty_item_is_an_item(value: Any, expected: str) -> None:
    assert filled("[{{item}}] [{{itemJson}}]", item=item(value), state={"workItem": "w"}) == expected


def test_a_repair_turn_says_what_was_wrong_after_the_same_prompt() -> None:
    prompt = build(view(CHECK))
    text = repair(
        prompt, ["'satisfied' is missing", "'note' is missing"], "x" * 700, contract_of(PROGRAM, CHECK)
    )
    assert text.startswith(prompt)
    added = text.removeprefix(prompt)
    assert added.startswith(
        "\n## Your last answer was refused\n\n- 'satisfied' is missing\n- 'note' is missing\n\n"
        f"It began:\n\n{'x' * 599}…\n\n## Answer format\n\n"
    )
    assert added.endswith('- "note": any value\n')


def test_of_an_empty_answer_nothing_is_shown() -> None:
    assert "It began" not in repair("p\n", ["the answer is empty"], " \n", contract_of(PROGRAM, CHECK))
