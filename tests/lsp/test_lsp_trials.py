"""Fixes are tried before they are offered as what one would want."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from materiac.cli.lsp_check import Desk
from materiac.diagnostic import Located
from materiac.fixing import text_edits
from materiac.fixing.pieces import edited
from materiac.lsp import trials
from materiac.lsp.actions import Action, actions, any_safe, changed
from materiac.lsp.buffers import Buffer
from materiac.lsp.looks import Job, Look, Mending, Trials
from materiac.source import Source, Span

DEAD = """loadout L {
  entry a
  a: M
    -> end
    -> b
  b: M
    -> end
    -> end
}
materia M { prompt "x" }
"""
MISLED = """loadout L {
  entry ask1
  ask1: M -> ask2
}
materia M { prompt "x" }
"""
"""The edge is meant to lead to `end`, but the nearest name is that of the socket itself."""


def offered(text: str, folder: Path) -> list[Action]:
    desk = Desk()
    job = Job("a.materia", text.encode(), "dsl", folder)
    look = desk.answer(job)
    assert isinstance(look, Look)
    buffer = Buffer("file:///a.materia", "a.materia", text, "dsl")
    whole = (0, len(text))
    return list(actions(buffer, look.found, *whole, lambda fixes: desk.answer(Trials(job, tuple(fixes)))))


def test_a_fix_that_holds_is_preferred(tmp_path: Path) -> None:
    found = offered(DEAD, tmp_path)
    assert [(action.title, action.preferred) for action in found] == [
        ("remove the edge", True),
        ("remove the edge", True),
    ]


def test_a_fix_that_leads_to_another_fault_says_so(tmp_path: Path) -> None:
    [action] = offered(MISLED, tmp_path)
    assert not action.preferred
    assert action.title.startswith("write 'ask1' (may change the meaning, it would lead to error[")
    assert action.title.endswith("])")


def test_what_was_not_proved_in_time_is_not_preferred(tmp_path: Path) -> None:
    job = Job("a.materia", DEAD.encode(), "dsl", tmp_path)
    look = Desk().answer(job)
    fixes = [
        (part, tuple(text_edits(Source("a.materia", DEAD, "dsl"), part.finding.fix) or ()))
        for part in look.found
        if part.finding.fix is not None
    ]
    assert len(fixes) == 2
    looks = [0]

    def once(text: str) -> Sequence[Located]:
        looks[0] += 1
        if looks[0] > 1:
            raise trials.LateError
        return Desk().answer(Job("a.materia", text.encode(), "dsl", tmp_path)).found  # type: ignore[no-any-return]

    asked = Trials(job, tuple(fixes))
    assert trials.held(asked, look.found, {}, once) == ["", None]
    assert trials.mended(job, once) is None


def test_all_safe_fixes_are_those_of_the_command(tmp_path: Path) -> None:
    job = Job("a.materia", DEAD.encode(), "dsl", tmp_path)
    desk = Desk()
    look = desk.answer(job)
    assert any_safe(Buffer("file:///a.materia", "a.materia", DEAD, "dsl"), look.found)
    text = desk.answer(Mending(job))
    assert text == desk.answer(Mending(job))
    edits = [(span.start, span.end, new) for span, new in changed(DEAD, text)]
    assert edited(DEAD, edits) == text
    left = desk.answer(Job("a.materia", text.encode(), "dsl", tmp_path)).found
    assert [part.finding.rule for part in left if part.finding.fix and part.finding.fix.safe] == []
    assert [part.finding.rule for part in left] == ["unreachable-socket"]


@pytest.mark.parametrize(
    ("old", "new", "edit"),
    [
        ("abc", "abc", []),
        ("abc", "axc", [(Span(1, 2), "x")]),
        ("a\r\nb", "a\nb", [(Span(1, 3), "\n")]),
        ("", "x", [(Span(0, 0), "x")]),
        ("aa", "aaa", [(Span(2, 2), "a")]),
    ],
)
def test_what_differs(old: str, new: str, edit: list[tuple[Span, str]]) -> None:
    assert changed(old, new) == edit
