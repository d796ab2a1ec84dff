"""Talks with agents: `say` and `continue` over several processes, and in place at a terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from going import Going, safe

pytestmark = pytest.mark.slow


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Going:
    """An agent that one can talk with, and one that comes after it."""
    desk = Going(tmp_path, capsys)
    sockets = {"plan": {"materia": "Plan", "edges": [{"to": "do"}]}, "do": {"materia": "Do"}}
    desk.loadout(sockets, {"Plan": {"prompt": "Plan it.", "multiTurn": True}, "Do": {"prompt": "Do it."}})
    desk.answers(plan=["Which car?", "And the \x1b[31mwheels?", "The plan."], do="It is done.")
    return desk


def files(desk: Going, name: str) -> str:
    return (desk.cast / name).read_text(encoding="utf-8")


def test_a_talk_over_several_processes(desk: Going) -> None:
    waiting = desk.run()
    assert waiting.code == 4
    assert "waiting    'plan' waits for a person: Which car?" in waiting.out
    said = desk.really("say", desk.cast.name, "the red one")
    assert said.code == 4
    assert "waiting    'plan' waits for a person: And the ␛[31mwheels?" in said.out
    again = desk.really("say", desk.cast.name[:13], "-", typed=b"them too,\nbut with care\n")
    assert "waits for a person: The plan." in again.out
    done = desk.really("continue", "--json")
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out)["path"] == ["plan", "do"]
    assert [record["turn"] for record in desk.kinds("turn_finished")] == [1, 2, 3, 4, 1]
    prompt = files(desk, "contexts/plan/1.turn-3.md")
    assert [part in prompt for part in ("Plan it.", "Which car?", "the red one", "but with care")] == [
        True
    ] * 4
    assert desk.go("replay").code == 0


def test_the_answer_is_shown_in_full_where_the_cast_waits(desk: Going) -> None:
    desk.answers(plan=["one\n  two\nthree", "four"])
    desk.begin()
    desk.swap("answers.json", "four", "five\\nsix")
    said = desk.go("say", desk.cast.name, "go on")
    assert "answer     five\n           six\n" in said.out


def test_the_final_form_is_asked_for_at_once(desk: Going) -> None:
    desk.begin()
    done = desk.go("continue")
    assert done.code == 0
    assert "answer     It is done.\n" in done.out
    assert "give your final" in files(desk, "contexts/plan/1.turn-2.md").lower()


@pytest.mark.parametrize("words", ["", "  \n ", "-"])
def test_nothing_to_say(desk: Going, words: str) -> None:
    desk.begin()
    before = (desk.cast / "events.jsonl").read_bytes()
    refused = desk.really("say", desk.cast.name, words)
    assert (refused.code, refused.err) == (2, "materiac: there is nothing to say\n")
    assert (desk.cast / "events.jsonl").read_bytes() == before


def test_words_that_are_no_text(desk: Going) -> None:
    desk.begin()
    assert desk.really("say", desk.cast.name, "-", typed=b"caf\xe9 \xed\xa0\x80\0\n").code == 4
    assert "caf\ufffd" in files(desk, "contexts/plan/1.turn-2.md")


@pytest.mark.parametrize(
    ("answer", "now"),
    [({"text": "over"}, "is complete"), ({"error": "down"}, "has failed")],
    ids=["complete", "failed"],
)
@pytest.mark.parametrize("command", ["say", "continue"])
def test_a_cast_that_does_not_wait(desk: Going, command: str, answer: dict[str, str], now: str) -> None:
    desk.loadout({"do": {"materia": "Do"}}, {"Do": {"prompt": "Do it."}})
    desk.answers(do=answer)
    desk.begin()
    refused = desk.go(command, desk.cast.name, *(["hello"] if command == "say" else []))
    assert refused.code == 2
    assert refused.err == f"materiac: the cast does not wait for a person: it {now}\n"


def test_resume_alone_says_how_to_answer(desk: Going) -> None:
    desk.begin()
    before = (desk.cast / "events.jsonl").read_bytes()
    refused = desk.go("resume", "--no-interactive")
    assert refused.code == 4
    assert "`materiac say` answers, `materiac continue` ends the talk" in refused.err
    assert (desk.cast / "events.jsonl").read_bytes() == before


def test_a_changed_loadout_is_said_before_a_word_is(desk: Going) -> None:
    desk.begin()
    desk.swap("loadout.json", "Do it.", "Do it well.")
    assert desk.go("say", desk.cast.name, "hello").code == 2
    assert desk.kinds("person_said") == []
    assert desk.go("say", desk.cast.name, "hello", "--accept-change").code == 4
    assert desk.go("continue", "--stored").code == 0
    assert files(desk, "contexts/do/1.md").startswith("Do it well.")


# At a terminal


def test_a_run_is_a_talk_in_place(desk: Going) -> None:
    with desk.terminal() as terminal:
        terminal.until_shown("Which car?")
        terminal.until_shown("for the final form>")
        terminal.type("the red one\n")
        terminal.until_shown("wheels?")
        terminal.type("/continue\n")
        assert terminal.code() == 0
    assert "\x1b[31m" not in terminal.shown
    assert "␛[31mwheels?" in terminal.text
    assert "complete   after 2 visits" in terminal.text


@pytest.mark.parametrize("options", [[], ["--interactive"]], ids=["by itself", "interactive"])
def test_a_talk_goes_on_in_place(desk: Going, options: list[str]) -> None:
    desk.begin()
    with desk.terminal(call=["resume", *options]) as terminal:
        terminal.until_shown("goes on    after 1 visit")
        terminal.until_shown("Which car?")
        terminal.until_shown("for the final form>")
        terminal.type("the red one\n")
        terminal.until_shown("wheels?")
        terminal.type("/continue\n")
        assert terminal.code() == 0
    assert "path       plan → do" in terminal.text
    assert [record["turn"] for record in desk.kinds("turn_finished")] == [1, 2, 3, 1]


def test_who_leaves_the_terminal_may_come_back(desk: Going) -> None:
    with desk.terminal() as terminal:
        terminal.until_shown("for the final form>")
        terminal.type("\x04")
        assert terminal.code() == 4
    with desk.terminal(call=["resume"]) as terminal:
        terminal.until_shown("for the final form>")
        terminal.type("\x03")
        assert terminal.code() == 4
    assert desk.records()[-1]["status"] == "stopped"
    assert desk.go("resume").code == 4
    assert desk.go("continue").code == 0


def test_words_through_a_pipe(desk: Going) -> None:
    desk.begin()
    done = safe(desk.call("resume", "--interactive", typed=b"the red one\n/continue\n"))
    assert done.code == 0
    assert "Which car?" in done.err
