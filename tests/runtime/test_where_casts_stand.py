"""Where casts stand, and that going on with another definition is refused there and nowhere else."""

from __future__ import annotations

import functools
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from samples import FEATURES, Json, answers, cast, compiled, loadout, socket, working

from materiac.agents.protocol import Agent
from materiac.comparison import compare
from materiac.program import Image, Program
from materiac.reach import reach
from materiac.runtime.journal import read
from materiac.runtime.replay import replay
from materiac.runtime.resume import Allowed, ResumeError, Resumption, resume
from materiac.runtime.standing import Standing, lacking, standing, standings
from materiac.runtime.visit import VisitWaits

YES, NO = {"satisfied": True}, {"satisfied": False, "context": "not yet"}
ITEMS = [{"title": name, "context": "c"} for name in ("one", "two")]


def streams() -> Json:
    """A plan in streams, each with a socket before the loop."""
    config = working(check={"parse": "json"})
    spec = config["loadouts"]["L"]
    spec["sockets"]["plan"] = {"materia": "Split", "edges": [{"to": "begin"}]}
    spec["sockets"]["begin"] = {"materia": "Safe", "edges": [{"to": "build"}]}
    for name in ("build", "check"):
        spec["sockets"][name]["materia"] = "Safe"
    split = {"prompt": "Split it.", "generator": True, "parallel": True}
    config["materia"] |= {"Split": split, "Safe": {"prompt": "Do it.", "parallelSafe": True}}
    return config


def split_up(*streams_: list[int]) -> Json:
    schedule = [{"name": f"t{n}", "workItemIndexes": part} for n, part in enumerate(streams_)]
    return {"workItems": ITEMS, "parallelSchedule": {"version": 1, "streams": schedule}}


def skipping() -> Json:
    """A loop that is found empty, and a socket behind it."""
    config = working()
    config["loadouts"]["L"]["sockets"]["tell"]["edges"] = [{"to": "last"}]
    config["loadouts"]["L"]["sockets"]["last"] = socket()
    return config


def asking() -> Json:
    """A loop that is left for help, and come back to, at the same item."""
    config = working()
    spec = config["loadouts"]["L"]
    spec["sockets"]["check"]["edges"][1]["to"] = "help"
    spec["sockets"]["help"] = socket(edges=[{"to": "build"}])
    return config


def talk() -> Json:
    sockets = {"plan": {"materia": "Talk", "edges": [{"to": "tell"}]}, "tell": socket()}
    return loadout(sockets, materia={"Talk": {"prompt": "Talk.", "multiTurn": True}})


Case = tuple[Json, Callable[[], Agent]]
CASES: dict[str, Case] = {
    "loop": (working(), lambda: answers(plan={"workItems": ITEMS}, check=[NO, YES, YES])),
    "failing": (working(), lambda: answers(plan={"workItems": ITEMS}, check=[NO])),
    "skipping": (skipping(), lambda: answers(plan={"workItems": []})),
    "asking": (asking(), lambda: answers(plan={"workItems": ITEMS}, check=[YES, NO, YES])),
    "streams": (streams(), lambda: answers(plan=split_up([0], [1]), check=YES)),
    "failing streams": (streams(), lambda: answers(plan=split_up([0], [1]), check=NO)),
    "no streams": (streams(), lambda: answers(plan={**split_up(), "workItems": []})),
    "talk": (talk(), lambda: answers(plan=["one", "two", "final"])),
}
EACH = 4
"""Of so many edits one is tried at each place."""
RENAMED = ("plan", "build", "check", "tell", "last", "begin", "work")


def renamed(name: str) -> Callable[[Json], Json]:
    def edit(config: Json) -> Json:
        changed: Json = json.loads(json.dumps(config).replace(f'"{name}"', f'"{name}2"'))
        return changed

    return edit


def without_build(config: Json) -> Json:
    """The loop with one socket less, which is passed before it; a parallel loop stays as it is."""
    spec = config["loadouts"]["L"]
    if "work" in spec.get("loops", {}) and "Split" not in config["materia"]:
        spec["loops"]["work"]["sockets"] = ["check"]
        spec["sockets"]["check"]["edges"][0]["to"] = "check"
    return config


def without_streams(config: Json) -> Json:
    del config["materia"]["Split"]["parallel"]
    return config


def of_another_cursor(config: Json) -> Json:
    spec = config["loadouts"]["L"]
    if "work" in spec.get("loops", {}):
        spec["loops"]["work"]["iterator"] = {"items": "state.workItems", "cursor": "at", "as": "workItem"}
        spec["sockets"]["check"]["advance"]["cursor"] = "at"
    return config


def of_other_prompts(config: Json) -> Json:
    for materia in config["materia"].values():
        materia["prompt"] += " Well."
    return config


def of_utilities(config: Json) -> Json:
    for name, part in list(config["loadouts"]["L"]["sockets"].items()):
        if part["materia"] in ("Agent", "Talk"):
            config["loadouts"]["L"]["sockets"][name] = part | {"materia": "Echo"}
    config["materia"]["Echo"] = {"utility": "echo", "params": {"output": YES}}
    return config


EDITS: dict[str, Callable[[Json], Json]] = {
    **{f"another '{name}'": renamed(name) for name in RENAMED},
    "without streams": without_streams,
    "without 'build' in the loop": without_build,
    "another cursor": of_another_cursor,
    "other prompts": of_other_prompts,
    "utilities": of_utilities,
}


class Silent:
    """A person who has nothing to say, and ends every talk."""

    def say(self, answer: str) -> str | None:
        del answer
        return None


class Away:
    def say(self, answer: str) -> str | None:
        raise VisitWaits(f"nobody hears {answer}")


@functools.cache
def edited(case: str) -> list[tuple[str, Image]]:
    """Every edit that changes the meaning of a case."""
    config, _ = CASES[case]
    names = [name for name in EDITS if name != "without streams" or "Split" in config["materia"]]
    images = [(name, compiled(EDITS[name](json.loads(json.dumps(config))))) for name in names]
    before = compiled(config).program.digest()
    return [(name, image) for name, image in images if image.program.digest() != before]


def cuts(folder: Path) -> Iterator[int]:
    """After which lines of a journal it is cut: each but the last one of a cast that is complete."""
    lines = (folder / "events.jsonl").read_bytes().splitlines()
    complete = json.loads(lines[-1]).get("status") == "complete"
    yield from range(1, len(lines) + (not complete))


def trials(case: str, folder: Path) -> Iterator[tuple[int, str, Image]]:
    """Where a journal is cut, and with which edits it is gone on with there: some of them, in turn."""
    for length in cuts(folder):
        yield from ((length, *edit) for edit in edited(case)[length % EACH :: EACH])


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_it_is_refused_where_something_is_lacking_and_nowhere_else(case: str, tmp_path: Path) -> None:
    config, agent = CASES[case]
    old = compiled(config).program
    whole = cast(config, tmp_path, agent(), person=Away())
    everywhere = set(standings(old, reach(old).sockets))
    seen = set[bool]()
    for length, name, other in trials(case, whole.folder):
        folder = tmp_path / f"{length} {name}"
        shutil.copytree(whole.folder, folder)
        cut(folder, length)
        at = standing(read(folder / "events.jsonl").records, {"machine.json": old})
        assert at.socket == "end" or each(at) <= everywhere, at
        expected = lacking(at, old, other.program)
        told = [broken.why for broken in compare(old, other.program).breaks]
        assert expected in (None, *told) if not at.has_answer else expected is None or told
        assert refusal(folder, agent(), other) == expected, (length, name)
        seen.add(expected is None)
    assert seen == {True, False}


def cut(folder: Path, length: int) -> None:
    path = folder / "events.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:length]))


def each(at: Standing) -> set[Standing]:
    """The places of several streams, one at a time; an answer leads to a place that is asked for too."""
    at = replace(at, has_answer=False, loops=())
    return {replace(at, streams=(id_,)) for id_ in at.streams} or {at}


def refusal(folder: Path, agent: Agent, other: Image) -> str | None:
    """Why a cast does not go on; then nothing was changed."""
    before = (folder / "events.jsonl").read_bytes()
    allowed = Allowed(edge=True, retry=True, rerun=True, change=True)
    try:
        resume(Resumption(folder, agent, {}, other, allowed, person=Silent()))
    except ResumeError as error:
        assert (folder / "events.jsonl").read_bytes() == before
        return str(error)
    assert replay(folder).status in ("complete", "failed")
    return None


def program_of(edit: Callable[[Json], Json] | None = None) -> Program:
    config = streams()
    return compiled(edit(config) if edit else config).program


@pytest.mark.parametrize(
    ("at", "edit", "expected"),
    [
        pytest.param(Standing("end"), renamed("tell"), None, id="end"),
        pytest.param(Standing("tell"), renamed("plan"), None, id="there"),
        pytest.param(
            Standing("tell"),
            renamed("tell"),
            "the cast stands at 'tell', which its new definition does not have",
            id="gone",
        ),
        pytest.param(Standing("plan", in_region=True), renamed("build"), None, id="streams-to-begin"),
        pytest.param(
            Standing("plan", in_region=True),
            without_streams,
            "the cast runs the streams of 'plan', of which its new definition makes none",
            id="no-streams",
        ),
        pytest.param(
            Standing("plan", in_region=True, streams=("check", "build")),
            renamed("build"),
            "the cast stands at 'build', which its new definition does not have",
            id="gone-in-a-stream",
        ),
        pytest.param(
            Standing("plan", in_region=True, streams=("build",)),
            renamed("work"),
            "the cast runs the streams of 'plan' through loop 'work', its new definition through 'work2'",
            id="another-loop",
        ),
    ],
)
def test_what_is_lacking(at: Standing, edit: Any, expected: str | None) -> None:
    assert lacking(at, program_of(), program_of(edit)) == expected


def test_a_socket_of_streams_that_is_not_in_the_loop_any_more() -> None:
    config = streams()
    spec = config["loadouts"]["L"]
    spec["sockets"]["begin"] = {**spec["sockets"]["begin"], "edges": [{"to": "build"}]}
    spec["loops"]["work"]["sockets"] = ["check"]
    spec["sockets"]["check"]["edges"][0]["to"] = "check"
    spec["sockets"]["check"]["edges"][1]["to"] = "check"
    at = Standing("plan", in_region=True, streams=("build",))
    words = "a stream of 'plan' stands at 'build', which its new definition takes out of loop 'work'"
    assert lacking(at, program_of(), compiled(config).program) == words


LOOP = "the cast goes through loop 'work', which its new definition does not have"
OUT = "'build', which its new definition takes out of loop 'work'"


@pytest.mark.parametrize(
    ("at", "edit", "expected"),
    [
        pytest.param(Standing("build"), renamed("work"), LOOP, id="in-a-loop-of-another-name"),
        pytest.param(Standing("help", loops=("work",)), renamed("work"), LOOP, id="outside-of-it"),
        pytest.param(Standing("help"), renamed("work"), None, id="not-under-way"),
        pytest.param(Standing("tell"), renamed("work"), None, id="behind-it"),
        pytest.param(Standing("build"), of_another_cursor, None, id="another-cursor"),
        pytest.param(Standing("build"), without_build, f"the cast stands at {OUT}", id="out-of-the-loop"),
        pytest.param(Standing("check"), without_build, None, id="still-in-the-loop"),
        pytest.param(
            Standing("plan", has_answer=True),
            without_build,
            f"the cast has the answer of 'plan', which may lead it to {OUT}",
            id="on-the-way",
        ),
        pytest.param(Standing("end", loops=("work",)), renamed("work"), None, id="at-the-end"),
    ],
)
def test_loops_that_are_lacking(at: Standing, edit: Any, expected: str | None) -> None:
    assert lacking(at, compiled(asking()).program, compiled(edit(asking())).program) == expected


def test_a_socket_that_is_no_loop_of_its_own_any_more() -> None:
    old = compiled(FEATURES["foreach"]).program
    alone = json.loads(json.dumps(FEATURES["foreach"]))
    each = alone["loadouts"]["L"]["sockets"]["each"]
    del each["foreach"], each["advance"]
    each["edges"] = [{"to": "tell"}]
    new = compiled(alone).program
    words = "the cast goes through the items of 'each', which its new definition does not"
    assert lacking(Standing("each"), old, new) == words
    assert lacking(Standing("tell"), old, new) is None
    assert lacking(Standing("each"), new, old) is None


def test_a_socket_that_streams_pass_no_more() -> None:
    config = streams()
    config["loadouts"]["L"]["sockets"]["plan"]["edges"] = [{"to": "build"}]
    config["loadouts"]["L"]["sockets"]["tell"]["edges"] = [{"to": "begin"}]
    config["loadouts"]["L"]["sockets"]["begin"] = socket()
    at = Standing("plan", in_region=True, streams=("begin",))
    words = "a stream of 'plan' stands at 'begin', which is in none of its new definition"
    assert lacking(at, program_of(), compiled(config).program) == words


def test_all_places() -> None:
    program = program_of()
    found = [str(at) for at in standings(program, reach(program).sockets)]
    assert found == [
        "at 'plan'",
        "in the streams of 'plan'",
        "in the streams of 'plan', at 'begin'",
        "in the streams of 'plan', at 'build'",
        "in the streams of 'plan', at 'check'",
        "at 'tell'",
    ]
