"""Prompts that ask for what nothing reads: what counts as read, and which sockets a prompt is for."""

from __future__ import annotations

import json
from typing import Any

import pytest
from samples import loadout, socket

from materiac import pipeline

Json = dict[str, Any]

BACK: Json = {"to": "ask", "maxTraversals": 2}
JUDGED = [{"when": "satisfied", "to": "end"}, {**BACK, "when": "not_satisfied"}]
TOOL: Json = {"command": ["publish"], "timeoutMs": 5}


def found(config: Json) -> list[str]:
    """The rules about prompts that a file breaks."""
    parts = pipeline.check([pipeline.Text("loadout.json", json.dumps(config).encode())])
    about = ("obsolete-field", "unasked-text", "verdict-in-prompt")
    return sorted(part.finding.rule for part in parts if part.finding.rule in about)


def asking(prompt: str, *, then: Json | None = None, materia: Json | None = None, **fields: Any) -> Json:
    """A loadout of a socket with a prompt, and another after it."""
    ask = {"materia": "Asker", "parse": "json", "edges": [{"to": "next"}], **fields}
    behaviours = {"Asker": {"prompt": prompt}, **(materia or {})}
    return loadout({"ask": ask, "next": then or socket()}, materia=behaviours)


FEEDBACK = "Write into `feedback` what is wrong."
TEXT = "The notes are the `text` of your answer."
VERDICT = "Set `satisfied` to true if it is done."

READ = {
    "assigned": asking(FEEDBACK, assign={"why": "$.feedback"}),
    "a part of it is assigned": asking(FEEDBACK, assign={"why": "$.feedback.0"}),
    "all is assigned": asking(FEEDBACK, assign={"all": "$"}),
    "the last object is assigned": asking(FEEDBACK, assign={"why": "lastJson.feedback"}),
    "the output is assigned": asking(TEXT, assign={"all": "lastOutput"}),
    "the text is assigned": asking(TEXT, assign={"notes": "$.text"}),
    "in the last object, by the next prompt": asking(
        FEEDBACK, then={"materia": "Reader"}, materia={"Reader": {"prompt": "Mend {{lastJson.feedback}}."}}
    ),
    "the whole last object, by the next prompt": asking(
        TEXT, then={"materia": "Reader"}, materia={"Reader": {"prompt": "Mend {{ lastJson }}."}}
    ),
    "the last output, by the next prompt": asking(
        FEEDBACK, then={"materia": "Reader"}, materia={"Reader": {"prompt": "Mend {{lastOutput}}."}}
    ),
    "the last object, by a loop": asking(
        "Return the list as `tasks`.",
        then=socket(
            foreach={"items": "lastJson.tasks"},
            advance={"cursor": "nextIndex", "items": "lastJson.tasks"},
            edges=[{"to": "next"}],
        ),
    ),
    "a text goes on as it is": asking(FEEDBACK, parse="text"),
    "a template of a key that is written": asking(
        "Look.",
        assign={"feedback": "$.why"},
        then={"materia": "Reader"},
        materia={"Reader": {"prompt": "{{feedback}}"}},
    ),
    "a template of the item": asking(
        "Look at {{summary}}.",
        foreach={"items": "state.xs", "as": "summary"},
        advance={"cursor": "askIndex", "items": "state.xs"},
        edges=[{"to": "ask"}],
    ),
    "a template of what a program may write": asking(
        "{{feedback}}", then={"materia": "Tool", "parse": "json"}, materia={"Tool": TOOL}
    ),
    "a verdict, by edges": asking(VERDICT, edges=JUDGED),
    "a verdict, by an assignment": asking(VERDICT, assign={"fine": "$.satisfied"}),
    "a verdict, in the envelope": asking(
        VERDICT, then={"materia": "Reader"}, materia={"Reader": {"prompt": "{{state.envelope.satisfied}}"}}
    ),
    "a verdict, in the whole state": asking(
        VERDICT, then={"materia": "Reader"}, materia={"Reader": {"prompt": "{{stateJson}}"}}
    ),
    "a verdict, by a program": asking(VERDICT, then={"materia": "Tool"}, materia={"Tool": TOOL}),
}

UNREAD = {
    "nothing": (asking(FEEDBACK), ["obsolete-field"]),
    "another field is assigned": (asking(FEEDBACK, assign={"why": "$.reason"}), ["obsolete-field"]),
    "the last output is read two visits later": (
        loadout(
            {
                "ask": {"materia": "Asker", "parse": "json", "edges": [{"to": "next"}]},
                "next": socket(edges=[{"to": "last"}]),
                "last": {"materia": "Reader"},
            },
            materia={"Asker": {"prompt": FEEDBACK}, "Reader": {"prompt": "{{lastOutput}}"}},
        ),
        ["obsolete-field"],
    ),
    "a text": (asking(TEXT), ["unasked-text"]),
    "a program gets no text": (
        asking(TEXT, then={"materia": "Tool"}, materia={"Tool": TOOL}),
        ["unasked-text"],
    ),
    "a verdict": (asking(VERDICT), ["verdict-in-prompt"]),
    "a verdict in a text": (asking(VERDICT, parse="text"), ["verdict-in-prompt"]),
    "a generator's verdict": (
        asking("", materia={"Asker": {"prompt": VERDICT, "generator": True}}),
        ["verdict-in-prompt"],
    ),
    "a template of it alone": (asking("Mend {{ feedback }} and {{summary.lines}}."), ["obsolete-field"] * 2),
    "two fields": (asking('Answer {"passed": true, "missing": []}'), ["obsolete-field"] * 2),
    "all three": (
        asking(f"{FEEDBACK} {TEXT} {VERDICT}"),
        ["obsolete-field", "unasked-text", "verdict-in-prompt"],
    ),
}


@pytest.mark.parametrize("config", READ.values(), ids=READ)
def test_what_is_read(config: Json) -> None:
    assert found(config) == []


@pytest.mark.parametrize(("config", "rules"), UNREAD.values(), ids=UNREAD)
def test_what_nothing_reads(config: Json, rules: list[str]) -> None:
    assert found(config) == rules


def test_a_verdict_of_exits_and_of_an_advance_is_read() -> None:
    step: Json = {"cursor": "workItemIndex", "items": "state.workItems"}
    ask: Json = {"materia": "Asker", "edges": [{"to": "ask"}], "advance": step}
    ways = [
        {"from": "ask", "condition": "satisfied", "targetSocketId": "tell"},
        {"from": "ask", "targetSocketId": "end"},
    ]
    work = {"sockets": ["ask"], "consumes": {"from": "plan"}, "exits": ways}
    plan = {"materia": "Planner", "edges": [{"to": "ask"}]}
    materia = {"Asker": {"prompt": VERDICT, "parse": "json"}}
    config = loadout({"plan": plan, "ask": ask, "tell": socket()}, loops={"work": work}, materia=materia)
    assert found(config) == []
    work["exits"] = ways[1:]
    assert found(config) == ["verdict-in-prompt"]
    ask["advance"] = {**step, "when": "satisfied"}
    assert found(config) == []


def test_a_prompt_may_serve_several_sockets() -> None:
    config = asking(VERDICT, edges=[JUDGED[0], {**BACK, "to": "next", "when": "not_satisfied"}])
    config["loadouts"]["L"]["sockets"]["next"] = {"materia": "Asker", "parse": "json"}
    assert found(config) == []


def test_a_prompt_may_serve_several_loadouts() -> None:
    config = asking(VERDICT)
    judged = {"entry": "ask", "sockets": {"ask": {"materia": "Asker", "parse": "json", "edges": JUDGED}}}
    config["loadouts"]["M"] = judged
    assert found(config) == []
    below = {"loadouts": {"M": config["loadouts"].pop("M")}}
    layers = [json.dumps(part).encode() for part in (below, config)]
    texts = [pipeline.Text(f"{i}.json", raw) for i, raw in enumerate(layers)]
    assert not [part for part in pipeline.check(texts) if part.finding.rule == "verdict-in-prompt"]


def test_a_socket_that_no_cast_comes_to_asks_nobody() -> None:
    config = asking(FEEDBACK)
    config["loadouts"]["L"]["entry"] = "next"
    assert found(config) == []
