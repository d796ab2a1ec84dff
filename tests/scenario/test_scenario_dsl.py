"""Scenarios in the language of our own: what is found wrong and where, and which loadout they are about."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from materiac.diagnostic import Located
from materiac.pipeline import Text, check
from materiac.scenario import wording
from materiac.scenario.loadouts import Loadouts
from materiac.scenario.model import Target
from materiac.scenario.read import findings_of, read
from materiac.scenario.suite import Verdict, files_below, judge

LOADOUT = """\
loadout Review {
  entry write
  write: Write -> judge
  judge: Judge json
    satisfied     -> keep
    not_satisfied -> write max 2
  keep: Keep
}
materia Write multiTurn { tools coding  prompt "Write: {{request}}" }
materia Judge { prompt "Judge." }
materia Keep { command [cat, page.md]  timeout 5s }
"""

WHOLE = """
scenario "sent back once" {
  about "The first draft is too short."
  loadout Review
  request "mend the fence"
  state notes.first = "n"
  file page.md "old"
  agent {
    delay 0s
    write: "a draft" file page.md "a page\\n" after 0ms
    judge: { "satisfied": false, "context": "too short" }
    write: "a better draft" usage { "input": 5 }
    judge: { "satisfied": true }
    default fails "nobody"
  }
  utilities { keep: fails "no space left" }
  person continue "go on"
  person continue
  expect failed with utility-exit has "no space" {
    path write -> judge -> write -> judge -> keep
    passes judge -> keep
    visits write 2, judge 2
    items none, none, none, none, none
    state notes = { "first": "n" }
    prompt write 2 has "too short" lacks ["secret", "magic"]
    file page.md has "a page"
    no file other.md
    at most 9 turns
  }
}
"""


def layering(file: Path | None) -> Sequence[Text]:
    assert file is not None
    return [Text(str(file), file.read_bytes())]


def played(folder: Path, text: str, name: str = "x.materia") -> list[Verdict]:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    placed, findings = read(str(file), file.read_bytes())
    assert not findings
    return [judge(part, Loadouts(layering), os.environ) for part in placed]


def lines(verdict: Verdict) -> list[str]:
    return list(wording.lines(verdict))


def words(text: str, findings: Sequence[Located]) -> list[tuple[str, str, str | None]]:
    """The text at the place of each finding, its message, its help."""
    places = [(part, part.place.span) for part in findings if part.place is not None]
    return [(text[at.start : at.end], part.finding.message, part.help) for part, at in places]


def test_everything_that_can_be_said(tmp_path: Path) -> None:
    [verdict] = played(tmp_path, LOADOUT + WHOLE)
    assert lines(verdict)[1:] == []
    assert verdict.outcome == "passed"


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        ("judge -> keep\n    pas", "judge\n    pas", "write -> judge -> write -> judge", "visit 5 is 'keep'"),
        ("path write -> judge", "path write -> keep", "keep", "visit 2 is 'judge', expected 'keep'"),
        ("passes judge -> keep", "passes keep -> judge", "judge", "the path has no 'judge' behind 'keep'"),
        ("judge 2\n", "judge 3\n", "3", "'judge' was visited twice, expected 3 times"),
        ("none, none\n", "none, WI-1\n", "WI-1", "the item of visit 5 is none, expected 'WI-1'"),
        ('"first": "n" }', '"first": 5 }', "5", "state 'notes.first' is \"n\", expected 5"),
        ("notes = {", "notes.first = {", '{ "first": "n" }', "state 'notes.first' is \"n\", expected {"),
        ('has "too short"', 'has "too long"', '"too long"', "the prompt of 'write#2' lacks 'too long'"),
        ('"magic"]', '"fence"]', '"fence"', "the prompt of 'write#2' has 'fence'"),
        ('has "a page"', 'has "b page"', '"b page"', "the file 'page.md' lacks 'b page'"),
        ('file page.md has "a page"\n', "no file page.md\n", "no file page.md", "'page.md' is there"),
        ("at most 9", "at most 3", "3", "agents took 7 turns, expected at most 3"),
        ("with utility-exit", "with stalled", "stalled", "is 'utility-exit', expected 'stalled'"),
        ("failed with utility-exit", "failure stalled", "stalled", "is 'utility-exit', expected 'stalled'"),
        ('has "no space"', 'has "no time"', '"no time"', "the failure lacks 'no time'"),
        ('failed with utility-exit has "no space"', "waiting", "waiting", "is 'failed', expected 'waiting'"),
        ('{ keep: fails "no space left" }', "{ }", "failed", "is 'complete', expected 'failed'"),
    ],
)  # fmt: skip
def test_what_does_not_come_out(old: str, new: str, place: str, message: str, tmp_path: Path) -> None:
    text = LOADOUT + WHOLE
    assert old in text
    text = text.replace(old, new, 1)
    [verdict] = played(tmp_path, text)
    assert verdict.played is not None
    spans = [(wording.place_of(verdict, part).span, part.message) for part in verdict.played.misfits]
    assert [(text[at.start : at.end], message in said) for at, said in spans[:1]] == [(place, True)], spans


@pytest.mark.parametrize(
    ("text", "place", "message", "advice"),
    [
        ("@expct 1", "expct", "unknown key 'expct'", "did you mean 'expect'?"),
        ("expect { @vists 1 }", "vists", "unknown key 'vists'", "did you mean 'visits'?"),
        ("expect failure edglimit", "edglimit", 'found the string "edglimit"', "did you mean 'edge-limit'?"),
        ('agent { a: "x" @txt 1 }', "txt", "unknown key 'txt'", "did you mean 'text'?"),
        ('agent { a: "x" @error "y" }', '"x" @error "y"', "an answer has one of", None),
        ('agent { a: item WI-1 "x" @txt 1 }', "txt", "unknown key 'txt'", "did you mean 'text'?"),
        ("agent { a = 5 }", "5", "found 5, expected a text or an object", None),
        ('agent { a: "x" file ../b "y" }', '"x" file ../b "y"', "no path below", None),
        ("expect { visits a 1.5 }", "1.5", "found 1.5 for 'a', expected a whole number", None),
        ("expect { at most -1 turns }", "-1", "expected a number of at least 0", None),
        ('expect { prompt a 1 has [""] }', '""', "expected a string that is not empty", None),
        ('file "/x" "y"', '"y"', "'/x' is no path below the working folder", None),
        ("@person 5", "5", "found 5 for 'person', expected a list", None),
        ('state { "a": 1 } expect { state = 5 }', "=", "found '='", None),
    ],
)
def test_places_of_what_is_wrong(text: str, place: str, message: str, advice: str | None) -> None:
    whole = f'scenario "x" {{ {text.replace("../b", chr(34) + "../b" + chr(34))} }}'
    findings = read("x.materia", whole.encode())[1]
    assert findings, whole
    at, said, help_ = words(whole, findings)[0]
    assert at == place.replace("../b", '"../b"')
    assert message in said
    assert help_ == advice


@pytest.mark.parametrize(
    ("text", "place", "message", "advice"),
    [
        ('agent { jude: "x" }', "jude", "there is no socket 'jude'", "did you mean 'judge'?"),
        ("expect { path write -> jude }", "jude", "there is no socket 'jude'", "did you mean 'judge'?"),
        ('expect { prompt wrte 1 has "x" }', "wrte 1", "no socket 'wrte'", "did you mean 'write'?"),
        ('agent { keep: "x" }', "keep", "'keep' is a utility", "put it into 'utilities'"),
        ("expect { visits kep 1 }", "kep", "there is no socket 'kep'", "did you mean 'keep'?"),
    ],
)
def test_sockets_that_are_not_there(text: str, place: str, message: str, advice: str, tmp_path: Path) -> None:
    whole = f'{LOADOUT}scenario "x" {{ {text} }}\n'
    [verdict] = played(tmp_path, whole)
    at, said, help_ = words(whole, verdict.findings)[0]
    assert (at, message in said, help_) == (place, True, advice)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("loadout A {}", Target(file="x.materia", name="A")),
        ("loadout A {} scenarios of B", Target(file="x.materia", name="B")),
        ('loadout A {} scenarios of "b.materia"', Target(file="b.materia")),
        ('loadout A {} scenarios of C in "b.json"', Target(file="b.json", name="C")),
        ("active B loadout A {} loadout B {}", Target(file="x.materia")),
        ('import "a.materia"', Target(file="x.materia")),
        ("", Target()),
        ("scenarios of Hello", Target(name="Hello")),
    ],
)
def test_which_loadout_is_meant(text: str, target: Target) -> None:
    placed, findings = read("a/x.materia", f'{text} scenario "x" {{ }}'.encode())
    assert not findings
    assert [part.target for part in placed] == [target]


def test_one_of_several_loadouts_has_to_be_named() -> None:
    text = 'loadout A {} loadout B {} scenario "x" { } scenario "y" { loadout B }'
    placed, findings = read("x.materia", text.encode())
    assert words(text, findings) == [
        ('"x"', "the scenario names none of the loadouts 'A', 'B'", "'loadout' says which one it is about")
    ]
    assert placed[-1].target == Target(file="x.materia", name="B")


def test_a_loadout_that_is_imported(tmp_path: Path) -> None:
    (tmp_path / "x.materia").write_text(LOADOUT)
    raw = b'import "x.materia" scenario "x" { loadout Review }'
    [placed] = read(str(tmp_path / "y.materia"), raw)[0]
    assert placed.target == Target(file="y.materia", name="Review")


def test_a_file_without_scenarios_has_none() -> None:
    assert read("x.materia", LOADOUT.encode()) == ([], [])
    assert read("x.materia", b"loadout {")[1] != []


def test_files_that_may_hold_scenarios(tmp_path: Path) -> None:
    texts = {
        "a.materia": LOADOUT + WHOLE,
        "b.materia": LOADOUT,
        "c.materia": 'materia A { prompt "a scenario x" }  scenario "y" { }\r',
        "d.materia": "scenario\n  y {",
        "e.materia": '# a scenario "x"\n',
        "f.materia": "@scenarios []",
        "g.scenario.json": "{}",
        "h.json": '{"scenarios": []}',
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, newline="")
    found = [file.name for file in files_below(tmp_path)]
    assert found == ["a.materia", "c.materia", "d.materia", "e.materia", "f.materia", "g.scenario.json"]


@pytest.mark.parametrize("rest", ["", WHOLE, "about x scenarios of Review", 'scenario "x" { @expct 1 }'])
def test_the_loadouts_are_checked_without_them(rest: str) -> None:
    text = f'{LOADOUT}scenario "a" {{ }} {rest}'
    assert check([Text("x.materia", text.encode())]) == ()
    wrong = findings_of("x.materia", text.encode(), None)
    assert [part.finding.message for part in wrong] == (["unknown key 'expct'"] if "expct" in rest else [])
