"""The grid that a person reads before a run."""

from __future__ import annotations

from drawn_programs import NASTY, chain, chained, full
from wcwidth import wcswidth

from materiac.render import render

FULL = """\
loadout    Full
entry      plan
budget     200,000 tokens, 5 USD, warning at 75 %, the cast waits there
limits     at most 3 cycles without advance
artifacts  .materia/casts
property   every path build – tell, passes check

plan      Plan             agent generator       tools readOnly                                 json
                           multi-turn
          → build

build     Builder (Build)  agent consumer        tools coding, model big, thinking high         text
                                                 ≤7 visits
          → check

check     Check            agent consumer        tools read grep                                json
                                                 group across
              satisfied → keep
          not_satisfied → build (≤3)

keep      Keep             utility consumer      built-in vcs.checkpoint                        json
                                                 next item if satisfied
                             → build
          used up, satisfied → tell
"""


def test_the_grid() -> None:
    assert render(full(), "text").decode().startswith(FULL)


def test_nothing_is_wider_than_the_page() -> None:
    lines = [
        *render(full(), "text").decode().splitlines(),
        *render(chained(*NASTY), "text").decode().splitlines(),
    ]
    assert [line for line in lines if wcswidth(line) > 100] == []


def test_wide_letters_keep_the_columns() -> None:
    lines = render(chained("设计", "plain"), "text").decode().splitlines()
    rows = [line for line in lines if line.endswith("  text")]
    assert {wcswidth(row[: row.index("utility")]) for row in rows} == {wcswidth(rows[0].split("utility")[0])}
    assert {wcswidth(row) for row in rows} == {100}


def test_a_long_program_is_no_matter() -> None:
    assert render(chain(10_000), "text").decode().count("not_satisfied → ") == 10_000
