"""In which loadout of a file that changed a cast goes on, and that `diff --breaking` says the same."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from going import Going

Json = dict[str, Any]


def spec(*sockets: str, **rest: str) -> Json:
    ways = zip(sockets, (*sockets[1:], "end"), strict=True)
    parts = {id_: {"materia": "Agent", "edges": [{"to": to}]} for id_, to in ways}
    return {"entry": sockets[0], "sockets": parts, **rest}


WASH, IRON, SHORT = spec("soap", "dry"), spec("heat", "iron"), spec("soap")
NAMED = spec("soap", "dry", id="w-2")
MATERIA = {"Agent": {"prompt": "Do it."}}


def file(active: str | None = None, **loadouts: Json) -> Json:
    chosen = {} if active is None else {"activeLoadout": active}
    return {**chosen, "loadouts": loadouts, "materia": MATERIA} if loadouts else {"materia": MATERIA}


ONE, BOTH, IDS = file(L=WASH), file("M", L=WASH, M=IRON), file("M", L=NAMED, M=IRON)


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Going:
    """Casts stop at the socket `dry`, and may go on."""
    desk = Going(tmp_path, capsys)
    desk.answers(dry=[{"error": "down"}, "dried"], iron=[{"error": "down"}, "ironed"])
    return desk


def begin(desk: Going, old: Json, *options: str) -> None:
    desk.write("loadout.json", old)
    shutil.copy(desk.folder / "loadout.json", desk.folder / "old.json")
    assert desk.begin(*options).code == 1


def gone(name: str, *known: str) -> str:
    listed = ", ".join(f"'{name}'" for name in known) or "none"
    words = f"loadout '{name}' is not in 'loadout.json' any more, there is {listed}"
    return f"materiac: {words}; --stored goes on with the one that the cast has\n"


@pytest.mark.parametrize(
    ("old", "options", "new", "expected"),
    [
        pytest.param(ONE, [], BOTH, "L", id="another-is-active"),
        pytest.param(file("L", L=WASH, M=IRON), [], BOTH, "L", id="active-changed"),
        pytest.param(ONE, [], file(L=WASH, M=IRON), "L", id="a-second-one"),
        pytest.param(BOTH, ["--loadout=L"], BOTH, "L", id="asked-for"),
        pytest.param(IDS, ["--loadout=w-2"], file("M", Q=NAMED, M=IRON), "Q", id="asked-for-by-id"),
        pytest.param(IDS, ["--loadout=L"], file("M", Q=NAMED, M=IRON), "Q", id="the-same-id"),
        pytest.param(IDS, ["--loadout=w-2"], BOTH, "L", id="without-id"),
        pytest.param(IDS, ["--loadout=w-2"], file("M", L=WASH, M=NAMED), "L", id="the-id-has-moved"),
        pytest.param(ONE, [], file(Q=WASH), "Q", id="renamed"),
        pytest.param(file(L=NAMED), ["--loadout=w-2"], file(Q=WASH), "Q", id="renamed-without-id"),
        pytest.param(ONE, [], file(M=WASH, N=IRON), None, id="gone-from-several"),
        pytest.param(ONE, [], file("M", M=WASH, N=IRON), None, id="gone-and-another-is-active"),
        pytest.param(ONE, ["--loadout=L"], file("M", M=WASH, N=IRON), None, id="asked-for-and-gone"),
        pytest.param(ONE, [], file(), None, id="no-loadout-any-more"),
        pytest.param(file("L", L=WASH, M=WASH), [], file(M=WASH), "M", id="one-is-left"),
    ],
)
def test_a_cast_goes_on_in_its_own_loadout(
    desk: Going, old: Json, options: list[str], new: Json, expected: str | None
) -> None:
    begin(desk, old, *options)
    desk.write("loadout.json", new)
    before = (desk.cast / "events.jsonl").read_bytes()
    resumed = desk.go("resume", "--retry", "--accept-change")
    lost = [line for line in of_loadout_l(desk) if line.startswith("! ")]
    if expected is not None:
        assert (resumed.code, resumed.err.count("error")) == (0, 0), resumed.err
        assert desk.kinds("cast_resumed")[0]["loadout"] == expected
        assert lost == []
        return
    assert resumed.code == 2
    assert resumed.err == gone("L", *new.get("loadouts", {}))
    assert (desk.cast / "events.jsonl").read_bytes() == before
    assert lost == ["! resume: the loadout is gone"]
    assert desk.go("diff", "--breaking", "old.json", "loadout.json").code == 1
    assert desk.go("resume", "--retry", "--stored").code == 0


def of_loadout_l(desk: Going) -> list[str]:
    """What `diff --breaking` says of the loadout that was run."""
    said = desk.go("diff", "--breaking", "old.json", "loadout.json")
    assert (said.code, said.err) == (int("! resume" in said.out), "")
    heads = {"loadout 'L'", "- loadout 'L' is gone", "loadout 'Q'"}
    blocks = [block.splitlines() for block in said.out.split("\n\n")]
    return [line for block in blocks if block and block[0] in heads for line in block]


@pytest.mark.parametrize(
    "new",
    [
        pytest.param(file("M", L=SHORT, M=IRON), id="by-its-name"),
        pytest.param(file(Q=SHORT), id="the-only-one"),
        pytest.param(file(Q=IRON), id="a-stranger"),
    ],
)
def test_what_the_loadout_lacks_is_said_by_both(desk: Going, new: Json) -> None:
    begin(desk, file(L=WASH))
    desk.write("loadout.json", new)
    refused = desk.go("resume", "--retry", "--accept-change")
    words = "the cast stands at 'dry', which its new definition does not have"
    assert (refused.code, refused.err) == (2, f"materiac: {words}\n")
    assert f"! resume: {words}" in of_loadout_l(desk)


def test_one_that_is_left_lacks_what_the_other_had(desk: Going) -> None:
    begin(desk, file("L", L=WASH, M=IRON))
    desk.write("loadout.json", file(M=IRON))
    refused = desk.go("resume", "--retry", "--accept-change")
    words = "the cast stands at 'dry', which its new definition does not have"
    assert (refused.code, refused.err) == (2, f"materiac: {words}\n")
    assert of_loadout_l(desk)[0] == "- loadout 'L' is gone"
    assert of_loadout_l(desk)[-1] == f"! resume: {words}"


def test_it_is_of_the_loadout_that_it_went_over_to(desk: Going) -> None:
    desk.answers(dry=[{"error": "down"}, {"error": "down"}, "dried"])
    begin(desk, file(L=WASH))
    desk.write("loadout.json", file(Q=WASH))
    assert desk.go("resume", "--retry", "--accept-change").code == 1
    desk.write("loadout.json", file("L", L=IRON, Q=WASH))
    assert desk.go("resume", "--retry").code == 0
    assert [record["loadout"] for record in desk.kinds("cast_resumed")] == ["Q", "Q"]


def test_a_talk_that_is_gone_on_with(desk: Going) -> None:
    talk = {"Agent": {"prompt": "Talk.", "multiTurn": True}}
    desk.answers(soap=["Well?", "Well.", "done"], dry=["Dry?", "dried"])
    desk.write("loadout.json", {**file(L=WASH), "materia": talk})
    assert desk.begin("--no-interactive").code == 4
    desk.write("loadout.json", {**file(M=WASH, N=IRON), "materia": talk})
    for words in (["say", desk.cast.name, "hello"], ["continue"]):
        refused = desk.go(*words)
        assert (refused.code, refused.err) == (2, gone("L", "M", "N"))
    desk.write("loadout.json", {**file("M", L=WASH, M=IRON), "materia": talk})
    assert desk.go("continue").code == 4
    assert [record["loadout"] for record in desk.kinds("cast_resumed")] == ["L"]


@pytest.mark.parametrize(
    ("other", "options", "code", "said"),
    [
        pytest.param(file("M", L=WASH, M=IRON), [], 0, "the same", id="its-own"),
        pytest.param(file(Q=WASH), [], 0, "the same", id="the-only-one"),
        pytest.param(file("M", Q=NAMED, M=IRON), [], 0, "the same", id="by-its-id"),
        pytest.param(file("M", L=WASH, M=IRON), ["--loadout", "M"], 1, "parted", id="named"),
    ],
)
def test_replay_goes_against_the_loadout_of_the_cast(
    desk: Going, other: Json, options: list[str], code: int, said: str
) -> None:
    begin(desk, file(L=NAMED))
    desk.write("other.json", other)
    done = desk.go("replay", "--against", "other.json", *options)
    assert (done.code, done.out.startswith(said), done.err) == (code, True, "")


def test_replay_says_what_there_is(desk: Going) -> None:
    begin(desk, file(L=WASH))
    desk.write("other.json", file("M", M=WASH, N=IRON))
    refused = desk.go("replay", "--against", "other.json")
    words = "loadout 'L' is not in 'other.json'; name one with --loadout, there is 'M', 'N'"
    assert (refused.code, refused.out, refused.err) == (2, "", f"materiac: {words}\n")


def test_the_configuration_of_the_project(desk: Going) -> None:
    """A cast of a loadout that no file was named for, and of one that comes with the package."""
    (desk.folder / ".materia").mkdir()
    desk.write(".materia/loadout.json", file("L", L=WASH, M=IRON))
    words = ("run", "--agent=scripted:answers.json", "--request=x")
    assert desk.go(*words).code == 1
    desk.write(".materia/loadout.json", file("M", L=WASH, M=IRON))
    assert desk.go("resume", "--retry").code == 0
    desk.write(".materia/loadout.json", file(L=WASH))
    assert desk.go(*words, "--loadout=Hello-Utility").code == 0
    done = desk.go("replay", "--against", ".materia/loadout.json")
    assert (done.code, done.out.startswith("the same")) == (0, True)
