"""What a spec of `llm` says, and what is wrong with it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from materiac.agents import choose, llm
from materiac.agents.llm.endpoint import Endpoint, read
from materiac.agents.protocol import AgentError


@pytest.mark.parametrize(
    ("spec", "endpoint"),
    [
        ("llm:openai:gpt-5.4", Endpoint("openai", "gpt-5.4", key="OPENAI_API_KEY")),
        ("llm:openai-responses:o9", Endpoint("openai-responses", "o9", key="OPENAI_API_KEY")),
        ("llm:anthropic:claude-x", Endpoint("anthropic", "claude-x", key="ANTHROPIC_API_KEY")),
        ("llm:openai:qwen2.5:0.5b", Endpoint("openai", "qwen2.5:0.5b", key="OPENAI_API_KEY")),
        (
            "llm?base_url=http://127.0.0.1:8080/v1:openai:qwen:7b",
            Endpoint("openai", "qwen:7b", base_url="http://127.0.0.1:8080/v1"),
        ),
        (
            "llm?base_url=https://models.example&key=WORK_KEY:anthropic:m",
            Endpoint("anthropic", "m", base_url="https://models.example", key="WORK_KEY"),
        ),
        (
            "llm?max_tokens=900&max_requests=5:openai:m",
            Endpoint("openai", "m", key="OPENAI_API_KEY", max_tokens=900, max_requests=5),
        ),
    ],
)
def test_specs(spec: str, endpoint: Endpoint) -> None:
    assert read(spec) == endpoint


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("llm", "'llm' names no model, expected 'llm:PROVIDER:MODEL' with one of openai, "),
        ("llm:openai", "'llm:openai' names no model, expected 'llm:PROVIDER:MODEL' with one of "),
        ("llm:openai:", "'llm:openai:' names no model, expected "),
        ("llm:opnai:m", "there is no provider 'opnai': did you mean 'openai'?"),
        (
            "llm:mistral:m",
            "there is no provider 'mistral': expected one of openai, openai-responses, anthropic",
        ),
        (
            "llm?base_url=localhost:8080:openai:m",
            "'localhost:8080' is no 'base_url', expected something like ",
        ),
        ("llm?baseurl=http://a:openai:m", "'llm' has no option 'baseurl': did you mean 'base_url'?"),
        ("llm?zzz=1:openai:m", "'llm' has no option 'zzz': expected one of base_url, key, "),
        ("llm?key=A&key=B:openai:m", "the option 'key' is there twice"),
        ("llm?key=:openai:m", "the option 'key' is no name of a variable: the key itself stands in "),
        ("llm?max_tokens=0:openai:m", "'0' is no 'max_tokens', expected a whole number from 1"),
        ("llm?max_requests=many:openai:m", "'many' is no 'max_requests', expected a whole number from 1"),
    ],
)
def test_what_is_no_spec(spec: str, message: str) -> None:
    with pytest.raises(AgentError) as caught:
        choose.make(spec)
    assert str(caught.value).startswith(message)


def test_a_key_in_the_place_of_its_name_is_not_shown() -> None:
    with pytest.raises(AgentError) as caught:
        read("llm?key=sk-live-1234567890:openai:m")
    assert "1234567890" not in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("llm:openai:m", "OPENAI_API_KEY"),
        ("llm:anthropic:m", "ANTHROPIC_API_KEY"),
        ("llm?key=WORK_KEY:openai:m", "WORK_KEY"),
        ("llm?base_url=http://127.0.0.1:1&key=WORK_KEY:openai:m", "WORK_KEY"),
    ],
)
@pytest.mark.parametrize("value", [None, " "], ids=["unset", "blank"])
def test_a_key_that_is_missing(
    monkeypatch: pytest.MonkeyPatch, spec: str, name: str, value: str | None
) -> None:
    monkeypatch.delenv(name, raising=False)
    if value is not None:
        monkeypatch.setenv(name, value)
    with pytest.raises(AgentError, match=f"the variable '{name}' is not set, which holds the key of"):
        choose.make(spec)


def test_how_it_stands() -> None:
    standing = llm.inspect("llm")
    assert standing.usable
    assert standing.version
    assert standing.keys == ("OPENAI_API_KEY", "ANTHROPIC_API_KEY")
    assert standing.abilities.schema


WITHOUT = """
import importlib.abc, sys
class Gone(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "pydantic_ai":
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)
sys.meta_path.insert(0, Gone())
from materiac.agents import choose
from materiac.agents.protocol import AgentError
try:
    choose.make("llm?base_url=http://127.0.0.1:1/v1:openai:m")
except AgentError as error:
    print(error)
"""


def test_a_library_that_is_missing() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True)
    assert "pip install 'materiac[llm]'" in done.stdout


def test_the_library_is_loaded_when_an_agent_is_made() -> None:
    code = (
        "import sys; from materiac.agents import choose as c; c.inspect('llm');"
        "print('pydantic_ai' in sys.modules, 'openai' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
