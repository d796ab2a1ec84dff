"""What is shown while a cast runs: lines in a pipe, a live view on a terminal, nothing with --json."""

from __future__ import annotations

import io
import json
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from desk import LONG_S, Desk, Ran
from rich.console import Console
from wcwidth import wcswidth

from materiac.cli.live_view import LiveView
from materiac.cli.news import Doing, Finished, News, Started, Teller, words
from materiac.program import Agent, Edge, Materia, Program, Socket, Utility
from materiac.runtime.journal import Record

ITEMS = [{"title": "Wash the car", "context": "x"}, {"title": "Dry the car", "context": "x"}]

PROGRAM = Program(
    name="Trial",
    entry="build",
    sockets={"build": Socket("build", "Build", "json", edges=(Edge("always", "check"),))},
    materia={
        "Build": Materia("Build", "Build", agent=Agent("build")),
        "Detect": Materia("Detect", "Detect", utility=Utility(builtin="vcs.detect")),
    },
)
BUILD = {"socket": "build", "materia": "Build", "visit": 2, "itemKey": "WI-1", "itemLabel": "Wash the car"}
PLAN = {"socket": "plan", "materia": "Plan", "visit": 1, "itemKey": None, "itemLabel": None}
FAILURE = {"kind": "stalled", "message": "3 cycles", "socket": "build", "visit": None, "item": None}


def tell(*records: tuple[str, dict[str, Any]]) -> list[str | None]:
    teller, news = Teller(PROGRAM), list[News]()
    for n, (kind, fields) in enumerate(records, 1):
        news += teller.tell(Record(n, "2031-05-04T10:20:30Z", kind, fields), n * 2.0)
    return [words(part) for part in news]


@pytest.mark.parametrize(
    ("kind", "fields", "expected"),
    [
        ("cast_started", {"castId": "c1", "agent": "ask"}, ["agent      ask\ncast       c1"]),
        ("socket_started", BUILD, ["build (Build) WI-1 'Wash the car' …"]),
        ("socket_started", PLAN, ["plan (Plan) …"]),
        ("loop_skipped", {"socket": "build", "to": "end"}, ["build has no item → end"]),
        (
            "socket_failed",
            {"failure": FAILURE, "files": []},
            ["build failed, stalled: 3 cycles"],
        ),
        (
            "socket_failed",
            {**BUILD, "failure": FAILURE},
            ["build (Build) WI-1 'Wash the car' failed, stalled: 3 cycles"],
        ),
        ("socket_waits", {**PLAN, "message": "for a person"}, ["plan (Plan) waits: for a person"]),
        (
            "event",
            {**PLAN, "event": {"type": "a.b", "severity": "warning", "message": "half\ndone"}},
            ["plan sends the event 'a.b' (warning): half done"],
        ),
        ("event", {**PLAN, "event": {"type": "a.b", "payload": 1}}, ["plan sends the event 'a.b'"]),
        (
            "handoff_field_dropped",
            {**BUILD, "fields": ["summary", "a\x1b[31m"]},
            ["build: dropped from its answer: 'summary', 'a␛[31m'"],
        ),
        (
            "handoff_field_dropped",
            {**BUILD, "fields": [f"f{n}" for n in range(12)]},
            ["build: dropped from its answer: " + ", ".join(f"'f{n}'" for n in range(10)) + " and 2 more"],
        ),
        ("handoff_field_dropped", {**PLAN, "materia": "Detect", "fields": ["kind"]}, []),
        ("state_field_dropped", {**BUILD, "fields": ["item"]}, ["build: dropped from its state: 'item'"]),
        (
            "output_cut",
            {**PLAN, "bytes": 12345, "kept": 1000},
            ["plan: the output was cut, 1,000 of 12,345 bytes are kept"],
        ),
        ("budget_warning", {**PLAN, "message": "80 %"}, ["budget: 80 %"]),
        (
            "answer_shown",
            {**PLAN, "text": "\n# Plan\n\n\tfirst\x07\n", "length": 16, "file": "sockets/plan/1.json"},
            ["plan (Plan) says:\n  # Plan\n\n      first␇"],
        ),
        (
            "answer_shown",
            {**PLAN, "text": "abc", "length": 5000, "file": "sockets/plan/1.json"},
            ["plan (Plan) says:\n  abc\n  … 5,000 characters in all, in sockets/plan/1.json"],
        ),
        ("cast_finished", {"status": "complete"}, []),
        ("something_new", {}, []),
    ],
)
def test_a_record_in_words(kind: str, fields: dict[str, Any], expected: list[str]) -> None:
    assert tell((kind, fields)) == expected


def ended(verdict: bool | None, to: str, blocked: str | None = None) -> tuple[str, dict[str, Any]]:
    route = {"kind": "edge", "to": to, "when": "always", "edge": 0}
    return "socket_finished", {**BUILD, "verdict": verdict, "route": route, "blocked": blocked}


def test_attempts_are_counted_for_each_item() -> None:
    start = ("socket_started", BUILD)
    other = ("socket_started", {**BUILD, "itemKey": "WI-2", "itemLabel": "WI-2"})
    assert tell(
        start, ended(None, "check"), start, ended(False, "build"), other, ended(True, "end", "limit")
    ) == [
        "build (Build) WI-1 'Wash the car' …",
        "build (Build) WI-1 'Wash the car' → check  (2.0 s)",
        "build (Build) WI-1 'Wash the car', attempt 2 …",
        "build (Build) WI-1 'Wash the car', attempt 2 not satisfied → build  (2.0 s)",
        "build (Build) WI-2 …",
        "build (Build) WI-2 satisfied → end (not taken)  (2.0 s)",
    ]


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.04, "0.0 s"), (9.94, "9.9 s"), (9.96, "10 s"), (59.6, "1:00"), (65, "1:05"), (7209, "2:00:09")],
)
def test_how_long_a_visit_took(seconds: float, shown: str) -> None:
    assert words(Finished(Started("plan", 1, 0.0), "→ end", seconds)) == f"plan → end  ({shown})"


@pytest.mark.parametrize("character", [*map(chr, (*range(32), 0x7F, 0x9B, 0x85, 0x202E, 0x2028, 0xD800))])
def test_nothing_that_is_told_controls_a_terminal(character: str) -> None:
    nasty = f"a{character}b"
    place = {"socket": nasty, "materia": "Build", "visit": 1, "itemKey": nasty, "itemLabel": nasty * 2}
    shown = tell(
        ("cast_started", {"castId": nasty, "agent": nasty}),
        ("socket_started", place),
        ended(True, nasty),
        ("socket_failed", {**place, "failure": {**FAILURE, "socket": nasty, "message": nasty}}),
        ("socket_waits", {**place, "message": nasty}),
        ("loop_skipped", {"socket": nasty, "to": nasty}),
        ("event", {**place, "event": {"type": nasty, "message": nasty}}),
        ("handoff_field_dropped", {**place, "fields": [nasty]}),
        ("answer_shown", {**place, "text": nasty, "length": 99, "file": nasty}),
        ("budget_warning", {**place, "message": nasty}),
    )
    assert len(shown) == 10
    text = "".join(part or "" for part in shown).replace("\n", "")
    assert text.isprintable()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return car_wash(tmp_path)


ONCE_MORE = "echo >> builds; [ $(wc -l < builds) != 2 ] || until [ -e go ]; do sleep 0.05; done"


def car_wash(folder: Path) -> Desk:
    """Two items, the first of which goes back once; a text, an event, a dropped field, a budget.

    The second visit of `build` waits for the file `go`.
    """
    desk = Desk(folder)
    work = {
        "sockets": ["build", "check"],
        "consumes": {"from": "plan"},
        "exits": [{"from": "check", "targetSocketId": "tell"}],
    }
    again = {"when": "not_satisfied", "to": "build", "maxTraversals": 3}
    desk.loadout(
        {
            "plan": {"materia": "Plan", "edges": [{"to": "build"}]},
            "build": {"materia": "Build", "edges": [{"to": "check"}]},
            "check": {
                "materia": "Check",
                "edges": [again, {"when": "satisfied", "to": "build"}],
                "advance": {"cursor": "workItemIndex", "items": "state.workItems", "when": "satisfied"},
            },
            "tell": {"materia": "Tell"},
        },
        {
            "Plan": {"prompt": "plan", "generator": True},
            "Build": {"command": ["sh", "-c", ONCE_MORE]},
            "Check": {"prompt": "check", "parse": "json"},
            "Tell": {"prompt": "tell"},
        },
        loops={"work": work},
        budget={"maxTokens": 500, "warnAtPercent": 40},
    )
    use = {"input": 90, "output": 10, "cost": 0.01}
    dull = {"satisfied": False, "context": "dull", "summary": "no shine"}
    desk.answers(
        plan={"json": {"workItems": ITEMS, "text": "Two [bold]items[/bold].\nOne car."}, "usage": use},
        check={
            "WI-1": [{"json": dull, "usage": use}, {"json": {"satisfied": True}, "usage": use}],
            "WI-2": [{"json": {"satisfied": True, "event": [{"type": "car.dry"}]}, "usage": use}],
        },
        tell={"text": "the car shines", "usage": use},
    )
    desk.write("go", True)
    return desk


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Desk, Ran]:
    desk = car_wash(tmp_path_factory.mktemp("car-wash"))
    return desk, desk.run()


def test_lines_in_a_pipe(done: tuple[Desk, Ran]) -> None:
    desk, ran = done
    assert ran.code == 0
    assert "\x1b" not in ran.err
    lines = [re.sub(r"  \([0-9.]+ s\)$", "", line) for line in ran.err.splitlines()]
    assert [line.split()[0] for line in lines[:6]] == [
        "materiac", "loadout", "read", "artifacts", "agent", "cast",
    ]  # fmt: skip
    assert re.fullmatch(r"loadout    Trial, hash [0-9a-f]{12}", lines[1])
    assert re.fullmatch(r"read       \d+ bundled files, loadout.json", lines[2])
    assert lines[3] == f"artifacts  {desk.files}"
    assert lines[4] == "agent      scripted:answers.json"
    assert lines[5].removeprefix("cast       ") == next(desk.files.iterdir()).name
    assert lines[6:] == [
        "plan (Plan) …",
        "plan (Plan) says:",
        "  Two [bold]items[/bold].",
        "  One car.",
        "plan (Plan) → build",
        "build (Build) WI-1 'Wash the car' …",
        "build (Build) WI-1 'Wash the car' → check",
        "check (Check) WI-1 'Wash the car' …",
        "check: dropped from its answer: 'summary'",
        "check (Check) WI-1 'Wash the car' not satisfied → build",
        "budget: 200 tokens have been used, 40 % of the budget of 500 tokens",
        "build (Build) WI-1 'Wash the car', attempt 2 …",
        "build (Build) WI-1 'Wash the car', attempt 2 → check",
        "check (Check) WI-1 'Wash the car', attempt 2 …",
        "check (Check) WI-1 'Wash the car', attempt 2 satisfied → build",
        "build (Build) WI-2 'Dry the car' …",
        "build (Build) WI-2 'Dry the car' → check",
        "check (Check) WI-2 'Dry the car' …",
        "check sends the event 'car.dry'",
        "check (Check) WI-2 'Dry the car' satisfied → tell",
        "tell (Tell) …",
        "tell (Tell) → end",
    ]


def test_what_is_shown_is_in_the_journal(done: tuple[Desk, Ran]) -> None:
    [shown] = [record for record in done[0].records() if record["type"] == "answer_shown"]
    assert shown["text"] == "Two [bold]items[/bold].\nOne car."
    assert (shown["length"], shown["file"]) == (len(shown["text"]), "sockets/plan/1.json")
    assert shown["socket"] == "plan"


def says(folder: Path, output: dict[str, Any]) -> Desk:
    """A loadout of one utility, which prints an object."""
    desk = Desk(folder)
    desk.write("output.json", output)
    desk.loadout(
        {"tell": {"materia": "Tell"}}, {"Tell": {"command": ["cat", "output.json"], "parse": "json"}}
    )
    return desk


def test_a_long_text_is_cut_in_the_journal(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    desk = says(tmp_path, {"text": "ab" * 5000})
    ran = desk.run_here(capfd)
    [shown] = [record for record in desk.records() if record["type"] == "answer_shown"]
    assert (len(shown["text"]), shown["length"]) == (4000, 10000)
    assert "… 10,000 characters in all, in sockets/tell/1.json" in ran.err


def test_with_json_nothing_else_is_written(desk: Desk) -> None:
    ran = desk.run("--json")
    assert ran.err == ""
    assert json.loads(ran.out)["status"] == "complete"


def test_a_live_view_on_a_terminal(desk: Desk) -> None:
    (desk.folder / "go").unlink()
    with desk.terminal() as terminal:
        terminal.until(
            lambda: bool(
                re.search(r"> 0:0\d build \(Build\) WI-1 'Wash the car' +attempt 2 …", terminal.text)
            )
        )
        assert re.search(r"\d s +plan \(Plan\) +→ build +\n", terminal.text)
        assert re.search(
            r"\d s +check \(Check\) WI-1 'Wash the car' +not satisfied → build *\n", terminal.text
        )
        assert " · 200 tokens (180 in, 20 out) · $0.0200\n! budget: 200 tokens have been" in terminal.text
        desk.write("go", True)
        assert terminal.code() == 0
    assert "\n  Two [bold]items[/bold].\n" in terminal.text
    assert "check: dropped from its answer: 'summary'\n" in terminal.text
    shown = terminal.shown
    assert "\x1b[33mbudget: " in shown
    assert 0 < shown.rindex("\x1b[?25l") < shown.rindex("\x1b[?25h") < shown.rindex("complete")


def test_time_goes_by_while_a_socket_runs(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.loadout({"wait": {"materia": "Wait"}}, {"Wait": {"command": ["sleep", "1.4"]}})
    with desk.terminal() as terminal:
        terminal.until_shown("> 0:01 wait (Wait)")
        assert "> 0:00 wait (Wait)" in terminal.text
        assert terminal.code() == 0


@pytest.mark.parametrize(("rows", "columns"), [(5, 20), (24, 200)])
def test_the_view_fits_the_terminal(desk: Desk, rows: int, columns: int) -> None:
    (desk.folder / "go").unlink()
    with desk.terminal(rows=rows, columns=columns) as terminal:
        terminal.until(lambda: bool(re.search(r"0:0\d.*! budget", terminal.text, re.DOTALL)))
        desk.write("go", True)
        assert terminal.code() == 0
    live = terminal.shown[terminal.shown.index("\x1b[?25l") : terminal.shown.rindex("\x1b[?25h")]
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", live)
    assert max(wcswidth(line) for line in re.split(r"[\r\n]+", plain)) <= columns
    climbs = re.findall(r"(?:\x1b\[1A\x1b\[2K)+", live)
    assert 1 < max(climb.count("A") for climb in climbs) < rows


def test_lines_on_a_terminal_that_can_do_no_more(desk: Desk) -> None:
    with desk.terminal(env={"TERM": "dumb"}) as terminal:
        assert terminal.code() == 0
    assert "\x1b" not in terminal.shown
    assert "build (Build) WI-1 'Wash the car', attempt 2 …\n" in terminal.text


def test_no_color_is_honoured(desk: Desk) -> None:
    with desk.terminal(env={"NO_COLOR": "1"}) as terminal:
        assert terminal.code() == 0
    assert "\x1b[1mcomplete" in terminal.shown
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", terminal.shown)


def talking(tmp_path: Path) -> Desk:
    desk = Desk(tmp_path)
    desk.loadout({"plan": {"materia": "Plan"}}, {"Plan": {"prompt": "plan", "multiTurn": True}})
    desk.answers(plan=["Which car?", "The red one, then.", "the red car"])
    return desk


def test_the_view_is_away_while_a_person_types(tmp_path: Path) -> None:
    with talking(tmp_path).terminal() as terminal:
        terminal.until_shown("your reply, or /continue for the final form> ")
        assert terminal.shown.rindex("\x1b[?25h") > terminal.shown.rindex("\x1b[?25l")
        before = terminal.shown
        terminal.listen(0.8)
        assert terminal.shown == before
        terminal.type("the red one\n")
        terminal.until(lambda: terminal.text.count("final form> ") == 2)
        terminal.type("/continue\n")
        assert terminal.code() == 0
    assert "The red one, then." in terminal.text
    assert "answer     the red car" in terminal.text


def test_a_person_as_the_agent_has_lines(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.loadout({"plan": {"materia": "Plan"}}, {"Plan": {"prompt": "Which car?"}})
    with desk.terminal("--agent", "ask") as terminal:
        terminal.until_shown("'.' alone ends it")
        assert "\x1b[?25l" not in terminal.shown
        assert "plan (Plan) …\n" in terminal.text
        terminal.type("the red one\n.\n")
        assert terminal.code() == 0


def noisy(folder: Path) -> Desk:
    """More to say than a pipe holds."""
    return says(folder, {"event": [{"type": "a.b", "message": "x" * 400} for _ in range(400)]})


def test_who_does_not_read_holds_nothing_up(tmp_path: Path) -> None:
    desk = noisy(tmp_path)
    with subprocess.Popen(
        desk.words(), cwd=tmp_path, env=desk.environ(None), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        began = time.monotonic()
        assert process.wait(timeout=LONG_S) == 0
        assert time.monotonic() - began < LONG_S / 2
        assert process.stdout is not None
        assert process.stdout.read().startswith(b"complete")


def test_who_reads_gets_all(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert noisy(tmp_path).run_here(capfd).err.count("sends the event 'a.b'") == 400


@pytest.mark.parametrize(("closed", "code"), [("2>&-", 0), ("2>/dev/full", 0), (">&-", 0), (">/dev/full", 3)])
def test_a_stream_that_takes_nothing_ends_no_cast(tmp_path: Path, closed: str, code: int) -> None:
    desk = says(tmp_path, {"context": "clean"})
    done = subprocess.run(
        ["bash", "-c", f'"$@" {closed}', "bash", *desk.words()],
        cwd=tmp_path,
        env=desk.environ(None),
        capture_output=True,
        timeout=LONG_S,
        check=False,
    )
    assert done.returncode == code
    assert b"fault" not in done.stderr + done.stdout
    assert (b"cannot be written: No space left" in done.stderr) == (code == 3)
    assert desk.records()[-1]["status"] == "complete"


def test_what_an_agent_does_is_shown_beside_its_visit() -> None:
    view = LiveView(io.StringIO(), 0.0)
    for news in (Started("build (Builder)", 2, 0.0), Doing(None, "tool: write a.txt")):
        view.take(news)
    console = Console(file=io.StringIO(), width=100, record=True)
    console.print(view._picture(1.0))
    shown = console.export_text()
    assert "build (Builder) attempt 2 … tool: write a.txt" in shown
    view.take(Started("check (Checker)", 1, 2.0))
    console.print(view._picture(3.0))
    assert "write a.txt" not in console.export_text()
