"""What editors are told of casts, which are run for real."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from acp.schema import (
    EmbeddedResourceContentBlock,
    ImageContentBlock,
    ResourceContentBlock,
    TextContentBlock,
    TextResourceContents,
)
from editor import Editor
from samples import Json, answers, cast, loadout, socket, working

from materiac.agents.protocol import Agent, Progress, Reply, Request
from materiac.editors import blocks
from materiac.editors.desk import Offered
from materiac.editors.session import Session
from materiac.editors.telling import Telling
from materiac.runtime.journal import Record
from materiac.runtime.run import Result

YES, NO = {"satisfied": True}, {"satisfied": False, "context": "not yet"}


class Chatty:
    """An agent that says what it does."""

    spec = "chatty"

    def __init__(self, **answers: str) -> None:
        self.answers = answers

    def turn(self, request: Request) -> Reply:
        assert request.progress is not None
        answer = self.answers[request.socket]
        for part in (
            Progress("thinking", "Hm. "),
            Progress("tool", "read a.txt"),
            Progress("result", "plover"),
            Progress("text", answer[:3]),
            Progress("text", answer[3:]),
        ):
            request.progress(part)
        return Reply(answer)

    def close(self) -> None:
        """Nothing was started."""


def told(config: Json, folder: Path, agent: Agent) -> tuple[Editor, Result]:
    """Run a loadout, and tell an editor of it."""
    editor, telling = Editor(folder), Telling()
    telling.prepare()
    telling.begin(folder / "casts")

    def take(record: Record) -> None:
        editor.updates += telling.tell(record.type, record.fields)

    def hear(stream: str | None, part: Progress) -> None:
        editor.updates += telling.hear(stream, part.kind, part.text)

    return editor, cast(config, folder, agent, watchers=[take], hears=hear)


def test_items_are_named(tmp_path: Path) -> None:
    plan = {"workItems": [{"title": "Wash", "context": "c"}, {"title": "Dry", "context": "c"}]}
    agent = answers(plan=plan, build="built", check=[NO, YES, YES], tell="done")
    editor, _ = told(working(), tmp_path, agent)
    assert [title for title, _, _ in editor.calls.values()] == [
        "plan (Planner) → build",
        "build (Agent): Wash → check",
        "check (Agent): Wash, not satisfied → build",
        "build (Agent): Wash → check",
        "check (Agent): Wash, satisfied → build",
        "build (Agent): Dry → check",
        "check (Agent): Dry, satisfied → tell",
        "tell (Agent) → end",
    ]
    assert editor.plans[-1] == [
        ("plan (Planner)", "completed"),
        ("build (Agent): Dry", "completed"),
        ("check (Agent): Dry", "completed"),
        ("tell (Agent)", "completed"),
    ]
    assert [plan for plan in editor.plans if ("build (Agent): Dry", "in_progress") in plan]
    assert editor.said == "builtbuiltbuiltdone"


def test_pieces_of_a_text_are_the_message(tmp_path: Path) -> None:
    editor, _ = told(loadout({"hello": socket()}), tmp_path, Chatty(hello="Good morning!"))
    assert editor.said == "Good morning!"
    assert editor.thought == "Hm. "
    doing = [
        update.content[0].content.text
        for update in editor.updates
        if getattr(update, "content", 0) and hasattr(update, "tool_call_id")
    ]
    assert doing == ["read a.txt", "read a.txt\n  plover", "Good morning!"]


def test_pieces_of_an_object_are_thoughts(tmp_path: Path) -> None:
    text = '{"text": "For you.", "context": "c"}'
    config = loadout({"hello": socket(parse="json")})
    editor, _ = told(config, tmp_path, Chatty(hello=text))
    assert editor.thought == f"Hm. {text}"
    assert editor.said == "For you.\n\n"
    assert editor.calls["hello/1"][2] == text


def test_utilities_show_what_they_print(tmp_path: Path) -> None:
    materia = {
        "Tell": {"command": ["sh", "-c", "cat > /dev/null; echo here"]},
        "Fail": {"command": ["false"]},
    }
    config = loadout(
        {"tell": {"materia": "Tell", "edges": [{"to": "fail"}]}, "fail": {"materia": "Fail"}}, materia=materia
    )
    editor, _ = told(config, tmp_path, answers())
    assert editor.calls["tell/1"] == ("tell (Tell) → fail", "completed", "here\n")
    title, status, text = editor.calls["fail/1"]
    assert (title, status, text[:13]) == ("fail (Fail)", "failed", "utility-exit:")
    assert editor.plans[-1] == [("tell (Tell)", "completed"), ("fail (Fail)", "pending")]
    assert editor.said == ""


def test_streams_are_told_apart(tmp_path: Path) -> None:
    step = {"cursor": "workItemIndex", "items": "state.workItems", "when": "satisfied"}
    edges = [
        {"when": "satisfied", "to": "build"},
        {"when": "not_satisfied", "to": "build", "maxTraversals": 2},
    ]
    sockets = {
        "plan": {"materia": "Plan", "edges": [{"to": "build"}]},
        "build": {"materia": "Safe", "parse": "text", "edges": [{"to": "keep"}]},
        "keep": {"materia": "Safe", "parse": "json", "advance": step, "edges": edges},
        "tell": socket(),
    }
    work = {
        "sockets": ["build", "keep"],
        "consumes": {"from": "plan"},
        "exits": [{"from": "keep", "condition": "satisfied", "targetSocketId": "tell"}],
    }
    materia = {
        "Plan": {"prompt": "Plan.", "generator": True, "parallel": True},
        "Safe": {"prompt": "Do it.", "parallelSafe": True},
    }
    streams = [{"name": name, "workItemIndexes": [index]} for index, name in enumerate("ab")]
    items = [{"title": title, "context": "c"} for title in ("Wash", "Dry")]
    plan = {"workItems": items, "parallelSchedule": {"version": 1, "streams": streams}}
    agent = answers(plan=plan, build="built", keep=YES, tell="done")
    editor, result = told(loadout(sockets, loops={"work": work}, materia=materia), tmp_path, agent)
    assert result.status == "complete"
    assert {id_: title for id_, (title, _, _) in editor.calls.items() if id_[1] == "/"} == {
        "a/build/1": "[a] build (Safe): Wash → keep",
        "a/keep/1": "[a] keep (Safe): Wash, satisfied → tell",
        "b/build/1": "[b] build (Safe): Dry → keep",
        "b/keep/1": "[b] keep (Safe): Dry, satisfied → tell",
    }
    assert all(status == "completed" for _, status, _ in editor.calls.values())
    assert editor.said == "builtbuiltdone"


def test_the_past_is_told_as_it_was(tmp_path: Path) -> None:
    agent = answers(
        plan={"workItems": [{"title": "Wash", "context": "c"}]}, build="built", check=YES, tell="done"
    )
    live, result = told(working(), tmp_path, agent)
    again, session = Editor(tmp_path), Session("s", tmp_path, [Offered("L")], None)
    again.updates += session.recall(result.folder)
    assert (again.calls, again.plans, again.said) == (live.calls, live.plans, live.said)
    assert again.typed == ["a request"]
    assert session.loadout == "L"


def test_records_that_are_not_known_are_passed_over() -> None:
    assert list(Telling().tell("new_kind", {})) == []


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ([TextContentBlock(type="text", text=" Tidy up. ")], "Tidy up."),
        ([ImageContentBlock(type="image", data="", mime_type="image/png")], ""),
        (
            [
                TextContentBlock(type="text", text="Look at "),
                ResourceContentBlock(type="resource_link", name="a", uri="file:///shed/a%20b.txt"),
                TextContentBlock(type="text", text=" and "),
                EmbeddedResourceContentBlock(
                    type="resource", resource=TextResourceContents(uri="zed:///rules", text="Be kind.")
                ),
            ],
            "Look at /shed/a b.txt and zed:///rules\n\n## zed:///rules\n\nBe kind.",
        ),
    ],
    ids=["a text", "a picture", "resources"],
)
def test_what_a_prompt_says(prompt: list[Any], text: str) -> None:
    assert blocks.text_of(prompt) == text


def test_without_loadouts_there_is_no_choice(tmp_path: Path) -> None:
    session = Session("s", tmp_path)
    assert (blocks.modes(session), blocks.options(session)) == (None, None)
