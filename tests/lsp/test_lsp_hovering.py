"""What is shown of a name under the cursor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from talk import marked

from materiac import languages
from materiac.cli.lsp_check import Desk
from materiac.lsp.hovering import hover
from materiac.lsp.looks import Job, Look
from materiac.lsp.reading import Reading

TEXT = """loadout Work {
  description "How it is done."
  entry plan
  plan: Plan -> build
  build: Build json
    advance workItemIndex over state.workItems
    -> build
  loop work (build) over plan.workItems as job { exit build -> end }
}
loadout Rest { entry nap  nap: Build foreach plants as plant -> end }
active Work
limits { maxNoAdvanceCycles 1 }
materia Plan generator { prompt "Plan." }
materia Build { prompt "Build." }
"""

LIST = """list **state.workItems**

- planned by `plan`
- loop `work` goes through it, each item as `job`"""
LOADOUT = """loadout **Work**

- entry `plan`
- 2 sockets: `plan`, `build`
- 1 loop: `work`

How it is done."""


def shown(text: str, folder: Path, most: Any = lambda *_: None) -> str | None:
    plain, offset = marked(text)
    desk = Desk()
    look = desk.answer(Job("a.materia", plain.encode(), "dsl", folder))
    assert isinstance(look, Look)
    document = languages.document("a.materia", plain.encode(), "dsl")[0]
    assert document is not None
    found = hover(offset, [], Reading(document), look, most)
    return found.text if found is not None else None


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (
            "over plan.workI",
            "tems as",
            LIST,
        ),
        (
            "foreach pla",
            "nts as",
            "list **state.plants**\n\n- socket `nap` goes through it, each item as `plant`",
        ),
        (
            "active Wo",
            "rk",
            LOADOUT,
        ),
        ("loadout Re", "st {", "loadout **Rest**\n\n- entry `nap`\n- 1 socket: `nap`"),
        ("loop wo", "rk (", "loop **work** of `build`"),
    ],
)
def test_lists_and_loadouts(before: str, after: str, expected: str, tmp_path: Path) -> None:
    assert TEXT.count(before + after) == 1
    assert shown(TEXT.replace(before + after, f"{before}|{after}"), tmp_path) == expected


def test_a_loadout_of_a_layer_below(tmp_path: Path) -> None:
    told = shown("active Full-|Auto", tmp_path)
    assert told is not None
    assert told.startswith("loadout **Full-Auto**\n\n- ")


@pytest.mark.parametrize(
    ("visits", "line"),
    [
        ("0", "never visited"),
        ("1", "visited at most once"),
        ("2", "visited at most 2 times"),
        ("N + 1", "visited at most N + 1 times, for N items"),
        ("", "how often it is visited is told once its loadout has no errors"),
    ],
)
def test_how_often_a_socket_is_visited(visits: str, line: str, tmp_path: Path) -> None:
    told = shown(TEXT.replace("entry nap", "entry n|ap"), tmp_path, lambda *_: visits)
    assert told is not None
    assert f"- {line}\n" in told


@pytest.mark.parametrize(
    ("socket", "facts"),
    [
        ('{ "materia": "Build", "edges": 5 }', ["- materia `Build`", "- output read as text"]),
        ('{ "materia": 5 }', []),
        ("5", []),
    ],
)
def test_the_socket_of_a_loadout_with_errors(socket: str, facts: list[str], tmp_path: Path) -> None:
    told = shown(f"loadout L {{ entry a  |a = {socket} }}", tmp_path, lambda *_: "")
    later = "- how often it is visited is told once its loadout has no errors"
    assert told is not None
    assert told.splitlines()[: len(facts) + 3] == ["socket **a**", "", *facts, later]


def test_a_line_that_is_cut_has_a_mark(tmp_path: Path) -> None:
    text = f'loadout L {{ a: M|ine -> end }}\nmateria Mine {{ prompt "{"x" * 500}" command ["{"y" * 500}"] }}'
    told = shown(text, tmp_path)
    assert told is not None
    assert "x" * 159 + "…\n" in told
    assert "x" * 160 not in told
    short = text.replace("x" * 500, "x" * 160)
    assert "x" * 160 + "\n" in (shown(short, tmp_path) or "")
