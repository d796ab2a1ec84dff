"""Choosing a back end by its text."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from materiac.agents import choose
from materiac.agents.protocol import AgentError


def test_a_spec_leads_to_its_back_end(tmp_path: Path) -> None:
    script = tmp_path / "answers.json"
    script.write_text("{}")
    for spec in (f"scripted:{script}", 'command:["cat"]', "command?text=a:cat", "ask"):
        agent = choose.make(spec)
        assert agent.spec == spec
        agent.close()
        agent.close()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("scriped:a.json", "there is no agent 'scriped', expected one of 'scripted:FILE', "),
        ("scriped:a.json", ": did you mean 'scripted'?"),
        ("", "there is no agent '', expected one of "),
        ("protocol", "there is no agent 'protocol'"),
        ("scripted", "'scripted' names no file, expected 'scripted:FILE'"),
        ("scripted:", "'scripted:' names no file, expected 'scripted:FILE'"),
        ("scripted:/nowhere/a.json", "cannot read the script '/nowhere/a.json': No such file or directory"),
    ],
)
def test_what_is_no_spec(spec: str, message: str) -> None:
    with pytest.raises(AgentError) as caught:
        choose.make(spec)
    assert message in str(caught.value)


def test_back_ends_are_imported_when_they_are_chosen() -> None:
    code = (
        "import sys; from materiac.agents import choose as c;"
        "print(*(f'{c.__package__}.{n}' in sys.modules for n in c.FORMS))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == {"False"}
