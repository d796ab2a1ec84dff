"""What prompts ask for, and what they only speak of."""

from __future__ import annotations

import time

import pytest

from materiac.asked_fields import asked_fields

NAMES = frozenset({"tasks", "feedback", "summary", "passed", "missing", "text", "satisfied"})

ASKS = {
    'Answer with {"passed": true, "feedback": "what to change"}.': {"passed", "feedback"},
    'Answer:\n\n```json\n{\n  "summary": "…",\n  "tasks": [{ "title": "…", "missing": "…" }]\n}\n```': {
        "summary",
        "tasks",
    },
    "Write into `feedback` what the builder has to know.": {"feedback"},
    "When you are not satisfied, write what is wrong into `feedback`.": {"feedback"},
    "If the tests do not pass, put the reasons into `feedback`.": {"feedback"},
    "Put what is open into\n`missing`.": {"missing"},
    "Return `passed` and `feedback`.": {"passed", "feedback"},
    "Set `passed` to true when all is done.": {"passed"},
    "`passed` is true only where the tests run clean.": {"passed"},
    "Return JSON with a `tasks` field.": {"tasks"},
    "Return JSON with a top-level string `text` field only.": {"text"},
    "The notes are the `text` of your answer.": {"text"},
    "List the open points as 'missing'.": {"missing"},
    "Answer with a JSON object:\n- `passed`: true or false\n- `feedback`: what to change": {
        "passed",
        "feedback",
    },
    "The fields of the object are:\n\n1. `summary` - a line\n2. `missing` (a list)": {"summary", "missing"},
    "Return your verdict in $.passed, please.": {"passed"},
    "Give the reasons in `$.feedback`.": {"feedback"},
    "Put it in `feedback`, not in `summary`.": {"feedback"},
    "Answer with `satisfied` and `context`.": {"satisfied"},
    "Set `satisfied` to true if it is done.": {"satisfied"},
}

ASKS_NOTHING = (
    "Say what is missing, give feedback, and end with a summary of the tasks that have passed.",
    "Return compact JSON with ordered workItems. Use workItems, not tasks.",
    "Do not emit a `feedback` field.",
    "Do not emit a top-level `text` field; put notes in context.",
    "Do not emit\n`checkpointCreated`, `summary`, or `feedback` fields.",
    'Never answer with {"passed": true}.',
    "Use `context` instead of `feedback`.",
    "Write into `context`, not into `feedback`.",
    "Return `context`. The `feedback` field is not read any more.",
    "Read the `tasks` table of the database.",
    "Put new rows into `tasks` tables.",
    "Write it into the file `summary`.",
    "Add a `feedback` field to the form.",
    "Check that the `summary` field of each issue is filled.",
    "Write the `summary` field of the changelog.",
    "Run the `tasks` command and look at what it says.",
    "The last line of the log is 'passed' when all is well.",
    "A page is 'missing' when no link leads to it.",
    "Look at {{state.feedback}} and at {{ state.tasks }}.",
    'An item looks like {"title": "…", "context": {"summary": "…"}}.',
    'The server sends [{"passed": true}].',
    "Open the section `summary` of the page.",
    "Mark it with the label 'missing'.",
    "The `passed` tests are of no interest.",
    "See the `text` element in the page.",
    'The word "missing": find all places where it stands.',
    "You are not satisfied when any of this fails.",
    "Entries:\n- `tasks`: a folder of the project\n- `summary`: another",
)


@pytest.mark.parametrize(("prompt", "fields"), ASKS.items())
def test_what_a_prompt_asks_for(prompt: str, fields: set[str]) -> None:
    assert set(asked_fields(prompt, NAMES)) == fields


@pytest.mark.parametrize("prompt", ASKS_NOTHING)
def test_what_a_prompt_does_not_ask_for(prompt: str) -> None:
    assert asked_fields(prompt, NAMES) == []


def test_fields_come_once_and_in_order() -> None:
    prompt = 'Answer {"passed" : true}, and put the reasons into `feedback`; set `passed` to false then.'
    assert asked_fields(prompt, NAMES) == ["passed", "feedback"]


@pytest.mark.parametrize(
    "part", ["`passed` ", '{"passed": ', "write in `x` ", "- `tasks`: a\n", "not into `text`, "]
)
def test_long_prompts_take_little_time(part: str) -> None:
    began = time.perf_counter()
    asked_fields(part * (200_000 // len(part)), NAMES)
    assert time.perf_counter() - began < 3
