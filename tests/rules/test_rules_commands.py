"""`materiac rules` and `materiac explain`, as a user calls them."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from materiac.resources import folder
from materiac.rules import RULES


def materiac(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "materiac", *words], capture_output=True, text=True, timeout=60, check=False
    )


def test_rules_are_listed_one_a_line() -> None:
    done = materiac("rules")
    lines = [line.split(maxsplit=2) for line in done.stdout.splitlines()]
    assert lines == [[rule.name, rule.severity.word, rule.summary] for rule in RULES]
    assert (done.returncode, done.stderr) == (0, "")


def test_rules_as_json() -> None:
    done = materiac("rules", "--format", "json")
    rules = [{"name": r.name, "severity": r.severity.word, "summary": r.summary} for r in RULES]
    assert json.loads(done.stdout) == {"version": 1, "rules": rules}


def test_explain_prints_the_page() -> None:
    done = materiac("explain", "never-ends")
    assert done.stdout == (folder("rules") / "never-ends.md").read_text(encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("word", "advice"),
    [
        ("never-end", "did you mean 'never-ends'?"),
        ("unreachable", "did you mean 'unreachable-loop' or 'unreachable-socket'?"),
        ("budget", "did you mean 'small-budget'?"),
        ("zzz", "`materiac rules` lists them"),
    ],
    ids=["near", "two", "end", "far"],
)
def test_explain_of_an_unknown_rule(word: str, advice: str) -> None:
    done = materiac("explain", word)
    assert done.stderr == f"materiac: no rule is called '{word}', {advice}\n"
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize("module", ["materiac.cli.rules", "materiac.cli.explain"])
def test_listing_loads_nothing_heavy(module: str) -> None:
    code = (
        f"import sys, {module}; print([m for m in ('pydantic', 'rich', 'transitions') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "[]\n"
